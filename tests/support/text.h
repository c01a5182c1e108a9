// Small text helpers of the scripted upstream.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mailonce::test {

// Fills in {hex:N}, {HEX:N}, {alnum:N}, {ALNUM:N}, {serial} and {date}.
std::string expand(std::string_view text, std::uint64_t serial);
std::optional<std::string> decode_base64(std::string_view text);
std::string json_string(std::string_view text);
bool starts_with_ignoring_case(std::string_view text, std::string_view prefix);

}  // namespace mailonce::test
