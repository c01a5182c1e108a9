#include "mailonce/smtp/reply_parser.h"

#include <utility>

#include "octets.h"

namespace mailonce::smtp {
namespace {

// RFC 5321 §4.2: Reply-code = %x32-35 %x30-39 %x30-39; 0 for anything else. (The grammar ends the second
// digit at 5; servers do not.)
int code_of(std::string_view line) {
  if (line.size() < 3 || line[0] < '2' || line[0] > '5' || !is_digit(line[1]) || !is_digit(line[2])) return 0;
  return (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
}

}  // namespace

ReplyParser::Status ReplyParser::feed(std::string_view& input) {
  while (!dead_ && !last_) {
    const char* const lf = find_octet(input.data(), input.data() + input.size(), '\n');
    const auto piece = lf ? input.substr(0, static_cast<std::size_t>(lf - input.data()) + 1) : input;
    if (line_.size() + piece.size() > limits_.line_octets ||
        text_.size() + line_.size() + piece.size() > limits_.reply_octets) {
      dead_ = true;
      break;
    }
    line_.append(piece);
    input.remove_prefix(piece.size());
    if (!lf) return Status::need_more;
    dead_ = !take_line();
  }
  return dead_ ? Status::malformed : Status::complete;
}

bool ReplyParser::take_line() {
  std::string_view line = line_;
  line.remove_suffix(1);
  // A bare LF is no line end (RFC 5321 §2.3.8), and NUL belongs to no reply.
  if (line.empty() || line.back() != '\r' || line.find('\0') != std::string_view::npos) return false;
  line.remove_suffix(1);

  const int code = code_of(line);
  const char separator = line.size() > 3 ? line[3] : ' ';
  if (code == 0 || (separator != ' ' && separator != '-')) return false;
  if (code_ != 0 && code != code_) return false;  // RFC 5321 §4.2.1: the same code on every line
  if (code_ != 0) text_.push_back('\n');
  code_ = code;
  last_ = separator == ' ';
  for (const char c : line.substr(line.size() > 3 ? 4 : 3))
    if (!is_control(c) || c == '\t') text_.push_back(c);
  line_.clear();
  return true;
}

Reply ReplyParser::take() {
  last_ = false;
  return Reply{std::exchange(code_, 0), std::exchange(text_, {})};
}

}  // namespace mailonce::smtp
