#include "line_ends.h"

#include "octets.h"

namespace mailonce::smtp {

void LineEnds::take(std::string_view piece) {
  if (piece.empty()) return;
  octets_ += piece.size();
  const char* const begin = piece.data();
  const char* const end = begin + piece.size();
  if (after_cr_ && *begin != '\n') note(Fault::bare_cr);
  for (const char* line = begin; line != end && fault_ == Fault::none;) {
    const char* const lf = find_octet(line, end, '\n');
    const char* const line_end = lf ? lf : end;
    const char* const cr = find_octet(line, line_end, '\r');
    if (cr && cr + 1 != line_end) note(Fault::bare_cr);
    if (!lf) break;
    const bool crlf = lf == begin ? after_cr_ : lf[-1] == '\r';
    if (!crlf) note(Fault::bare_lf);
    line = lf + 1;
  }
  if (find_octet(begin, end, '\0')) note(Fault::nul);
  const bool cr_before_last = piece.size() > 1 ? end[-2] == '\r' : after_cr_;
  line_ended_ = end[-1] == '\n' && cr_before_last;
  after_cr_ = end[-1] == '\r';
}

void LineEnds::finish() {
  if (after_cr_) note(Fault::bare_cr);
}

}  // namespace mailonce::smtp
