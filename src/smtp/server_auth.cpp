// STARTTLS (RFC 3207) and AUTH (RFC 4954) as the server's machine sees them.
#include <cassert>

#include "mailonce/base/encoding.h"
#include "server_state.h"

namespace mailonce::smtp {

void ServerMachine::State::on(StartTls) {
  if (!options.starttls && !secure) return fail("502 5.5.1 Error: command not implemented");
  if (secure) return fail("503 5.5.1 Error: TLS is active already");
  if (open) return fail("503 5.5.1 Error: STARTTLS is not permitted in a mail transaction");
  // CVE-2011-0411: what stands behind the command in the clear would be taken for something said inside TLS.
  if (!reader.empty()) return close_with("554 5.5.0 Error: nothing may follow STARTTLS before the handshake");
  say("220 2.0.0 Ready to start TLS");
  start_handshake = true;
}

void ServerMachine::tls_started() {
  State& s = *state_;
  assert(s.owed == State::Owed::handshake);
  s.owed = State::Owed::nothing;
  s.secure = true;
  s.client_name.clear();
  s.mechanisms.clear();
  s.authenticated = s.trusted = false;
}

void ServerMachine::trust() {
  state_->trusted = true;
}

// Postfix's XCLIENT_README: from a trusted host, between transactions; the session begins anew with its next
// 220.
void ServerMachine::State::on(const Xclient& command) {
  if (!options.xclient) return fail("550 5.7.0 Error: insufficient authorization");
  if (open) return fail("503 5.5.1 Error: MAIL transaction in progress");
  auto facts = parse_xclient(command.arguments);
  if (!facts) return fail("501 5.5.4 Error: bad XCLIENT attributes");
  if (!facts->login.value.empty() && !options.xclient_login)
    return fail("501 5.5.4 Error: LOGIN is no credential for the upstream server");
  // As behind STARTTLS: said to the session before, it would be taken for something said in the one after.
  if (!reader.empty()) return close_with("554 5.5.0 Error: nothing may follow XCLIENT before the greeting");
  client_facts = std::move(facts);
  name_client = true;
}

std::string_view ServerMachine::State::xclient_attributes() const {
  return options.xclient_login ? "NAME ADDR PORT PROTO HELO LOGIN DESTADDR DESTPORT"
                               : "NAME ADDR PORT PROTO HELO DESTADDR DESTPORT";
}

bool ServerMachine::State::may_send_mail() {
  if (options.require_tls && !secure) {
    fail("530 5.7.0 Must issue a STARTTLS command first");  // RFC 3207 §4
    return false;
  }
  if (options.deny_relay && !trusted) {
    fail("554 5.7.1 Relaying not allowed");
    return false;
  }
  if (options.require_auth && !authenticated && !trusted) {
    fail("530 5.7.0 Authentication required");  // RFC 4954 §6
    return false;
  }
  return true;
}

bool ServerMachine::State::may_authenticate(const Auth& command) {
  if (!options.auth) {
    fail("502 5.5.1 Error: command not implemented");
  } else if (client_name.empty()) {
    fail("503 5.5.1 Error: send EHLO first");
  } else if (authenticated) {
    fail("503 5.5.1 Error: already authenticated");
  } else if (open) {
    fail("503 5.5.1 Error: AUTH is not permitted in a mail transaction");
  } else if (!secure && !clear_is_enough()) {
    fail("538 5.7.11 Encryption required for requested authentication mechanism");
  } else if (std::none_of(mechanisms.begin(), mechanisms.end(), [&](const auto& offered) {
               return equals_ignoring_case(offered, command.mechanism);
             })) {
    fail("504 5.5.4 Error: the mechanism was not announced");
  } else {
    return true;
  }
  return false;
}

void ServerMachine::State::on(Auth command) {
  if (!may_authenticate(command)) return;
  const auto mechanism = SaslServer::mechanism(command.mechanism);
  if (!mechanism) return fail("504 5.5.4 Error: mechanism not supported");
  sasl.emplace(*mechanism);
  take(sasl->start(command.initial));
}

void ServerMachine::State::answer_challenge(std::string_view line) {
  auto step = sasl->respond(line);
  reader.consume();
  take(std::move(step));
}

void ServerMachine::State::take(SaslServer::Step step) {
  if (auto* given = std::get_if<Credential>(&step)) {
    sasl.reset();
    credential = std::move(*given);
    check_credential = true;
    return;
  }
  const auto& reply = std::get<Reply>(step);
  if (reply.intermediate()) return say(reply);
  sasl.reset();
  if (!one_error_too_many()) say(reply);
}

void ServerMachine::answer_auth(const Reply& reply) {
  State& s = *state_;
  assert(s.owed == State::Owed::credential);
  s.owed = State::Owed::nothing;
  s.credential.reset();
  s.authenticated = reply.completed();
  if (!reply.completed() && ++s.failed_logins >= s.options.max_failed_logins)
    return s.close_with("421 4.7.0 Error: too many failed logins");
  s.say(reply);
}

}  // namespace mailonce::smtp
