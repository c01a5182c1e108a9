// The server's side of one SMTP session as a pure machine (RFC 5321 §4): octets in, actions out. It knows no
// socket, no clock and no upstream. The shell calls next() until it asks for input or is told to close,
// carries out what each action says, and writes output() before it waits for anything.
//
// Legal order: receive() only after NeedInput; after AskCapabilities, CheckCredential, AskRecipients and
// EndOfData exactly one announce(), answer_auth(), answer_recipients() or answer_data() (or shut_down())
// before next() is called again. Views inside an action are valid until the next call on the machine. The
// octets given to receive() are not copied but for a command line that is not complete yet: they must stay
// unchanged until next() asks for more or says Close.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mailonce/smtp/capabilities.h"
#include "mailonce/smtp/credential.h"
#include "mailonce/smtp/envelope.h"
#include "mailonce/smtp/reply.h"
#include "mailonce/smtp/xclient.h"

namespace mailonce::smtp {

// Nothing to do until the client says more. `phase` picks the shell's deadline (RFC 5321 §4.5.3.2).
struct NeedInput {
  enum class Phase { command, transaction, data } phase;  // between transactions, inside one, in the body
  bool same = false;  // what was waited for last is not complete: a part of it came, or nothing
};
// EHLO: the shell says what can be announced. mailonce's own SIZE and PIPELINING are the machine's.
struct AskCapabilities {};
// STARTTLS was accepted, and 220 is in output(): the shell writes that, makes the handshake and says
// tls_started(), or closes. Nothing came behind the command: what does is not SMTP in the clear.
struct StartHandshake {};
// AUTH: is it right? The credential is valid until the answer.
struct CheckCredential {
  const Credential* credential;
};
// XCLIENT was accepted: the session is another client's. The shell either puts a new machine in this one's
// place and greets with it, or shuts this one down. Nothing came behind the command. Valid until then.
struct ClientNamed {
  const ClientFacts* facts;
};
// One or more RCPT that arrived together; the replies come from the upstream, in order.
struct AskRecipients {
  const Sender* sender;
  std::span<const Recipient> recipients;
  bool first;  // no RCPT was asked about before in this transaction
};
// DATA (354 is in output()) or the first BDAT was accepted: a body begins.
struct DataBegins {};
// A piece of the message, dot-unstuffed if it came by DATA, line ends as sent.
struct DataChunk {
  std::string_view octets;
};
// The true end of data (CRLF.CRLF, or the last BDAT's last octet) of a well-formed message.
struct EndOfData {
  std::uint64_t octets;
};
// The transaction ended without a message, after AskRecipients: drop whatever was begun upstream. The reply
// is in output() already; envelope() still tells what it was about, until the next call of next().
struct Abandon {
  enum class Why {
    reset,      // RSET, EHLO or HELO
    bad_data,   // bare CR, bare LF or NUL in the body
    too_large,  // more than max_message_octets, or than the path takes
    refused,    // refuse_data()
    close       // the session ends: QUIT, shut_down(), hostile input
  } why;
  Reply reply;  // bad_data, too_large, refused: what was said of the message
};
// Write output(), then close the connection.
struct Close {};

using ServerAction = std::variant<NeedInput, AskCapabilities, AskRecipients, DataBegins, DataChunk, EndOfData,
                                  Abandon, Close, StartHandshake, CheckCredential, ClientNamed>;

struct ServerMachineOptions {
  std::string hostname = "localhost";                      // in the banner and the EHLO reply
  std::uint64_t max_message_octets = 50ULL * 1024 * 1024;  // 552 5.3.4 beyond
  std::size_t max_recipients = 1000;          // 452 4.5.3 beyond (RFC 5321 §4.5.3.1.8: at least 100)
  std::size_t max_line_octets = 4096;         // 500 5.5.6 beyond, resynchronised at CRLF
  std::size_t max_errors = 20;                // syntax and sequence errors before 421 4.7.0 and close
  bool secure = false;                        // TLS from the first octet
  bool starttls = false;                      // offered, until the session is secure
  bool require_tls = false;                   // 530 5.7.0 to AUTH and MAIL before
  bool auth = false;                          // AUTH is offered: in a secure session, or with auth_in_clear
  bool auth_in_clear = false;                 // unless require_tls
  bool require_auth = false;                  // 530 5.7.0 to MAIL before
  bool deny_relay = false;                    // 554 5.7.1 to MAIL, but from whom trust() is for
  bool xclient = false;                       // XCLIENT is taken, else 550 5.7.0
  bool xclient_login = true;                  // its LOGIN too
  std::size_t max_commands = 2000;            // without a message, then 421 4.7.0 and close
  std::size_t max_failed_logins = 3;          // then 421 4.7.0 and close
  std::size_t max_auth_line_octets = 12'288;  // RFC 4954 §4
};

class ServerMachine {
 public:
  explicit ServerMachine(ServerMachineOptions options);
  ~ServerMachine();
  ServerMachine(ServerMachine&&) noexcept;
  ServerMachine& operator=(ServerMachine&&) noexcept;

  // Puts the 220 banner into output(). Once, first.
  void greet();
  // Octets from the client, at least one.
  void receive(std::string_view octets);
  ServerAction next();

  // What the path offers; its `auth` are the mechanisms that a credential can be checked for.
  void announce(const Capabilities& path);
  // The handshake is done: all that was said before is forgotten (RFC 3207 §4.2).
  void tls_started();
  // The client proved who it is in another way (its TLS certificate): no AUTH is asked of it, and what it
  // gives is taken all the same.
  void trust();
  // 235 and the client is who it says; anything else is passed on.
  void answer_auth(const Reply& reply);
  void answer_recipients(std::span<const Reply> replies);
  // The final reply, or a refusal made by the shell. The transaction is over. A reply 421, here or to a RCPT,
  // says that the session ends (RFC 5321 §4.2.2), so Close follows.
  void answer_data(const Reply& reply);

  // While a body arrives: refuse it with `reply` after its true end (a full disk, a mail loop). Chunks stop.
  void refuse_data(Reply reply);
  // The shell ends the session (shutdown, timeout): `reply`, a 421, is said unless the session ended already
  // (a 421 is legal at any time, RFC 5321 §3.8), and Close follows.
  void shut_down(Reply reply);

  // Replies not yet written; the shell writes and clears it.
  std::string& output() noexcept;
  const Envelope& envelope() const noexcept;      // of the current transaction
  std::string_view client_name() const noexcept;  // EHLO or HELO argument; empty before
  bool authenticated() const noexcept;
  bool needs_login() const noexcept;     // before it may send mail
  bool in_transaction() const noexcept;  // between an accepted MAIL and its end
  bool idle() const noexcept;            // waiting for a command outside a transaction, nothing half read

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mailonce::smtp
