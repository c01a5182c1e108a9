#include "mailonce/base/encoding.h"

#include <array>
#include <cstdint>

namespace mailonce {
namespace {

constexpr std::string_view standard_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view url_alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string encode(std::span<const unsigned char> octets, std::string_view alphabet, bool padded) {
  std::string out;
  out.reserve((octets.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < octets.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(3, octets.size() - i);
    std::uint32_t group = static_cast<std::uint32_t>(octets[i]) << 16;
    if (n > 1) group |= static_cast<std::uint32_t>(octets[i + 1]) << 8;
    if (n > 2) group |= octets[i + 2];
    for (std::size_t k = 0; k <= n; ++k) out += alphabet[group >> (18 - 6 * k) & 63];
    if (padded) out.append(3 - n, '=');
  }
  return out;
}

int value_of(char c) {
  const auto at = standard_alphabet.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

}  // namespace

std::string to_hex(std::span<const unsigned char> octets) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(octets.size() * 2);
  for (const auto octet : octets) {
    out += digits[octet >> 4];
    out += digits[octet & 15];
  }
  return out;
}

std::string to_base64(std::string_view octets) {
  return encode({reinterpret_cast<const unsigned char*>(octets.data()), octets.size()}, standard_alphabet,
                true);
}

std::string to_base64url(std::span<const unsigned char> octets) {
  return encode(octets, url_alphabet, false);
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  const auto digits = text.substr(0, text.size() - padding);
  std::string out;
  out.reserve(digits.size() / 4 * 3 + 2);
  std::uint32_t group = 0;
  int bits = 0;
  for (const char c : digits) {
    const int value = value_of(c);
    if (value < 0) return std::nullopt;
    group = group << 6 | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out += static_cast<char>(group >> bits & 0xff);
    }
  }
  // RFC 4648 §3.5: the bits left over are zero.
  if ((group & ((1U << bits) - 1)) != 0) return std::nullopt;
  return out;
}

char to_lower_ascii(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}

std::string to_lower_ascii(std::string_view text) {
  std::string out(text);
  for (auto& c : out) c = to_lower_ascii(c);
  return out;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (to_lower_ascii(a[i]) != to_lower_ascii(b[i])) return false;
  }
  return true;
}

}  // namespace mailonce
