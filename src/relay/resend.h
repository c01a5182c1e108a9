// Details of a decision: the Message-ID of a resend, and what the log says of the first attempt.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/message/identity.h"
#include "mailonce/observe/decision.h"
#include "mailonce/relay/claiming.h"

namespace mailonce::relay {

// The message as pieces, with `first_id` in place of its own Message-ID: a receiver that recognises
// Message-IDs can then discard a copy sent twice (DESIGN.md §4). Unchanged when there is none, when the
// message is DKIM-signed, or when the id could not stand in a header field. `first_id` must outlive the
// pieces.
std::vector<std::string_view> with_message_id(std::string_view message, const message::Identity& identity,
                                              const std::string& first_id);

void describe_first(observe::Decision& line, const window::RecipientVerdict& verdict, TimePoint now);
void describe_claim(observe::Decision& line, const Claiming& claiming);

// `suppress`: 2xx for what is not known, because the operator chose so (P1).
smtp::Reply suppressed_reply();

}  // namespace mailonce::relay
