// Faults: what the scripted upstream does wrong, where, and how often.
//
//   FAULT  := [OPTION...] PHASE VERB [ARGUMENT]
//   PHASE  := connect | banner | ehlo | starttls | tls | ehlo-tls | auth | mail | rcpt | rcpt[N] | data |
//   body | dot
//             | after | rset | quit                    (tls: before a handshake; body: in the message; after:
//             the final reply was sent; rcpt[N]: the Nth recipient of a transaction, from 0)
//   VERB   := delay TIME        then go on as usual
//             hold              wait for go(), then go on as usual
//             close | rst       end the connection without a reply
//             reply TEXT        say this instead ("450 4.2.1 Later"); three digits alone stand for a reply
//             too reply-close TEXT  say this and close temp-fail | perm-fail   at auth: the profile's own
//             refusals half              half of the reply, without its line end, then silence stall silence
//             split             the reply octet by octet
//             multiline [N]     a reply of N lines (200)
//             mismatched        a reply whose lines differ in their codes
//             long [N]          a reply line of N octets (10000)
//             no-text | lf | nul | garbage    a bare code; a bare LF as line end; a NUL inside; not a reply
//             inject TEXT       the reply and TEXT behind it, in one write (\r \n \t \0 \\ are understood)
//             plaintext TEXT    at tls: TEXT in the clear instead of a handshake, and close
//             accept-then-close | accept-then-rst | accept-then-stall | accept-then-hold | accept-then-reply
//             TIME
//                               at dot: the message counts as accepted before this happens
//   OPTION := times=N | times=every      how often (1)
//             nth=N                      not before its Nth opportunity (1)
//             connection=N transaction=N only on this one, counted from 1 since the start or the last reset
//             to=GLOB from=GLOB          only when a recipient, the sender is like this
//             delay=TIME                 before anything else
//             octets=N                   at body: after so many octets (1)
//   TIME   := 250ms | 8s
//
// Beside armed faults an address can ask for one: the local part "fault+PHASE.VERB[.ARGUMENT]" of a recipient
// (of the sender at mail) applies every time: fault+dot.close@example.com, fault+rcpt.450@example.com.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mailonce::test {

enum class Phase {
  connect,
  banner,
  ehlo,
  starttls,
  tls,
  ehlo_tls,
  auth,
  mail,
  rcpt,
  data,
  body,
  dot,
  after,
  rset,
  quit
};

enum class Verb {
  delay,
  hold,
  close,
  rst,
  reply,
  reply_close,
  temp_fail,
  perm_fail,
  half,
  stall,
  split,
  multiline,
  mismatched,
  long_line,
  no_text,
  lf,
  nul,
  garbage,
  inject,
  plaintext,
  accept_then_close,
  accept_then_rst,
  accept_then_stall,
  accept_then_hold,
  accept_then_reply,
};

struct Fault {
  static constexpr std::uint64_t every = UINT64_MAX;

  Phase phase = Phase::connect;
  std::optional<std::size_t> recipient;  // rcpt[N]
  Verb verb = Verb::close;
  std::string text;                    // reply, inject, plaintext
  std::chrono::milliseconds time{};    // delay, accept-then-reply
  std::uint64_t number = 0;            // multiline, long
  std::chrono::milliseconds before{};  // delay=
  std::uint64_t times = 1;
  std::uint64_t nth = 1;
  std::uint64_t connection = 0;  // 0: any
  std::uint64_t transaction = 0;
  std::string to, from;  // empty: any
  std::uint64_t octets = 1;

  // Throws std::invalid_argument saying what is not understood.
  static Fault parse(std::string_view text);
  // What an address asks for at this phase.
  static std::optional<Fault> of_address(std::string_view address, Phase phase);
};

// Where a session is when it asks whether something shall go wrong.
struct Situation {
  Phase phase = Phase::connect;
  std::uint64_t connection = 0;
  std::uint64_t transaction = 0;
  std::string_view sender;
  std::span<const std::string> recipients;  // at rcpt the last one is the one asked about
  std::uint64_t body_octets = 0;
};

// The armed faults. Thread-safe; costs one atomic load while nothing is armed.
class FaultPlan {
 public:
  // Returns the fault's id.
  std::uint64_t arm(Fault fault);
  void clear();
  // The first fault that fits, used up once; armed ones come before addresses.
  std::optional<Fault> take(const Situation& situation);
  std::size_t armed() const noexcept { return armed_.load(); }

 private:
  std::mutex mutex_;
  std::vector<Fault> faults_;
  std::atomic<std::size_t> armed_ = 0;
  std::uint64_t last_id_ = 0;
};

}  // namespace mailonce::test
