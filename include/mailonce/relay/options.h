// How the relay decides and what it sends (DESIGN.md §4, §5, §8). Filled by config; immutable while the relay
// runs.
#pragma once
#include <vector>

#include "mailonce/base/clock.h"
#include "mailonce/relay/policy.h"
#include "mailonce/relay/route.h"
#include "mailonce/relay/rules.h"

namespace mailonce::relay {

struct Options {
  Policy policy;            // for what no rule matches
  std::vector<Rule> rules;  // the first that matches decides
  std::vector<Route> routes;

  milliseconds wait = seconds(30);        // for another attempt's outcome, then 451 4.4.5
  bool resend_first_message_id = true;    // after doubt, unless DKIM-signed (§4)
  bool strip_key_header = false;          // remove the idempotency key's field on the way upstream
  std::size_t max_received_fields = 100;  // 554 5.4.6 beyond (RFC 5321 §6.3)
  // A message larger than this is fingerprinted on a thread of its own, so that its worker's sessions go on.
  std::size_t offload_octets = 256 * 1024;
};

}  // namespace mailonce::relay
