#include "mailonce/smtp/data_codec.h"
#include "octets.h"

namespace mailonce::smtp {

void DataEncoder::encode(std::string_view octets, std::vector<std::string_view>& pieces) {
  if (octets.empty()) return;
  const char* const begin = octets.data();
  const char* const end = begin + octets.size();
  const char* pending = begin;  // not yet in `pieces`
  const auto stuff_before = [&](const char* dot) {
    if (dot != pending) pieces.emplace_back(pending, static_cast<std::size_t>(dot - pending));
    pieces.emplace_back(".");  // RFC 5321 §4.5.2
    pending = dot;
  };

  if (line_start_ && *begin == '.') stuff_before(begin);
  for (const char* lf = find_octet(begin, end, '\n'); lf; lf = find_octet(lf + 1, end, '\n')) {
    const bool crlf = lf == begin ? after_cr_ : lf[-1] == '\r';
    if (crlf && lf + 1 != end && lf[1] == '.') stuff_before(lf + 1);
  }
  pieces.emplace_back(pending, static_cast<std::size_t>(end - pending));

  const bool before_last_cr = octets.size() > 1 ? end[-2] == '\r' : after_cr_;
  line_start_ = end[-1] == '\n' && before_last_cr;
  after_cr_ = end[-1] == '\r';
}

std::string_view DataEncoder::finish() const noexcept {
  return line_start_ ? ".\r\n" : "\r\n.\r\n";
}

}  // namespace mailonce::smtp
