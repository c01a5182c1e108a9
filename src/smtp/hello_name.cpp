#include "mailonce/smtp/hello_name.h"

#include "mailonce/smtp/error.h"
#include "octets.h"

namespace mailonce::smtp {

Result<HelloName> HelloName::parse(std::string_view text) {
  if (any_octet(text, is_control)) return Errc::control_character;
  if (text.empty() || text.size() > max_octets) return Errc::bad_syntax;
  if (any_octet(text, [](char c) { return !is_visible(c); })) return Errc::bad_syntax;
  return HelloName(std::string(text));
}

}  // namespace mailonce::smtp
