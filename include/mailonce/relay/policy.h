// What may be decided differently for a part of the mail (DESIGN.md §4, §5). Filled by config; immutable
// while the relay runs.
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

struct Policy {
  std::string rule = "default";  // named in the log
  Mode mode = Mode::enforce;
  message::IdentityOptions identity;
  std::string scope = "default";                // part of every fingerprint
  milliseconds content_window = seconds(7200);  // longer than Celery's one-hour redelivery
  milliseconds key_window = seconds(86400);
  milliseconds message_id_window = seconds(86400);  // and header:NAME
  // Zero: a window runs from the first. Else every repeat starts it anew, up to so long after the first.
  milliseconds slide_cap{0};
  Conflict key_conflict = Conflict::reject;
  Conflict message_id_conflict = Conflict::duplicate;  // the operator's own choice of strategy; logged
  window::DoubtPolicy doubt = window::DoubtPolicy::resend;
  window::StoreDownPolicy store_down = window::StoreDownPolicy::local;

  milliseconds window_of(message::Strategy::Kind kind) const noexcept;
  Conflict conflict_of(message::Strategy::Kind kind) const noexcept;
};

// What a credential's fingerprints are in under `policy`; empty: of clients that did not log in.
std::string scope_of(const Policy& policy, std::string_view credential);

}  // namespace mailonce::relay
