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
  if (sender.smtputf8) out.append(" SMTPUTF8");
  if (sender.requiretls) out.append(" REQUIRETLS");
  if (offered.dsn && !sender.ret.empty()) out.append(" RET=").append(sender.ret);
  if (offered.dsn && !sender.envid.empty()) out.append(" ENVID=").append(sender.envid);
  out.append("\r\n");
}

void append_rcpt(std::string& out, const Recipient& recipient, const Capabilities& offered) {
  out.append("RCPT TO:<").append(recipient.address.text()).append(">");
  if (offered.dsn && !recipient.notify.empty()) out.append(" NOTIFY=").append(recipient.notify);
  if (offered.dsn && !recipient.orcpt.empty()) out.append(" ORCPT=").append(recipient.orcpt);
  out.append("\r\n");
}

}  // namespace mailonce::smtp
