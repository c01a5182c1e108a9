#include "mailonce/smtp/server_machine.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "server_state.h"

namespace mailonce::smtp {

ServerMachine::ServerMachine(ServerMachineOptions options)
    : state_(std::make_unique<State>(std::move(options))) {}
ServerMachine::~ServerMachine() = default;
ServerMachine::ServerMachine(ServerMachine&&) noexcept = default;
ServerMachine& ServerMachine::operator=(ServerMachine&&) noexcept = default;

void ServerMachine::greet() {
  state_->say("220 " + state_->options.hostname + " ESMTP mailonce");
}

void ServerMachine::receive(std::string_view octets) {
  // A TLS ClientHello (RFC 8446 §5.1) on a port that speaks in the clear: no reply of ours would be
  // understood.
  if (!std::exchange(state_->heard, true) && octets.front() == '\x16') state_->closing = true;
  state_->reader.receive(octets);
}

ServerAction ServerMachine::next() {
  assert(state_->owed == State::Owed::nothing);
  return state_->next();
}

ServerAction ServerMachine::State::next() {
  using Phase = NeedInput::Phase;
  if (abandoned) forget_transaction();
  for (;;) {
    if (abandon) {
      abandoned = true;
      return Abandon{*std::exchange(abandon, std::nullopt), {}};
    }
    if (closing) return Close{};
    if (std::exchange(ask_capabilities, false)) {
      owed = Owed::capabilities;
      return AskCapabilities{};
    }
    if (std::exchange(start_handshake, false)) {
      owed = Owed::handshake;
      return StartHandshake{};
    }
    if (std::exchange(check_credential, false)) {
      owed = Owed::credential;
      return CheckCredential{&*credential};
    }
    if (std::exchange(name_client, false)) {
      owed = Owed::client;
      return ClientNamed{&*client_facts};
    }
    if (std::exchange(ask_recipients, false)) {
      owed = Owed::recipients;
      return AskRecipients{&envelope.sender, batch, !std::exchange(asked, true)};
    }
    if (std::exchange(data_begins, false)) return DataBegins{};
    if (in_data) return next_in_data();
    if (in_chunk) {
      if (auto action = next_in_chunk()) return std::move(*action);
      continue;
    }
    if (!handle_line()) return need(chunked ? Phase::data : open ? Phase::transaction : Phase::command);
    handled = true;
  }
}

void ServerMachine::announce(const Capabilities& path) {
  State& s = *state_;
  assert(s.owed == State::Owed::capabilities);
  s.owed = State::Owed::nothing;
  s.max_octets = std::min(s.options.max_message_octets, path.max_size.value_or(s.options.max_message_octets));
  Capabilities offered;
  offered.pipelining = true;  // towards the client it depends on nobody else
  offered.size = true;
  offered.max_size = s.max_octets;
  offered.eight_bit_mime = path.eight_bit_mime;
  offered.smtputf8 = path.smtputf8 && path.eight_bit_mime;  // RFC 6531 §3.1
  offered.dsn = path.dsn;
  offered.enhanced_status_codes = path.enhanced_status_codes;
  offered.starttls = s.options.starttls && !s.secure;
  offered.chunking = true;                           // what is given further is DATA
  offered.requiretls = path.requiretls && s.secure;  // RFC 8689 §2
  s.max_recipients =
      std::min(s.options.max_recipients, path.max_recipients.value_or(s.options.max_recipients));
  offered.max_recipients = s.max_recipients;
  offered.max_recipient_domains = path.max_recipient_domains;
  if (s.options.auth && (s.secure || s.clear_is_enough())) s.mechanisms = path.auth;
  offered.auth = s.mechanisms;
  auto reply = offered.announce(s.options.hostname);
  if (s.options.xclient) reply.text.append("\nXCLIENT ").append(s.xclient_attributes());
  s.say(reply);
  s.announced = std::move(offered);
}

void ServerMachine::answer_recipients(std::span<const Reply> replies) {
  State& s = *state_;
  assert(s.owed == State::Owed::recipients && replies.size() == s.batch.size());
  s.owed = State::Owed::nothing;
  for (std::size_t i = 0; i < replies.size() && !s.closing; ++i) {  // nothing is said after a 421
    s.say(replies[i]);
    if (!replies[i].completed()) continue;
    s.envelope.recipients.push_back(std::move(s.batch[i]));
    --s.commands;
  }
  s.batch.clear();
}

void ServerMachine::answer_data(const Reply& reply) {
  State& s = *state_;
  assert(s.owed == State::Owed::data);
  s.owed = State::Owed::nothing;
  s.forget_transaction();
  if (reply.completed()) s.errors = s.commands = 0;  // a client that delivers is no scanner
  s.say(reply);
}

void ServerMachine::refuse_data(Reply reply) {
  if ((state_->in_data || state_->chunked) && !state_->refusal) state_->refusal = std::move(reply);
}

void ServerMachine::shut_down(Reply reply) {
  State& s = *state_;
  if (s.closing) return;
  // After EndOfData this is the answer: the message is the shell's, there is nothing to abandon.
  if (std::exchange(s.owed, State::Owed::nothing) == State::Owed::data) s.forget_transaction();
  s.ask_capabilities = s.ask_recipients = s.data_begins = s.start_handshake = s.check_credential =
      s.name_client = false;
  s.say(reply);
  s.end_session();
}

std::string& ServerMachine::output() noexcept {
  return state_->output;
}
const Envelope& ServerMachine::envelope() const noexcept {
  return state_->envelope;
}
std::string_view ServerMachine::client_name() const noexcept {
  return state_->client_name;
}
bool ServerMachine::authenticated() const noexcept {
  return state_->authenticated;
}
bool ServerMachine::needs_login() const noexcept {
  const State& s = *state_;
  return (s.options.require_auth || s.options.deny_relay) && !s.authenticated && !s.trusted;
}
bool ServerMachine::in_transaction() const noexcept {
  return state_->open && !state_->abandoned;
}
bool ServerMachine::idle() const noexcept {
  const State& s = *state_;
  return !in_transaction() && !s.in_chunk && s.owed == State::Owed::nothing && !s.closing && s.reader.empty();
}

void ServerMachine::State::say(const Reply& reply) {
  reply.append_to(output);
  // RFC 5321 §4.2.2: 421 announces that the channel closes; who passes it on must keep that promise.
  if (reply.code == 421) end_session();
}

void ServerMachine::State::close_with(std::string_view reply) {
  say(reply);
  end_session();
}

void ServerMachine::State::end_session() {
  abandon_as(Abandon::Why::close);
  closing = true;
}

// Nothing was begun upstream before the first AskRecipients: then the transaction is only forgotten.
void ServerMachine::State::abandon_as(Abandon::Why why) {
  if (!open || abandoned) return;
  if (asked) {
    abandon = why;
  } else {
    forget_transaction();
  }
}

void ServerMachine::State::forget_transaction() {
  envelope.sender = {};
  envelope.recipients.clear();
  batch.clear();
  refusal.reset();
  open = asked = abandoned = in_data = chunked = false;
}

}  // namespace mailonce::smtp
