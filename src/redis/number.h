// A whole text as a number.
#pragma once
#include <charconv>
#include <optional>
#include <string_view>

namespace mailonce::redis {

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto* end = text.data() + text.size();
  const auto [at, ec] = std::from_chars(text.data(), end, value);
  if (text.empty() || ec != std::errc() || at != end) return std::nullopt;
  return value;
}

}  // namespace mailonce::redis
