#include <algorithm>

#include "mailonce/smtp/data_codec.h"
#include "octets.h"

namespace mailonce::smtp {

std::string_view DataDecoder::next(std::string_view& input) {
  while (!input.empty() && !ended_) {
    switch (at_) {
      case At::line_start:
        if (input.front() == '.') {
          // RFC 5321 §4.5.2: a first dot is either the end of data or deleted; it is never text.
          input.remove_prefix(1);
          at_ = At::dot;
        } else {
          at_ = At::text;
        }
        break;
      case At::dot:
        if (input.front() == '\r') {
          input.remove_prefix(1);
          at_ = At::dot_cr;
        } else {
          at_ = At::text;
        }
        break;
      case At::dot_cr:
        if (input.front() == '\n') {
          // RFC 5321 §4.1.1.4: CRLF "." CRLF and nothing else.
          input.remove_prefix(1);
          ended_ = true;
          return {};
        }
        // A line that begins with ".\r" and goes on: the dot is deleted, the CR is text.
        at_ = At::cr;
        ++octets_;
        return "\r";
      case At::text:
      case At::cr:
        return text_run(input);
    }
  }
  return {};
}

// Text up to the end of the input or to a line that begins with a dot, line by line at memchr's speed.
std::string_view DataDecoder::text_run(std::string_view& input) {
  const char* const begin = input.data();
  const char* const end = begin + input.size();
  const char* stop = end;
  const bool carried_cr = at_ == At::cr;
  const char* fault_at = fault_ == Fault::none ? nullptr : begin;  // only the first fault is kept
  const auto note = [&](Fault fault, const char* where) {
    if (fault_at) return;
    fault_ = fault;
    fault_at = where;
  };

  if (carried_cr && *begin != '\n') note(Fault::bare_cr, begin);
  for (const char* line = begin;;) {
    const char* const lf = find_octet(line, end, '\n');
    const char* const line_end = lf ? lf : end;
    const char* const cr = find_octet(line, line_end, '\r');
    if (cr && cr + 1 != line_end) note(Fault::bare_cr, cr);
    if (!lf) {
      at_ = end[-1] == '\r' ? At::cr : At::text;
      break;
    }
    const bool crlf = lf == begin ? carried_cr : lf[-1] == '\r';
    if (!crlf) note(Fault::bare_lf, lf);
    line = lf + 1;
    if (line == end || (crlf && *line == '.')) {
      at_ = crlf ? At::line_start : At::text;
      stop = line;
      break;
    }
  }
  // NUL last, over this piece alone: looking ahead further would cost a scan of the whole input for each
  // piece.
  if (const char* const nul = find_octet(begin, stop, '\0'); nul && (!fault_at || nul < fault_at))
    fault_ = Fault::nul;

  const auto piece = input.substr(0, static_cast<std::size_t>(stop - begin));
  input.remove_prefix(piece.size());
  octets_ += piece.size();
  return piece;
}

}  // namespace mailonce::smtp
