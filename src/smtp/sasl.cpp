#include "mailonce/smtp/sasl.h"

#include "mailonce/base/encoding.h"
#include "mailonce/base/wipe.h"
#include "mailonce/smtp/error.h"
#include "octets.h"

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

Result<> append_auth_xoauth2(std::string& out, std::string_view user, std::string_view token) {
  if (user.empty() || any_octet(user, is_control) || any_octet(token, is_control)) return Errc::bad_parameter;
  std::string message("user=");
  message.append(user)
      .append(
          "\x01"
          "auth=Bearer ")
      .append(token)
      .append("\x01\x01");
  out.append("AUTH XOAUTH2 ").append(to_base64(message)).append("\r\n");
  wipe(message);
  return {};
}

void append_auth_login(std::string& out) {
  out.append("AUTH LOGIN\r\n");
}

void append_login_answer(std::string& out, std::string_view value) {
  out.append(to_base64(value)).append("\r\n");
}

}  // namespace mailonce::smtp
