#include "secret.h"
#include "sections.h"

namespace mailonce::config {

using observe::Addresses;
using observe::Format;
using observe::Level;

void read_log(Table& table, const std::filesystem::path& folder, observe::LogOptions& options) {
  table.choice("format", options.format, Choices<Format>{{"text", Format::text}, {"json", Format::json}});
  table.choice("level", options.level,
               Choices<Level>{{"debug", Level::debug},
                              {"info", Level::info},
                              {"warning", Level::warning},
                              {"error", Level::error}});
  table.choice("addresses", options.addresses,
               Choices<Addresses>{
                   {"full", Addresses::full}, {"domain", Addresses::domain}, {"hashed", Addresses::hashed}});
  if (auto secret = take_secret(table, "secret", folder)) options.address_secret = std::move(*secret);
  std::string file;
  if (table.text("file", file) && !file.empty()) options.file = (folder / file).string();
  table.finish();
}

}  // namespace mailonce::config
