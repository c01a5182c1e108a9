// A PDF file (ISO 32000-1) as the graph of its objects, over libqpdf: objects are numbered as they are
// reached, so their numbers, places and packing do not count.
#pragma once
#include <optional>
#include <string_view>

#include "mailonce/message/document.h"

namespace mailonce::message {

// Nothing when `octets` are not one intact PDF file of a single revision, neither encrypted nor signed.
std::optional<Document> read_pdf(std::string_view octets);

}  // namespace mailonce::message
