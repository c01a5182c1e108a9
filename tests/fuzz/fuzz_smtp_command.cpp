// Command lines: what is accepted, written for an upstream, is one line that is parsed back to the same.
#include <string>

#include "fuzz.h"
#include "mailonce/smtp/client_commands.h"
#include "mailonce/smtp/command.h"

using namespace mailonce;

namespace {

// The line without its CRLF, of which there is exactly one.
std::string_view only_line(const std::string& wire) {
  fuzz::check(wire.size() > 2 && wire.find_first_of("\r\n") == wire.size() - 2);
  return std::string_view(wire).substr(0, wire.size() - 2);
}

void read_back(const smtp::Mail& mail) {
  smtp::Capabilities all;
  all.size = all.eight_bit_mime = all.dsn = all.smtputf8 = true;
  std::string wire;
  smtp::append_mail(wire, mail.sender, all);
  const auto again = smtp::parse_command(only_line(wire));
  const auto& sender = std::get<smtp::Mail>(std::get<smtp::Command>(again)).sender;
  fuzz::check(sender.address == mail.sender.address && sender.size == mail.sender.size &&
              sender.body == mail.sender.body && sender.smtputf8 == mail.sender.smtputf8 &&
              sender.ret == mail.sender.ret && sender.envid == mail.sender.envid);
}

void read_back(const smtp::Rcpt& rcpt) {
  smtp::Capabilities all;
  all.dsn = true;
  std::string wire;
  smtp::append_rcpt(wire, rcpt.recipient, all);
  const auto again = smtp::parse_command(only_line(wire));
  const auto& recipient = std::get<smtp::Rcpt>(std::get<smtp::Command>(again)).recipient;
  fuzz::check(recipient.address == rcpt.recipient.address && recipient.notify == rcpt.recipient.notify &&
              recipient.orcpt == rcpt.recipient.orcpt);
}

void read_back(const smtp::Ehlo& ehlo) {
  std::string wire;
  smtp::append_ehlo(wire, ehlo.name);
  only_line(wire);
}

template <class Other>
void read_back(const Other&) {}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = smtp::parse_command(fuzz::text(data, size));
  if (const auto* refusal = std::get_if<smtp::Refusal>(&parsed)) {
    fuzz::check(refusal->reply.code >= 400 && !refusal->reply.text.empty());
  } else {
    std::visit([](const auto& command) { read_back(command); }, std::get<smtp::Command>(parsed));
  }
  return 0;
}
