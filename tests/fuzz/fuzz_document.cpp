// Any octets as a document, and as one wrapped into the ends its readers ask for: no crash, bounded time and
// memory, and the same form each time.
#include <string>

#include "fuzz.h"
#include "mailonce/message/document.h"
#include "mailonce/message/pdf_document.h"
#include "mailonce/message/zip_document.h"

namespace {

using namespace mailonce::message;

bool equal(const std::optional<Document>& a, const std::optional<Document>& b) {
  if (a.has_value() != b.has_value()) return false;
  if (!a) return true;
  if (a->kind != b->kind || a->items.size() != b->items.size()) return false;
  for (std::size_t i = 0; i < a->items.size(); ++i)
    if (a->items[i].name != b->items[i].name || a->items[i].digest != b->items[i].digest) return false;
  return true;
}

void read_twice(std::string_view octets) {
  const auto form = read_document(octets);
  mailonce::fuzz::check(equal(form, read_document(octets)));
  // Never what it was before it lost its end.
  if (form && octets.size() > 32)
    mailonce::fuzz::check(!equal(form, read_document(octets.substr(0, octets.size() - 32))));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto octets = mailonce::fuzz::text(data, size);
  read_twice(octets);
  const auto section = octets.rfind("xref");
  if (section == std::string_view::npos) return 0;
  // A cross-reference section somewhere: with the right offset to it qpdf reads further.
  std::string pdf = "%PDF-1.5\n" + std::string(octets);
  pdf += "\nstartxref\n" + std::to_string(section + 9) + "\n%%EOF\n";
  read_twice(pdf);
  return 0;
}
