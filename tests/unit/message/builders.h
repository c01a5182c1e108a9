// Small messages for tests.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/message/identity.h"

namespace mailonce::message::test {

// A header every test message begins with, and a body.
std::string text_message(std::string_view body, std::string_view more_fields = {});
std::string multipart_message(std::string_view subtype, const std::vector<std::string>& parts,
                              std::string_view boundary = "b");
std::string base64_lines(std::string_view bytes, std::size_t line = 76);
std::string quoted_printable(std::string_view bytes);  // every octet encoded, soft line breaks
// A mail with a text and these octets as its second part, in base64, named "report".
std::string attachment(std::string_view octets);
// The content fingerprint under default options.
Digest content(std::string_view message);
Digest content_attached(std::string_view octets);  // of that mail
// `octets` with these bits of one changed.
std::string changed_at(std::string octets, std::size_t at, unsigned char bits);

}  // namespace mailonce::message::test
