#include "mailonce/relay/rules.h"

#include <algorithm>

#include "mailonce/base/encoding.h"
#include "mailonce/message/header_fields.h"
#include "mailonce/message/header_value.h"

namespace mailonce::relay {
namespace {

using Patterns = std::vector<message::Pattern>;

bool any_matches(const Patterns& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const auto& p) { return p.matches(text); });
}

bool met_by_header(const Match::Header& wanted, std::string_view message) {
  message::HeaderScanner scanner(message);
  message::HeaderField field;
  while (scanner.next(field)) {
    if (!equals_ignoring_case(wanted.name, field.name)) continue;
    const auto value = message::read_header_value(field.value, message::FieldSyntax::unstructured);
    if (any_matches(wanted.patterns, value.text)) return true;
  }
  return false;
}

bool met_by_message(const Match& match, const smtp::Sender& sender, std::string_view user,
                    std::string_view message) {
  if (!match.credentials.empty() && (user.empty() || !any_matches(match.credentials, user))) return false;
  if (!match.senders.empty() && !any_matches(match.senders, sender.address.normalized())) return false;
  return std::all_of(match.headers.begin(), match.headers.end(),
                     [&](const auto& wanted) { return met_by_header(wanted, message); });
}

}  // namespace

RuleChoice::RuleChoice(const std::vector<Rule>& rules, const Policy& otherwise, const smtp::Sender& sender,
                       std::string_view user, std::string_view message)
    : otherwise_(otherwise) {
  for (const auto& rule : rules) {
    if (met_by_message(rule.match, sender, user, message)) met_.push_back(&rule);
  }
}

const Policy& RuleChoice::policy_for(const smtp::Recipient& recipient) const {
  // As records are kept: two spellings of one recipient fall under one rule.
  const auto address = met_.empty() ? std::string() : recipient.address.normalized();
  for (const auto* rule : met_) {
    if (rule->match.recipients.empty() || any_matches(rule->match.recipients, address)) return rule->policy;
  }
  return otherwise_;
}

}  // namespace mailonce::relay
