#include "mailonce/relay/claiming.h"

#include <algorithm>

namespace mailonce::relay {
namespace {

using window::Verdict;
using What = Finding::What;

// Polling across processes; inside this one the window wakes us.
constexpr milliseconds first_pause{20};
constexpr milliseconds longest_pause{1000};

What what_of(Verdict verdict) {
  return verdict == Verdict::duplicate ? What::duplicate : What::claimed;
}

}  // namespace

Claiming::Claiming(const Relay& relay, std::span<const Lot> lots, std::span<const smtp::Recipient> recipients)
    : relay_(relay), lots_(lots), digests_(recipients.size()), other_content_(recipients.size(), false) {
  for (const auto& lot : lots) {
    for (const auto i : lot.recipients) {
      digests_[i] =
          message::recipient_digest(recipients[i].address.normalized(), lot.policy->identity.secret);
    }
  }
}

std::vector<Claiming::Group> Claiming::groups() const {
  std::vector<Group> out;
  for (const auto& lot : lots_) {
    if (!lot.identity) continue;
    Group own{&lot, lot.identity->fingerprint, true, {}};
    Group other{&lot, {}, false, {}};
    for (const auto i : lot.recipients) (other_content_[i] ? other : own).recipients.push_back(i);
    if (!own.recipients.empty()) out.push_back(std::move(own));
    if (other.recipients.empty()) continue;
    other.fingerprint = message::fingerprint_of_other_content(*lot.identity, lot.policy->identity.secret);
    out.push_back(std::move(other));
  }
  return out;
}

window::ClaimRequest Claiming::request(const Group& group) const {
  const auto& policy = *group.lot->policy;
  const auto& identity = *group.lot->identity;
  window::ClaimRequest request;
  request.fingerprint = group.fingerprint;
  for (const auto i : group.recipients) {
    // A recipient named twice in one envelope has one record.
    if (std::find(request.recipients.begin(), request.recipients.end(), digests_[i]) ==
        request.recipients.end()) {
      request.recipients.push_back(digests_[i]);
    }
  }
  request.content = identity.content.base64url();
  request.message_id = identity.message_id;
  request.doubt = policy.doubt;
  request.store_down = policy.store_down;
  request.window = policy.window_of(identity.strategy.kind);
  request.slide_cap = policy.slide_cap;
  return request;
}

awaitable<Claiming::End> Claiming::claim(milliseconds wait, const std::function<bool()>& left) {
  const auto until = SteadyClock::now() + wait;
  auto pause = first_pause;
  for (;;) {
    auto passed = co_await pass();
    switch (passed) {
      case Pass::held:
        co_return End::decided;
      case Pass::store_down:
        co_return End::store_down;
      case Pass::in_doubt:
        co_return End::in_doubt;
      case Pass::conflict:
        co_return End::conflict;
      case Pass::regrouped:
        continue;
      case Pass::busy:
        break;
    }
    const auto remaining = std::chrono::duration_cast<milliseconds>(until - SteadyClock::now());
    if (remaining <= milliseconds(0) || relay_.stopping) co_return End::busy;
    co_await relay_.window.changed(blocked_on_, std::min(pause, remaining));
    if (left && left()) co_return End::abandoned;
    pause = std::min(pause * 2, longest_pause);
  }
}

// One try over all groups; anything but `held` leaves nothing claimed, so nobody waits while holding (§4).
awaitable<Claiming::Pass> Claiming::pass() {
  findings_.assign(digests_.size(), {});
  for (const auto& lot : lots_) {
    if (lot.identity) continue;
    for (const auto i : lot.recipients)
      findings_[i].reason = lot.policy->mode == Mode::off ? "mode_off" : "no_identity";
  }
  const auto all = groups();
  for (const auto& group : all) {
    auto result = co_await claim_group(group);
    if (result == Pass::held) continue;
    if (group.lot->observes() && result != Pass::regrouped) {
      observe(group, result);
      continue;
    }
    co_await release();
    co_return result;
  }
  co_return Pass::held;
}

awaitable<Claiming::Pass> Claiming::claim_group(const Group& group) {
  auto wanted = request(group);
  auto answer = co_await relay_.window.claim(std::move(wanted));
  if (!answer) co_return Pass::store_down;
  spread(group, *answer);
  if (answer->claim) claims_.push_back({std::move(answer->claim), group.lot->observes()});
  const auto judged = judge(group, *answer);
  co_return judged;
}

// The answer is for unique digests, in order of appearance.
void Claiming::spread(const Group& group, const window::ClaimAnswer& answer) {
  std::vector<std::string_view> order;
  for (const auto i : group.recipients) {
    const auto at = std::find(order.begin(), order.end(), digests_[i]);
    const auto index = static_cast<std::size_t>(at - order.begin());
    if (at == order.end()) order.push_back(digests_[i]);
    auto& finding = findings_[i];
    finding.record = answer.verdicts.at(index);
    finding.what = what_of(finding.record.verdict);
    finding.now = answer.now;
    finding.source = answer.source;
    if (!group.lot->observes() || finding.what != What::duplicate) continue;
    finding.what = What::unclaimed;
    finding.would_drop = true;
    finding.reason = "observed";
  }
}

Claiming::Pass Claiming::judge(const Group& group, const window::ClaimAnswer& answer) {
  if (answer.busy) {
    blocked_on_ = group.fingerprint;
    for (const auto i : group.recipients) {
      const auto& found = findings_[i].record;
      if (found.verdict == Verdict::busy && found.after_doubt) return Pass::in_doubt;
    }
    return Pass::busy;
  }
  const auto& identity = *group.lot->identity;
  if (!group.own || identity.strategy.kind == message::Strategy::Kind::content) return Pass::held;

  // Other content under the same key is never dropped in silence (P3).
  const auto policy = group.lot->policy->conflict_of(identity.strategy.kind);
  const auto content = identity.content.base64url();
  bool regroup = false;
  for (const auto i : group.recipients) {
    const auto& found = findings_[i].record;
    const bool known = found.verdict == Verdict::duplicate || found.after_doubt;
    if (!known || found.record.content == content) continue;
    if (found.record.unreadable) {  // of what content nobody can tell: neither dropped nor refused
      if (found.verdict == Verdict::duplicate && !group.lot->observes()) return Pass::in_doubt;
      continue;
    }
    findings_[i].content_differs = true;
    if (policy == Conflict::reject && !group.lot->observes()) return Pass::conflict;
    if (policy == Conflict::forward) {
      other_content_[i] = true;
      regroup = true;
    }
  }
  return regroup ? Pass::regrouped : Pass::held;
}

// Nothing is held for the group, and it is sent all the same.
void Claiming::observe(const Group& group, Pass met) {
  for (const auto i : group.recipients) {
    auto& finding = findings_[i];
    finding.what = What::unclaimed;
    finding.would_drop = met != Pass::store_down;
    finding.reason = met == Pass::store_down ? "store_down" : "observed";
  }
}

bool Claiming::any_to_send() const noexcept {
  return std::any_of(findings_.begin(), findings_.end(),
                     [](const auto& finding) { return finding.what != What::duplicate; });
}

bool Claiming::any_duplicate() const noexcept {
  return std::any_of(findings_.begin(), findings_.end(),
                     [](const auto& finding) { return finding.what == What::duplicate; });
}

std::string Claiming::first_message_id() const {
  std::string first;
  for (const auto& finding : findings_) {
    if (finding.what != What::claimed || !finding.record.after_doubt) continue;
    const auto& id = finding.record.record.message_id;
    // Under the first one's id a receiver could discard what is another message.
    if (finding.content_differs || id.empty()) return {};
    if (!first.empty() && first != id) return {};
    first = id;
  }
  return first;
}

awaitable<Result<window::Begun>> Claiming::begin(std::string message_id) {
  for (const auto& held : claims_) {
    auto begun = co_await held.claim->begin(message_id);
    if (held.observed) continue;  // forwards everything, whatever the store says
    if (!begun) co_return begun;
    if (*begun == window::Begun::lost) co_return begun;
  }
  co_return window::Begun::sending;
}

awaitable<void> Claiming::commit(smtp::Reply reply, std::string upstream) {
  for (const auto& held : claims_) {
    try {
      co_await held.claim->commit(reply, upstream);
    } catch (const std::exception& failure) {
      // After the upstream's 2xx nothing turns it into a failure (P5).
      relay_.log.event(observe::Level::error, "commit_failed", failure.what());
    }
  }
  claims_.clear();
}

awaitable<void> Claiming::release() {
  for (const auto& held : claims_) co_await held.claim->release();
  claims_.clear();
}

awaitable<void> Claiming::doubt() {
  for (const auto& held : claims_) co_await held.claim->doubt();
  claims_.clear();
}

}  // namespace mailonce::relay
