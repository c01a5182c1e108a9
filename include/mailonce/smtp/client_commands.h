// The client's side of RFC 5321 §4.1.1: command lines appended to an output buffer, made from validated types
// only, so that nothing a peer or a configuration file says can become a second command.
#pragma once
#include <string>
#include <string_view>

#include "mailonce/smtp/capabilities.h"
#include "mailonce/smtp/envelope.h"
#include "mailonce/smtp/hello_name.h"

namespace mailonce::smtp {

inline constexpr std::string_view data_command = "DATA\r\n";
inline constexpr std::string_view rset_command = "RSET\r\n";
inline constexpr std::string_view noop_command = "NOOP\r\n";
inline constexpr std::string_view quit_command = "QUIT\r\n";
inline constexpr std::string_view starttls_command = "STARTTLS\r\n";

void append_ehlo(std::string& out, const HelloName& name);
void append_helo(std::string& out, const HelloName& name);
// With SIZE= when `offered` has SIZE and the sender declared one, with BODY= when it has 8BITMIME and the
// sender gave one, with RET= and ENVID= when it has DSN; SMTPUTF8 as the sender asked. Whether an upstream
// without 8BITMIME may have the message is the caller's to decide.
void append_mail(std::string& out, const Sender& sender, const Capabilities& offered);
void append_rcpt(std::string& out, const Recipient& recipient, const Capabilities& offered);

}  // namespace mailonce::smtp
