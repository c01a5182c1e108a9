#include "record_filter.h"

#include <algorithm>
#include <ostream>

#include "mailonce/smtp/address.h"

namespace mailonce::cli {
namespace {

using message::Strategy;

constexpr std::size_t fewest_digits = 8;  // of a fingerprint: fewer mean others, too

void add_keys(const std::string& key, const relay::Policy& policy, const std::string& user,
              std::vector<Digest>& fingerprints) {
  for (const auto& strategy : policy.identity.strategies) {
    if (strategy.kind != Strategy::Kind::key && strategy.kind != Strategy::Kind::header) continue;
    fingerprints.push_back(
        message::fingerprint_of_value(key, scope_of(policy, user), strategy, policy.identity.secret));
  }
}

std::string_view without_brackets(std::string_view id) {
  if (id.starts_with('<') && id.ends_with('>')) return id.substr(1, id.size() - 2);
  return id;
}

}  // namespace

bool in_doubt(const window::Record& record, TimePoint now) {
  constexpr std::string_view nobody = "-";  // no owner's token: theirs are longer
  return window::classify(record, nobody, now) == window::Class::doubt;
}

std::optional<RecordFilter> RecordFilter::make(const RecordsWanted& wanted, const relay::Options& options,
                                               Streams streams) {
  RecordFilter filter;
  filter.wanted_ = wanted;
  if (!wanted.fingerprint.empty() && wanted.fingerprint.size() < fewest_digits) {
    streams.err << "mailonce: --fingerprint " << wanted.fingerprint
                << ": is too short to mean one message; write at least its first 8 characters\n";
    return std::nullopt;
  }
  if (!wanted.recipient.empty()) {
    const auto address = smtp::Address::parse_forward_path("<" + wanted.recipient + ">");
    if (!address) {
      streams.err << "mailonce: --recipient " << wanted.recipient
                  << ": is not an address; write it as in a@example.com\n";
      return std::nullopt;
    }
    filter.recipient_ = message::recipient_digest(address->normalized(), options.policy.identity.secret);
  }
  if (!wanted.key.empty()) {
    add_keys(wanted.key, options.policy, wanted.user, filter.key_fingerprints_);
    for (const auto& rule : options.rules)
      add_keys(wanted.key, rule.policy, wanted.user, filter.key_fingerprints_);
  }
  return filter;
}

bool RecordFilter::matches(const window::StoredRecord& stored, TimePoint now) const {
  const auto& keys = key_fingerprints_;
  if (!wanted_.fingerprint.empty() && !stored.fingerprint.base64url().starts_with(wanted_.fingerprint))
    return false;
  if (!recipient_.empty() && stored.recipient != recipient_) return false;
  if (!wanted_.key.empty() && std::find(keys.begin(), keys.end(), stored.fingerprint) == keys.end())
    return false;
  if (!wanted_.message_id.empty() &&
      without_brackets(stored.record.message_id) != without_brackets(wanted_.message_id))
    return false;
  return !wanted_.doubt || in_doubt(stored.record, now);
}

}  // namespace mailonce::cli
