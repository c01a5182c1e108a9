#include "explanation.h"

#include <algorithm>

#include "addresses.h"

namespace mailonce::cli {
namespace {

using message::Comparison;

void add(std::vector<Judgement>& judgements, const relay::Policy& policy, const std::string& recipient) {
  auto found = std::find_if(judgements.begin(), judgements.end(),
                            [&](const Judgement& judgement) { return judgement.policy == &policy; });
  if (found == judgements.end()) found = judgements.insert(found, {&policy, {}, {}});
  if (!recipient.empty()) found->recipients.push_back(recipient);
}

Verdict on_other_content(const Comparison& comparison, const relay::Policy& policy) {
  const auto& strategy = comparison.a->strategy;
  const bool by_key = strategy.kind == message::Strategy::Kind::key;
  const auto same = "same " + strategy.name() + " with other content: ";
  if (policy.mode == relay::Mode::observe)
    return {true, "duplicate: " + same + "forwarded all the same and logged (mode = \"observe\")"};
  const std::string setting = by_key ? "conflict" : "content_differs";
  switch (policy.conflict_of(strategy.kind)) {
    case relay::Conflict::reject:
      return {false, "distinct: " + same + "refused with 554 5.6.0 (" + setting + " = \"reject\")"};
    case relay::Conflict::forward:
      return {false, "distinct: " + same + "forwarded (" + setting + " = \"forward\")"};
    case relay::Conflict::duplicate:
      break;
  }
  return {true, "duplicate: " + same + "not forwarded (" + setting + " = \"duplicate\")"};
}

bool repeats(const Judgement& later, const Judgement& earlier) {
  if (!later.identity || !earlier.identity) return false;
  if (later.identity->fingerprint != earlier.identity->fingerprint) return false;
  // Another content under the same key is a repeat only where the policy says so.
  return later.identity->content == earlier.identity->content ||
         later.policy->conflict_of(later.identity->strategy.kind) == relay::Conflict::duplicate;
}

}  // namespace

Explained explain(const Mail& mail, const relay::Options& options, const Envelope& envelope) {
  Explained out{&mail, {}};
  const auto sender = envelope.sender ? *envelope.sender : sender_of(mail.octets);
  const auto recipients = envelope.recipients.empty() ? recipients_of(mail.octets) : envelope.recipients;
  const relay::RuleChoice choice(options.rules, options.policy, sender, envelope.user, mail.octets);
  for (const auto& recipient : recipients)
    add(out.judgements, choice.policy_for(recipient), recipient.address.text());
  if (out.judgements.empty()) add(out.judgements, choice.policy_for({}), {});
  for (auto& judgement : out.judgements) {
    if (judgement.policy->mode == relay::Mode::off) continue;
    judgement.identity = message::identify(mail.octets, relay::scope_of(*judgement.policy, envelope.user),
                                           judgement.policy->identity);
  }
  return out;
}

Verdict judge(const Comparison& comparison, const relay::Policy& policy) {
  if (policy.mode == relay::Mode::off) return {false, "distinct: mode = \"off\" forwards everything"};
  switch (comparison.verdict) {
    case Comparison::Verdict::duplicate:
      if (policy.mode == relay::Mode::observe)
        return {true, "duplicate: forwarded all the same and logged (mode = \"observe\")"};
      return {true, "duplicate: the second is answered with the first one's reply"};
    case Comparison::Verdict::other_content:
      return on_other_content(comparison, policy);
    case Comparison::Verdict::no_identity:
      return {false, "distinct: a message without identity is always forwarded"};
    case Comparison::Verdict::distinct:
      break;
  }
  return {false, "distinct: both are forwarded"};
}

std::optional<std::size_t> first_of(const std::vector<Explained>& all, std::size_t index) {
  for (std::size_t i = 0; i < index; ++i) {
    for (const auto& later : all[index].judgements) {
      const auto repeated = [&](const Judgement& earlier) { return repeats(later, earlier); };
      if (std::any_of(all[i].judgements.begin(), all[i].judgements.end(), repeated)) return i;
    }
  }
  return std::nullopt;
}

}  // namespace mailonce::cli
