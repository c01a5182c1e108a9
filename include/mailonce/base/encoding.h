// Text encodings of octets: hexadecimal, base64 (RFC 4648 §4) and base64url without padding (§5).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace mailonce {

std::string to_hex(std::span<const unsigned char> octets);
std::string to_base64(std::string_view octets);
std::string to_base64url(std::span<const unsigned char> octets);
// Strict: no white space, correct padding; nothing when the text is not base64.
std::optional<std::string> from_base64(std::string_view text);

// ASCII only, independent of the locale.
char to_lower_ascii(char c) noexcept;
std::string to_lower_ascii(std::string_view text);
bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept;

}  // namespace mailonce
