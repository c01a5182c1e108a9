// One decision about one or more recipients of a transaction, as it is logged (P7). Plain data; observe::Log
// writes it.
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mailonce/base/clock.h"
#include "mailonce/smtp/reply.h"

namespace mailonce::observe {

enum class Outcome {
  forwarded,  // the upstream accepted it
  duplicate,  // answered from the record
  refused,    // the upstream (or a policy of ours) said 5xx
  deferred,   // 4xx: the client shall try again
  doubt,      // the dot was sent and no reply came
};

// How long each step took; negative: the step did not happen. Microseconds, because on a warm connection most
// steps take less than a millisecond.
struct Steps {
  std::chrono::microseconds receive{-1};  // DATA to end of data
  std::chrono::microseconds fingerprint{-1};
  std::chrono::microseconds claim{-1};     // with waiting
  std::chrono::microseconds envelope{-1};  // MAIL and RCPT at the upstream
  std::chrono::microseconds send{-1};      // DATA to the final reply
  std::chrono::microseconds commit{-1};
  std::chrono::microseconds total{-1};  // MAIL to final reply
};

struct Decision {
  Outcome outcome = Outcome::deferred;
  std::string reason;   // a stable word: new, after_doubt, in_window, upstream_refused, store_down, …
  std::string session;  // id of the client's session
  std::string client;   // address of the client
  std::string user;     // as which it logged in; empty: it did not
  std::string sender;   // envelope sender; hashed or cut by the log as configured
  std::vector<std::string> recipients;
  std::string message_id;
  std::string fingerprint;  // base64url; empty: the message has no identity
  std::string strategy;
  std::string rule;
  std::string source;                     // store, local, unasked
  bool possible_duplicate = false;        // sent again after doubt
  bool content_differs = false;           // same Message-ID or key, other content
  bool would_drop = false;                // observe mode: enforce would have answered from the record
  std::optional<milliseconds> first_age;  // duplicate: how long ago the first was sent
  std::string first_message_id;
  std::string upstream;
  smtp::Reply reply;  // what the client is told
  std::uint64_t octets = 0;
  Steps steps;
};

}  // namespace mailonce::observe
