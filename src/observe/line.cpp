#include "line.h"

#include <array>
#include <charconv>

#include "mailonce/observe/escape.h"

namespace mailonce::observe {

void Line::decision(std::string_view outcome) {
  if (json_) text_ += R"("event":"decision","outcome":)";
  json_ ? append_json_string(text_, outcome) : append_word(text_, outcome);
}

void Line::event(std::string_view name, std::string_view text) {
  if (json_) {
    text_ += R"("event":)";
    append_json_string(text_, name);
    field("text", text);
  } else {
    append_word(text_, name);
    text_ += ' ';
    append_quoted(text_, text);
  }
}

void Line::key(std::string_view key) {
  if (json_) {
    text_ += ',';
    append_json_string(text_, key);
    text_ += ':';
  } else {
    text_ += ' ';
    text_ += key;
    text_ += '=';
  }
}

void Line::field(std::string_view name, std::string_view value) {
  key(name);
  json_ ? append_json_string(text_, value) : append_word(text_, value);
}

void Line::list(std::string_view name, std::span<const std::string> values) {
  if (!json_) {
    for (const auto& value : values) field(name, value);
    return;
  }
  key(name);
  text_ += '[';
  for (const auto& value : values) {
    if (&value != values.data()) text_ += ',';
    append_json_string(text_, value);
  }
  text_ += ']';
}

void Line::number(std::string_view name, std::uint64_t value) {
  key(name);
  std::array<char, 20> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  text_.append(digits.data(), end);
}

void Line::milliseconds_of(std::string_view name, std::chrono::microseconds value) {
  if (value.count() < 0) return;
  const auto micros = static_cast<std::uint64_t>(value.count());
  number(name, micros / 1000);
  const auto fraction = micros % 1000;
  text_ += '.';
  for (std::uint64_t digit = 100; digit > 0; digit /= 10)
    text_ += static_cast<char>('0' + fraction / digit % 10);
}

void Line::flag(std::string_view name) {
  key(name);
  text_ += "true";
}

}  // namespace mailonce::observe
