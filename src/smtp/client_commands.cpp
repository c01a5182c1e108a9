#include "mailonce/smtp/client_commands.h"

namespace mailonce::smtp {

void append_ehlo(std::string& out, const HelloName& name) {
  out.append("EHLO ").append(name.text()).append("\r\n");
}

void append_helo(std::string& out, const HelloName& name) {
  out.append("HELO ").append(name.text()).append("\r\n");
}

void append_mail(std::string& out, const Sender& sender, const Capabilities& offered) {
  out.append("MAIL FROM:<").append(sender.address.text()).append(">");
  if (offered.size && sender.size) out.append(" SIZE=").append(std::to_string(*sender.size));  // RFC 1870 §6
  if (offered.eight_bit_mime && sender.body != BodyType::unspecified)                          // RFC 6152 §3
    out.append(sender.body == BodyType::eight_bit_mime ? " BODY=8BITMIME" : " BODY=7BIT");
  out.append("\r\n");
}

void append_rcpt(std::string& out, const Recipient& recipient) {
  out.append("RCPT TO:<").append(recipient.address.text()).append(">\r\n");
}

}  // namespace mailonce::smtp
