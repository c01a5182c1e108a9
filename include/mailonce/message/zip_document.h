// A ZIP file and what is made of it (OOXML, OpenDocument, EPUB): its entries in order.
#pragma once
#include <optional>
#include <string_view>

#include "mailonce/message/document.h"

namespace mailonce::message {

// Nothing when `octets` are not exactly one intact ZIP file (zip_structure.h), neither encrypted nor signed,
// and without macros.
std::optional<Document> read_zip(std::string_view octets);

}  // namespace mailonce::message
