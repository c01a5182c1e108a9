// Which message is this? Strategies, content fingerprint and fingerprint (DESIGN.md §5). Pure: no I/O, no
// clock.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/base/digest.h"
#include "mailonce/message/canonical_options.h"

namespace mailonce::message {

// How the identity is formed. `header` names the field for the strategy header:NAME.
struct Strategy {
  enum class Kind { key, content, message_id, header } kind = Kind::content;
  std::string header;

  // "key", "content", "message-id" or "header:NAME"; nothing when it is none of these.
  static std::optional<Strategy> parse(std::string_view name);
  std::string name() const;
  bool operator==(const Strategy&) const = default;
};

struct IdentityOptions : CanonicalOptions {
  std::vector<Strategy> strategies = {{Strategy::Kind::key, {}},
                                      {Strategy::Kind::content, {}}};  // first that applies
  std::vector<std::string> key_headers = {"Idempotency-Key", "X-Idempotency-Key", "Resend-Idempotency-Key"};
  std::string secret;  // non-empty: fingerprints are keyed hashes
};

// A place in the message, in octets from its start.
struct Extent {
  std::size_t offset = 0;
  std::size_t length = 0;
};

struct Identity {
  Strategy strategy;
  Digest fingerprint;  // of scope, canonical form version, strategy and what the strategy takes
  Digest content;  // of the canonical form alone (with scope and secret); kept beside keys and Message-IDs
  std::string message_id;  // the Message-ID field's value, unfolded; empty when absent or repeated
  std::optional<Extent> message_id_value;  // where its value stands, for the resend after doubt (§4)
  bool dkim_signed = false;
  std::size_t received_fields = 0;  // for the loop check (RFC 5321 §6.3)
};

// The fingerprint of a message whose identity is a key, Message-ID or header: `value` under that strategy.
Digest fingerprint_of_value(std::string_view value, std::string_view scope, const Strategy& strategy,
                            std::string_view secret);

// The fingerprint of the other content when a key is reused and `conflict` is "forward" (§5): its own record.
Digest fingerprint_of_other_content(const Identity& identity, std::string_view secret);

// The digest under which a record of this recipient is kept: base64url, 22 characters.
std::string recipient_digest(std::string_view normalized_address, std::string_view secret);

// Forms the identity of `message` (header and body as sent, CRLF line ends). `scope` is what identities never
// collide across (rule, credential). Nothing when no strategy applies or the message has no identity at all:
// it is then never a duplicate. Time is linear in the message, memory bounded by it.
std::optional<Identity> identify(std::string_view message, std::string_view scope,
                                 const IdentityOptions& options);

// What a transaction needs to know of a message even when it has no identity.
struct HeaderFacts {
  std::string message_id;
  std::optional<Extent> message_id_value;
  bool dkim_signed = false;
  std::size_t received_fields = 0;
};
HeaderFacts scan_header(std::string_view message);

}  // namespace mailonce::message
