// Command lines of a client and their replies (RFC 5321 §4.1, §4.3). Enhanced status codes are ours on every
// reply but those to EHLO and DATA (RFC 2034 §4).
#include <utility>

#include "mailonce/base/encoding.h"
#include "server_state.h"

namespace mailonce::smtp {

using Why = Abandon::Why;

bool ServerMachine::State::handle_line() {
  switch (reader.peek()) {
    case LineReader::Event::need_more:
      return false;
    case LineReader::Event::line:
      if (sasl) {
        answer_challenge(reader.line());
      } else {
        handle_command(reader.line());
      }
      break;
    case LineReader::Event::too_long:
      refuse_line("500 5.5.6 Error: line too long");
      break;
    case LineReader::Event::bare_lf:
      // Answered at the LF: a client that ends its lines so waits for a reply. Twice is no accident.
      if (std::exchange(met_bare_lf, true)) {
        reader.consume();
        close_with("421 4.5.2 Error: bare <LF> received again");
      } else {
        refuse_line("500 5.5.2 Error: bare <LF> received");
      }
      break;
    case LineReader::Event::endless:
      reader.consume();
      close_with("421 4.7.0 Error: endless line");
      break;
  }
  return true;
}

// One that is none. What stands behind a BDAT is a chunk and must not become commands.
void ServerMachine::State::refuse_line(std::string_view reply) {
  const bool chunk_follows = looks_like_bdat(reader.head());
  reader.consume();
  chunk_follows ? close_with(reply) : fail(reply);
}

void ServerMachine::State::handle_command(std::string_view line) {
  // Where AUTH is offered the reader takes longer lines, for AUTH alone.
  if (line.size() + 2 > options.max_line_octets && !equals_ignoring_case(line.substr(0, 5), "AUTH "))
    return refuse_line("500 5.5.6 Error: line too long");
  if (++commands > options.max_commands) {
    reader.consume();
    return close_with("421 4.7.0 Error: too many commands and no message");
  }
  auto parsed = parse_command(line);
  reader.consume();
  const bool after_refused_data = std::exchange(data_was_refused, false);
  if (const auto* refused = std::get_if<Refusal>(&parsed)) return refuse(*refused, after_refused_data);
  std::visit([this](auto& command) { on(std::move(command)); }, std::get<Command>(parsed));
}

void ServerMachine::State::refuse(const Refusal& refused, bool after_refused_data) {
  if (refused.close) {
    say(refused.reply);
    end_session();
  } else if (after_refused_data) {
    // A line that is no command: the body of a client that did not wait for 354.
    close_with("421 4.5.2 Error: DATA was refused");
  } else if (!one_error_too_many()) {
    say(refused.reply);
  }
}

void ServerMachine::State::fail(std::string_view reply) {
  sasl.reset();  // a line too long, or with a bare LF, answers no challenge
  if (!one_error_too_many()) say(reply);
}

// Counts a syntax or sequence error. The one too many is answered 421 in its own reply's place: one reply a
// command.
bool ServerMachine::State::one_error_too_many() {
  if (++errors < options.max_errors) return false;
  close_with("421 4.7.0 Error: too many errors");
  return true;
}

// RFC 5321 §4.1.4: EHLO and HELO reset the session as RSET does.
void ServerMachine::State::begin_session(std::string_view name) {
  abandon_as(Why::reset);
  client_name = name;
  mechanisms.clear();
  announced = {};
  max_octets = options.max_message_octets;
  max_recipients = options.max_recipients;
  bdat_failed = false;
}

void ServerMachine::State::on(Ehlo command) {
  begin_session(command.name.text());
  ask_capabilities = true;
}

void ServerMachine::State::on(Helo command) {
  begin_session(command.name.text());
  say("250 " + options.hostname);
}

void ServerMachine::State::on(Mail command) {
  if (client_name.empty()) return fail("503 5.5.1 Error: send EHLO or HELO first");
  if (open) return fail("503 5.5.1 Error: nested MAIL command");  // RFC 5321 §4.1.4
  if (!may_send_mail()) return;
  if (const auto lacking = unannounced(command.sender); !lacking.empty()) return fail(lacking);
  // RFC 1870 §6.1.
  if (command.sender.size.value_or(0) > max_octets) return say("552 5.3.4 Error: message too large");
  envelope.sender = std::move(command.sender);
  open = true;
  bdat_failed = false;
  say("250 2.1.0 Ok");
}

std::string_view ServerMachine::State::unannounced(const Sender& sender) const {
  // RFC 6531 §3.5: at MAIL, and not when the message is there.
  if ((sender.smtputf8 && !announced.smtputf8) || (!sender.address.ascii() && !sender.smtputf8))
    return "553 5.6.7 Error: SMTPUTF8 is needed, and was not announced or not asked for";
  if (sender.auth && announced.auth.empty()) return "555 5.5.4 Error: AUTH was not announced";
  if (sender.body != BodyType::unspecified && !announced.eight_bit_mime)
    return "555 5.5.4 Error: BODY was not announced";
  // RFC 8689 §4.2: better not at all than in the clear.
  if (sender.requiretls && !secure && options.starttls)
    return "530 5.7.0 Must issue a STARTTLS command first";
  if (sender.requiretls && !announced.requiretls) return "550 5.7.30 REQUIRETLS support required";
  if (sender.asks_for_dsn() && !announced.dsn) return "555 5.5.4 Error: DSN was not announced";
  return {};
}

std::string_view ServerMachine::State::unannounced(const Recipient& recipient) const {
  if (!recipient.address.ascii() && !envelope.sender.smtputf8)
    return "553 5.6.7 Error: SMTPUTF8 is needed, and was not asked for at MAIL";
  if (recipient.asks_for_dsn() && !announced.dsn) return "555 5.5.4 Error: DSN was not announced";
  return {};
}

bool ServerMachine::State::room_for_recipients() const {
  return envelope.recipients.size() + batch.size() < max_recipients;
}

void ServerMachine::State::on(Rcpt command) {
  if (!open) return fail("503 5.5.1 Error: need MAIL command");
  if (chunked) return fail("503 5.5.1 Error: RCPT is not permitted after BDAT");
  if (!room_for_recipients()) return say("452 4.5.3 Error: too many recipients");  // RFC 5321 §4.5.3.1.10
  if (const auto lacking = unannounced(command.recipient); !lacking.empty()) return fail(lacking);
  batch.push_back(std::move(command.recipient));
  ask_recipients = true;
  // RFC 2920 §3.2: the RCPT that arrived together are asked about together, so that they share one flight
  // upstream.
  while (room_for_recipients() && reader.peek() == LineReader::Event::line &&
         looks_like_rcpt(reader.line())) {
    auto parsed = parse_command(reader.line());
    auto* const further = std::get_if<Command>(&parsed);
    if (!further) return;  // refused in its turn, after these
    auto& recipient = std::get<Rcpt>(*further).recipient;
    if (!unannounced(recipient).empty()) return;
    batch.push_back(std::move(recipient));
    ++commands;
    reader.consume();
  }
}

void ServerMachine::State::on(Data) {
  if (open && !chunked && !envelope.recipients.empty()) return begin_data();
  // RFC 5321 §4.1.1.4, never 354 here. That a pipelined group had all its recipients refused is no error of
  // the client's.
  if (chunked) {
    fail("503 5.5.1 Error: the message comes by BDAT");  // RFC 3030 §2
  } else if (open) {
    say("554 5.5.1 Error: no valid recipients");
  } else {
    fail("503 5.5.1 Error: need MAIL command");
  }
  data_was_refused = true;
  // DATA is the last command of a pipelined group (RFC 2920 §3.1): octets that stand behind it already are a
  // body, sent without waiting for 354. It must not run as commands.
  if (!reader.empty()) end_session();
}

void ServerMachine::State::on(Rset) {
  abandon_as(Why::reset);
  bdat_failed = false;
  say("250 2.0.0 Ok");
}

void ServerMachine::State::on(Noop) {
  say("250 2.0.0 Ok");
}

// RFC 5321 §3.5.3, §7.3.
void ServerMachine::State::on(Vrfy) {
  say("252 2.5.0 Cannot VRFY user, but will accept message and attempt delivery");
}

void ServerMachine::State::on(Quit) {
  close_with("221 2.0.0 Bye");
}

}  // namespace mailonce::smtp
