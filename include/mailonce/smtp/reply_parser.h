// Replies out of an octet stream (RFC 5321 §4.2.1), strict and bounded: what is not a reply is malformed,
// never guessed. Any split of the input gives the same replies.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "mailonce/smtp/reply.h"

namespace mailonce::smtp {

class ReplyParser {
 public:
  struct Limits {
    std::size_t line_octets = 4096;
    std::size_t reply_octets = 64 * 1024;
  };
  enum class Status { need_more, complete, malformed };

  ReplyParser() = default;
  explicit ReplyParser(Limits limits) : limits_(limits) {}

  // Takes octets from the front of `input` up to the end of one reply. After `malformed` the stream is lost.
  Status feed(std::string_view& input);
  // The reply, after `complete`; control octets are removed from its text. The parser is ready for the next.
  Reply take();
  // True when no octet of a further reply was taken.
  bool empty() const noexcept { return line_.empty() && code_ == 0; }

 private:
  bool take_line();  // false: malformed
  Limits limits_;
  std::string line_;
  std::string text_;
  int code_ = 0;
  bool last_ = false;
  bool dead_ = false;
};

}  // namespace mailonce::smtp
