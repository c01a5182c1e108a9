// The policies of a transaction (DESIGN.md §4, §5, §8). Filled by config; immutable while the relay runs.
#pragma once
#include <string>

#include "mailonce/base/clock.h"
#include "mailonce/message/identity.h"
#include "mailonce/window/window.h"

namespace mailonce::relay {

// enforce: repeats are answered from the record. observe: everything is forwarded and what would have been
// dropped is logged. off: no claims at all.
enum class Mode { enforce, observe, off };

// The same key (or Message-ID) with other content: refuse with 554 5.6.0, forward it under a record of its
// own, or treat it as a duplicate all the same.
enum class Conflict { reject, forward, duplicate };

struct Options {
  Mode mode = Mode::enforce;
  message::IdentityOptions identity;
  std::string scope = "default";                // part of every fingerprint
  std::string rule = "default";                 // named in the log
  milliseconds content_window = seconds(7200);  // longer than Celery's one-hour redelivery
  milliseconds key_window = seconds(86400);
  milliseconds message_id_window = seconds(86400);  // and header:NAME
  Conflict key_conflict = Conflict::reject;
  Conflict message_id_conflict = Conflict::duplicate;  // the operator's own choice of strategy; logged
  window::DoubtPolicy doubt = window::DoubtPolicy::resend;
  window::StoreDownPolicy store_down = window::StoreDownPolicy::local;
  milliseconds wait = seconds(30);        // for another attempt's outcome, then 451 4.4.5
  bool resend_first_message_id = true;    // after doubt, unless DKIM-signed (§4)
  bool strip_key_header = false;          // remove the idempotency key's field on the way upstream
  std::size_t max_received_fields = 100;  // 554 5.4.6 beyond (RFC 5321 §6.3)
  // A message larger than this is fingerprinted on a thread of its own, so that its worker's sessions go on.
  std::size_t offload_octets = 256 * 1024;
};

}  // namespace mailonce::relay
