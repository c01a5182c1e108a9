// Whole sessions of a client: the machine never stands still, never speaks in half lines, and octet by octet
// it comes to the messages it comes to in one segment (but for a body sent behind a refused DATA, which ends
// the session only when it is there in time, or something behind STARTTLS or
// XCLIENT).
#include <memory>
#include <string>
#include <vector>

#include "fuzz.h"
#include "mailonce/smtp/server_machine.h"

using namespace mailonce;
using namespace std::string_literals;

namespace {

struct Session {
  static smtp::ServerMachineOptions options() {
    smtp::ServerMachineOptions out{"relay", 500, 3, 100, 10};
    out.starttls = out.auth = out.auth_in_clear = true;
    out.max_auth_line_octets = 200;
    out.xclient = true;
    out.max_commands = 50;
    return out;
  }

  smtp::ServerMachine machine{options()};
  std::vector<std::string> messages;
  std::string message;
  bool closed = false;
  bool waiting = false;

  void on(const smtp::NeedInput&) { waiting = true; }
  void on(const smtp::AskCapabilities&) {
    machine.announce(smtp::Capabilities{
        .eight_bit_mime = true, .requiretls = true, .auth = {"PLAIN", "LOGIN", "XOAUTH2"}});
  }
  void on(const smtp::StartHandshake&) { machine.tls_started(); }
  void on(const smtp::ClientNamed& named) {
    fuzz::check(named.facts->login.value.find_first_of("\r\n\0"s) == std::string::npos);
    machine = smtp::ServerMachine(options());
    machine.greet();
  }
  void on(const smtp::CheckCredential& check) {
    const auto& credential = *check.credential;
    fuzz::check(!credential.user.empty() && credential.user.find_first_of("\r\n\0"s) == std::string::npos);
    fuzz::check(credential.secret.find('\0') == std::string::npos);
    machine.answer_auth(credential.user.starts_with('n') ? smtp::Reply{535, "no"} : smtp::Reply{235, "Ok"});
  }
  void on(const smtp::AskRecipients& ask) {
    fuzz::check(!ask.recipients.empty());
    std::vector<smtp::Reply> replies;
    for (const auto& recipient : ask.recipients)
      replies.push_back(recipient.address.text().starts_with('n') ? smtp::Reply{550, "no"}
                                                                  : smtp::Reply{250, "Ok"});
    machine.answer_recipients(replies);
  }
  void on(const smtp::DataBegins&) { message.clear(); }
  void on(const smtp::DataChunk& chunk) {
    fuzz::check(!chunk.octets.empty());
    message += chunk.octets;
  }
  void on(const smtp::EndOfData& end) {
    fuzz::check(end.octets == message.size() && !machine.envelope().recipients.empty());
    messages.push_back(message);
    machine.answer_data({250, "Ok"});
  }
  void on(const smtp::Abandon&) {}
  void on(const smtp::Close&) { closed = true; }

  // The segment is overwritten and freed before the next one.
  void say(std::string_view segment) {
    if (closed || segment.empty()) return;
    const auto block = std::make_unique<char[]>(segment.size());
    segment.copy(block.get(), segment.size());
    machine.receive({block.get(), segment.size()});
    for (waiting = false; !waiting && !closed;) {
      const auto action = machine.next();
      std::visit([this](const auto& what) { on(what); }, action);
    }
    fuzz::check(machine.output().empty() || machine.output().ends_with("\r\n"));
    machine.output().clear();
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto script = fuzz::text(data, size);
  Session whole;
  whole.say(script);
  Session dripped;
  for (const char octet : script) dripped.say({&octet, 1});
  fuzz::check(whole.messages.size() <= dripped.messages.size());
  for (std::size_t i = 0; i < whole.messages.size(); ++i)
    fuzz::check(whole.messages[i] == dripped.messages[i]);
  return 0;
}
