// The provider as a transaction sees it: borrowed connections, and the steps of one transaction on them
// (DESIGN.md §3). One Upstream a worker; every call runs on that worker's thread.
//
// A reply of the upstream is a value, whatever its code. An error means that there was no reply:
// upstream::Errc or a system error. Everything up to send() may be done again on another connection; after
// send() said dot_sent, nothing.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/base/clock.h"
#include "mailonce/base/result.h"
#include "mailonce/smtp/capabilities.h"
#include "mailonce/smtp/envelope.h"
#include "mailonce/smtp/reply.h"

namespace mailonce::upstream {

using boost::asio::awaitable;

enum class Errc {
  unreachable = 1,  // no connection: refused, no route, name not found, or not in time  → 451 4.4.1
  exhausted,        // the pool is full and none came free in time                       → 451 4.3.2
  too_fast,         // its rate (max_rate) leaves no room in time                        → 451 4.3.2
  closed,           // the connection ended before an answer                             → 451 4.4.2
  timed_out,        // no answer in time                                                 → 451 4.4.2
  malformed_reply,  // garbage, an endless or a contradictory reply, an answer nobody asked for → 451 4.3.0
  tls_required,     // STARTTLS not offered or refused, and the URL asks for it           → 454 4.7.0
  tls_failed,       // handshake, certificate or name; bytes injected before the handshake → 454 4.7.5
  refused,          // the greeting or EHLO was answered 4xx or 5xx                       → 451 4.4.1
  auth_failed,      // the configured credential was not accepted                        → 451 4.7.0
  lacks_extension,  // the message needs 8BITMIME and this connection does not offer it   → 451 4.3.0
};
const boost::system::error_category& category() noexcept;
error_code make_error_code(Errc errc) noexcept;

struct EnvelopeReplies {
  smtp::Reply mail;
  std::vector<smtp::Reply> recipients;  // one a recipient; copies of `mail` when that was refused
};

// What became of the body and its final dot.
struct SendOutcome {
  // The end of data may be complete at the upstream. False: it certainly is not, the message was not taken.
  bool dot_sent = false;
  // The final reply; an error with dot_sent is doubt, without it the message may be sent again. A reply
  // without dot_sent is a refusal (4xx or 5xx) that the upstream gave in the middle of the body.
  Result<smtp::Reply> reply;
};

// A borrowed connection, logged in and idle. Destroying it gives it back: clean ones at once, ones with an
// envelope after a RSET in the background, ones inside a body are closed.
//
// On a reused connection a 421 or 451 at MAIL or DATA, and a 421 at RCPT, is not an answer but the notice of
// a peer that had already given up on it (SES's idle time-out): Errc::closed.
class Connection {
 public:
  virtual ~Connection() = default;

  virtual const smtp::Capabilities& capabilities() const noexcept = 0;
  // It served a transaction or waited in the pool: it may have gone stale, and its first failure says
  // nothing.
  virtual bool reused() const noexcept = 0;

  // MAIL and all RCPT, in one flight when the upstream offers PIPELINING. SIZE is declared when it offers
  // SIZE. An envelope begun before is given up (RSET in the same flight).
  virtual awaitable<Result<EnvelopeReplies>> envelope(const smtp::Sender& sender,
                                                      std::span<const smtp::Recipient> recipients) = 0;
  // Further recipients of the envelope begun before.
  virtual awaitable<Result<std::vector<smtp::Reply>>> recipients(
      std::span<const smtp::Recipient> recipients) = 0;
  // DATA; 354 is the only answer that allows content().
  virtual awaitable<Result<smtp::Reply>> data() = 0;
  // Writes the message but for a last part, so that nothing the upstream has is complete. `pieces` together
  // are the message; the octets must stay until send() returned. Once a DATA. A value: the upstream refused
  // (4xx or 5xx) before the end, and only giving the connection back is left.
  virtual awaitable<Result<std::optional<smtp::Reply>>> content(std::span<const std::string_view> pieces) = 0;
  // Writes the rest and the final dot (one writev for a small message) and awaits the answer, up to its own
  // limit (10 minutes, RFC 5321 §4.5.3.2.6). Not cancellable. After content().
  virtual awaitable<SendOutcome> send() = 0;
};

enum class Freshness { any, fresh };  // fresh: a new connection, made now

class Upstream {
 public:
  virtual ~Upstream() = default;

  // Waits for a free place in the pool, connects and logs in as needed; bounded by the upstream's own limits.
  // One that failed several times is not waited for until it answers again: what it failed with comes at
  // once.
  virtual awaitable<Result<std::unique_ptr<Connection>>> borrow(Freshness freshness) = 0;
  // What the upstream announced last. When that is not known yet one connection finds it out for all who ask,
  // and they wait a few seconds at most. An error: not known now.
  virtual awaitable<Result<smtp::Capabilities>> capabilities() = 0;
  // Before the body of a message to so many recipients: how long its rate asks to wait(). Errc::too_fast:
  // longer than a message may.
  virtual Result<milliseconds> book(std::size_t recipients) = 0;
  // Ends early, too, when everything has to.
  virtual awaitable<void> wait(milliseconds time) = 0;
  virtual const std::string& name() const noexcept = 0;
};

}  // namespace mailonce::upstream

template <>
struct boost::system::is_error_code_enum<mailonce::upstream::Errc> : std::true_type {};
