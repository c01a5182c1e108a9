// Searching octets at memchr speed, and the classes of characters of RFC 5321's grammar.
#pragma once
#include <cstring>
#include <string_view>

namespace mailonce::smtp {

// The first `octet` in [begin, end), or null.
inline const char* find_octet(const char* begin, const char* end, char octet) noexcept {
  return begin == end
             ? nullptr
             : static_cast<const char*>(std::memchr(begin, octet, static_cast<std::size_t>(end - begin)));
}

constexpr bool is_alpha(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_alnum(char c) noexcept {
  return is_alpha(c) || is_digit(c);
}
constexpr bool is_control(char c) noexcept {
  return (c >= 0 && c < ' ') || c == '\x7f';
}
constexpr bool is_ascii(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x80;
}
// Printable ASCII but the space.
constexpr bool is_visible(char c) noexcept {
  return c > ' ' && c < '\x7f';
}

template <class Predicate>
constexpr bool any_octet(std::string_view text, Predicate predicate) noexcept {
  for (const char c : text)
    if (predicate(c)) return true;
  return false;
}

// The text before the first `separator`; `text` becomes what follows it.
constexpr std::string_view take_until(std::string_view& text, char separator) noexcept {
  const auto at = text.find(separator);
  const auto head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return head;
}

constexpr std::string_view trim_left(std::string_view text) noexcept {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return text;
}

}  // namespace mailonce::smtp
