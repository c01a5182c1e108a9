#include "mailonce/smtp/sasl.h"

#include "mailonce/base/encoding.h"
#include "mailonce/smtp/error.h"

namespace mailonce::smtp {

Result<> append_auth_plain(std::string& out, std::string_view user, std::string_view password) {
  if (user.empty() || user.find('\0') != std::string_view::npos ||
      password.find('\0') != std::string_view::npos)
    return Errc::bad_parameter;
  std::string message(1, '\0');  // no authorization identity: the server derives it (RFC 4616 §2)
  message.append(user).append(1, '\0').append(password);
  out.append("AUTH PLAIN ").append(to_base64(message)).append("\r\n");
  return {};
}

void append_auth_login(std::string& out) {
  out.append("AUTH LOGIN\r\n");
}

void append_login_answer(std::string& out, std::string_view value) {
  out.append(to_base64(value)).append("\r\n");
}

}  // namespace mailonce::smtp
