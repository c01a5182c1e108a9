// What every target needs: the entry point's name, input as text, and a check that ends the run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace mailonce::fuzz {

inline std::string_view text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void check(bool holds) {
  if (!holds) std::abort();
}

// Takes the first line off `text`, without its LF.
inline std::string_view take_line(std::string_view& text) {
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// `octets`, each as a `sign` and two digits: "%41" in URLs, "=41" in quoted-printable.
inline std::string hex_encoded(std::string_view octets, char sign) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : octets) {
    const auto octet = static_cast<unsigned char>(c);
    out += {sign, digits[octet >> 4U], digits[octet & 15U]};
  }
  return out;
}

}  // namespace mailonce::fuzz
