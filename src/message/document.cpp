#include "mailonce/message/document.h"

#include "mailonce/message/pdf_document.h"
#include "mailonce/message/zip_document.h"

namespace mailonce::message {
namespace {

constexpr std::string_view pdf_begin = "%PDF-";
constexpr std::string_view zip_begin = "PK\x03\x04";

}  // namespace

bool may_be_document(std::string_view beginning) noexcept {
  return beginning.starts_with(pdf_begin) || beginning.starts_with(zip_begin);
}

std::optional<Document> read_document(std::string_view octets) {
  if (octets.size() > DocumentLimits::octets) return std::nullopt;
  if (octets.starts_with(pdf_begin)) return read_pdf(octets);
  if (octets.starts_with(zip_begin)) return read_zip(octets);
  return std::nullopt;
}

}  // namespace mailonce::message
