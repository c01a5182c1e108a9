// What goes upstream: the message, octet for octet, but for the two exceptions to P4 that the policies allow.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/message/identity.h"
#include "mailonce/relay/options.h"

namespace mailonce::relay {

// The Message-ID it carries then; empty when it has none.
std::string_view outgoing_message_id(const message::HeaderFacts& facts, std::string_view first_id);

// The message as pieces, one after the other.
// - With `first_id`, that stands in place of its own Message-ID: a receiver that recognises Message-IDs can
// then
//   discard a copy sent twice (DESIGN.md §4). Not when the message is DKIM-signed, or when the id could not
//   stand in a header field. `first_id` must outlive the pieces.
// - With `strip_key_header`, the idempotency key's fields are left out (§5).
std::vector<std::string_view> outgoing(std::string_view message, const message::HeaderFacts& facts,
                                       std::string_view first_id, const Options& options);

}  // namespace mailonce::relay
