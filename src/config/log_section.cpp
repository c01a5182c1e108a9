#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "secret.h"
#include "sections.h"

namespace mailonce::config {

using observe::Addresses;
using observe::Format;
using observe::Level;

namespace {

// Asked without making the file: whoever checks may not be who serves.
void read_log_file(Table& table, const std::filesystem::path& folder, std::string& into) {
  std::string file;
  if (!table.text("file", file) || file.empty()) return;
  const auto path = folder / file;
  into = path.string();
  const auto parent = path.has_parent_path() ? path.parent_path().string() : ".";
  if (::access(path.c_str(), W_OK) == 0 || (errno == ENOENT && ::access(parent.c_str(), W_OK | X_OK) == 0))
    return;
  table.error("file", {std::string("can not be written: ") + std::strerror(errno),
                       "create its folder, or name another"});
}

}  // namespace

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
  read_log_file(table, folder, options.file);
  table.finish();
}

}  // namespace mailonce::config
