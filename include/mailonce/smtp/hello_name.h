// The argument of EHLO and HELO (RFC 5321 §4.1.1.1): how a client calls itself, and how mailonce calls itself
// to an upstream. Real clients send "localhost", names with underscores, single labels and address literals,
// so anything that is one word of printable ASCII is one; nothing is ever decided by it.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "mailonce/base/result.h"

namespace mailonce::smtp {

class HelloName {
 public:
  static constexpr std::size_t max_octets = 255;  // RFC 5321 §4.5.3.1.2

  // Errors: Errc::bad_syntax (empty, too long, white space, not ASCII), Errc::control_character.
  static Result<HelloName> parse(std::string_view text);
  const std::string& text() const noexcept { return text_; }

 private:
  explicit HelloName(std::string text) : text_(std::move(text)) {}
  std::string text_;
};

}  // namespace mailonce::smtp
