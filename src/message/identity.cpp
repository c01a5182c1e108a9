#include "mailonce/message/identity.h"

#include <algorithm>
#include <array>

#include "mailonce/base/encoding.h"
#include "mailonce/message/canonical_form.h"
#include "mailonce/message/charset.h"
#include "mailonce/message/hashing_sink.h"
#include "mailonce/message/header_fields.h"

namespace mailonce::message {
namespace {

// The value of the fields a strategy takes.
struct Taken {
  bool present = false;
  bool usable = true;  // one value, however often it stands there
  std::string value;
};

constexpr std::size_t longest_key = 256;
constexpr std::size_t longest_value = 998;  // a line (RFC 5322 §2.1.1)

bool is_usable(std::string_view value, std::size_t longest) {
  const auto printable = [](char c) { return static_cast<unsigned char>(c) >= ' ' && c != 127; };
  return !value.empty() && value.size() <= longest && is_utf8(value) &&
         std::all_of(value.begin(), value.end(), printable);
}

template <class Names>
Taken take(std::string_view message, const Names& names, std::size_t longest) {
  Taken taken;
  std::string scratch;
  HeaderScanner scanner(message);
  HeaderField field;
  while (scanner.next(field)) {
    const auto is = [&](std::string_view name) { return equals_ignoring_case(name, field.name); };
    if (std::none_of(names.begin(), names.end(), is)) continue;
    const auto value = unfold(field.value, scratch);
    taken.usable = taken.usable && is_usable(value, longest) && (!taken.present || taken.value == value);
    if (!taken.present) taken.value = value;
    taken.present = true;
  }
  return taken;
}

Taken take(std::string_view message, const Strategy& strategy, const IdentityOptions& options) {
  switch (strategy.kind) {
    case Strategy::Kind::key:
      return take(message, options.key_headers, longest_key);
    case Strategy::Kind::message_id:
      return take(message, std::array<std::string_view, 1>{"Message-ID"}, longest_value);
    case Strategy::Kind::header:
      return take(message, std::array<std::string_view, 1>{strategy.header}, longest_value);
    case Strategy::Kind::content:
      break;
  }
  return {};
}

// Each kind of digest begins with a label of its own, so one can never be mistaken for another.
Hasher labelled(std::string_view label, std::string_view secret) {
  Hasher hasher(secret);
  hasher.update_framed(label);
  hasher.update_framed(canonical_form_version);
  return hasher;
}

std::string_view octets(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

Digest content_digest(std::string_view message, std::string_view scope, const IdentityOptions& options) {
  auto hasher = labelled("mailonce content", options.secret);
  hasher.update_framed(scope);
  HashingSink sink(hasher);
  write_canonical_form(message, options, sink);
  sink.flush();
  return hasher.finish();
}

}  // namespace

HeaderFacts scan_header(std::string_view message) {
  HeaderFacts facts;
  std::string scratch;
  std::size_t message_ids = 0;
  HeaderScanner scanner(message);
  HeaderField field;
  while (scanner.next(field)) {
    const auto is = [&](std::string_view name) { return equals_ignoring_case(name, field.name); };
    if (is("Received")) ++facts.received_fields;
    if (is("DKIM-Signature")) facts.dkim_signed = true;
    if (!is("Message-ID") || ++message_ids > 1) continue;
    const auto value = trim(field.value);
    facts.message_id = unfold(value, scratch);
    if (!value.empty())
      facts.message_id_value = Extent{static_cast<std::size_t>(value.data() - message.data()), value.size()};
  }
  if (message_ids > 1) {
    facts.message_id.clear();
    facts.message_id_value.reset();
  }
  return facts;
}

std::optional<Identity> identify(std::string_view message, std::string_view scope,
                                 const IdentityOptions& options) {
  for (const auto& strategy : options.strategies) {
    const bool by_content = strategy.kind == Strategy::Kind::content;
    const auto taken = take(message, strategy, options);
    if (!by_content && !taken.present) continue;
    // A key that can not be used says that the application meant one: guessing another identity is not ours.
    if (!taken.usable) return std::nullopt;

    Identity identity;
    identity.strategy = strategy;
    identity.content = content_digest(message, scope, options);
    const std::string_view value = by_content ? octets(identity.content) : std::string_view(taken.value);
    identity.fingerprint = fingerprint_of_value(value, scope, strategy, options.secret);
    auto facts = scan_header(message);
    identity.message_id = std::move(facts.message_id);
    identity.message_id_value = facts.message_id_value;
    identity.dkim_signed = facts.dkim_signed;
    identity.received_fields = facts.received_fields;
    return identity;
  }
  return std::nullopt;
}

Digest fingerprint_of_value(std::string_view value, std::string_view scope, const Strategy& strategy,
                            std::string_view secret) {
  auto hasher = labelled("mailonce fingerprint", secret);
  hasher.update_framed(scope);
  hasher.update_framed(strategy.name());
  hasher.update_framed(value);
  return hasher.finish();
}

Digest fingerprint_of_other_content(const Identity& identity, std::string_view secret) {
  auto hasher = labelled("mailonce other content", secret);
  hasher.update_framed(octets(identity.fingerprint));
  hasher.update_framed(octets(identity.content));
  return hasher.finish();
}

std::string recipient_digest(std::string_view normalized_address, std::string_view secret) {
  constexpr std::size_t octets_kept = 16;
  auto hasher = labelled("mailonce recipient", secret);
  hasher.update_framed(normalized_address);
  return hasher.finish().base64url(octets_kept);
}

}  // namespace mailonce::message
