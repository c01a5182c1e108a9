// Builds the part of one log line after time and level: fields in JSON or as key=value.
#pragma once
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "mailonce/observe/log.h"

namespace mailonce::observe {

class Line {
 public:
  explicit Line(Format format) : json_(format == Format::json) { text_.reserve(512); }

  // What the line is about, first in the line: "event":"decision","outcome":"forwarded", or just forwarded.
  void decision(std::string_view outcome);
  void event(std::string_view name, std::string_view text);

  // Values may hold any octets. Keys are words of ours.
  void field(std::string_view key, std::string_view value);
  void list(std::string_view key, std::span<const std::string> values);  // text: the key once a value
  void number(std::string_view key, std::uint64_t value);
  void milliseconds_of(std::string_view key, std::chrono::microseconds value);
  void flag(std::string_view key);  // true; absent says false

  std::string_view view() const noexcept { return text_; }

 private:
  void key(std::string_view key);
  bool json_;
  std::string text_;
};

}  // namespace mailonce::observe
