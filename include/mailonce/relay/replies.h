// The replies mailonce itself gives in a transaction (DESIGN.md §7). A failure becomes a reply here and
// nowhere else; the default is 4xx, never 5xx and never 2xx: a network error must not bounce a mail.
#pragma once
#include "mailonce/base/result.h"
#include "mailonce/smtp/reply.h"

namespace mailonce::relay {

// For an error of the upstream before the final dot: nothing was sent, a retry is safe.
smtp::Reply reply_to_upstream_error(const error_code& error);

smtp::Reply store_down_reply();       // 451 4.3.0
smtp::Reply still_undecided_reply();  // 451 4.4.5: another attempt on the same message has not ended
smtp::Reply outcome_unknown_reply();  // 451 4.4.2: doubt
smtp::Reply suppressed_reply();       // 250 2.0.0: doubt under `suppress`, 2xx for what is not known (P1)
smtp::Reply key_reused_reply();       // 554 5.6.0
smtp::Reply mail_loop_reply();        // 554 5.4.6
smtp::Reply local_storage_reply();    // 452 4.3.1: the spool took no more (RFC 5321 §4.2.2)
smtp::Reply internal_error_reply();   // 451 4.3.0

}  // namespace mailonce::relay
