#include "mailonce/smtp/reply.h"

#include "octets.h"

namespace mailonce::smtp {

void Reply::append_to(std::string& out) const {
  const auto digits = std::to_string(code);
  std::string_view rest = text;
  for (;;) {
    const bool last = rest.find('\n') == std::string_view::npos;
    out.append(digits).push_back(last ? ' ' : '-');  // RFC 5321 §4.2.1
    out.append(take_until(rest, '\n')).append("\r\n");
    if (last) return;
  }
}

std::string Reply::wire() const {
  std::string out;
  append_to(out);
  return out;
}

std::string Reply::summary() const {
  std::string out = std::to_string(code);
  std::string_view separator = " ";
  for (std::string_view rest = text; !rest.empty(); separator = " / ")
    out.append(separator).append(take_until(rest, '\n'));
  return out;
}

}  // namespace mailonce::smtp
