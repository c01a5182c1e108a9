#include "mailonce/relay/claiming.h"

#include <algorithm>

namespace mailonce::relay {
namespace {

using window::Verdict;

// Polling across processes; inside this one the window wakes us.
constexpr milliseconds first_pause{20};
constexpr milliseconds longest_pause{1000};

}  // namespace

Claiming::Claiming(const Relay& relay, const message::Identity& identity,
                   std::span<const smtp::Recipient> recipients)
    : relay_(relay),
      identity_(identity),
      other_content_(recipients.size(), false),
      differs_(recipients.size(), false) {
  digests_.reserve(recipients.size());
  for (const auto& recipient : recipients) {
    digests_.push_back(
        message::recipient_digest(recipient.address.normalized(), relay.options.identity.secret));
  }
}

milliseconds Claiming::window_length() const noexcept {
  switch (identity_.strategy.kind) {
    case message::Strategy::Kind::content:
      return relay_.options.content_window;
    case message::Strategy::Kind::key:
      return relay_.options.key_window;
    case message::Strategy::Kind::message_id:
    case message::Strategy::Kind::header:
      return relay_.options.message_id_window;
  }
  return relay_.options.content_window;
}

Conflict Claiming::conflict_policy() const noexcept {
  return identity_.strategy.kind == message::Strategy::Kind::key ? relay_.options.key_conflict
                                                                 : relay_.options.message_id_conflict;
}

std::vector<Claiming::Group> Claiming::groups() const {
  Group own{identity_.fingerprint, {}};
  Group other{{}, {}};
  for (std::size_t i = 0; i < digests_.size(); ++i) (other_content_[i] ? other : own).recipients.push_back(i);
  std::vector<Group> out;
  if (!own.recipients.empty()) out.push_back(std::move(own));
  if (!other.recipients.empty()) {
    other.fingerprint = message::fingerprint_of_other_content(identity_, relay_.options.identity.secret);
    out.push_back(std::move(other));
  }
  return out;
}

window::ClaimRequest Claiming::request(const Group& group) const {
  window::ClaimRequest request;
  request.fingerprint = group.fingerprint;
  for (const auto i : group.recipients) {
    // A recipient named twice in one envelope has one record.
    if (std::find(request.recipients.begin(), request.recipients.end(), digests_[i]) ==
        request.recipients.end()) {
      request.recipients.push_back(digests_[i]);
    }
  }
  request.content = identity_.content.base64url();
  request.message_id = identity_.message_id;
  request.doubt = relay_.options.doubt;
  request.store_down = relay_.options.store_down;
  request.window = window_length();
  return request;
}

awaitable<Claiming::End> Claiming::claim(milliseconds wait) {
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
    const auto left = std::chrono::duration_cast<milliseconds>(until - SteadyClock::now());
    if (left <= milliseconds(0) || relay_.stopping) co_return End::busy;
    co_await relay_.window.changed(blocked_on_, std::min(pause, left));
    pause = std::min(pause * 2, longest_pause);
  }
}

// One try over all groups; anything but `held` leaves nothing claimed, so nobody waits while holding (§4).
awaitable<Claiming::Pass> Claiming::pass() {
  verdicts_.assign(digests_.size(), {});
  std::fill(differs_.begin(), differs_.end(), false);
  const auto all = groups();
  for (const auto& group : all) {
    const bool own = group.fingerprint == identity_.fingerprint;
    auto result = co_await claim_group(group, own);
    if (result == Pass::held) continue;
    co_await release();
    co_return result;
  }
  co_return Pass::held;
}

awaitable<Claiming::Pass> Claiming::claim_group(const Group& group, bool own) {
  auto wanted = request(group);
  auto answer = co_await relay_.window.claim(std::move(wanted));
  if (!answer) co_return Pass::store_down;
  now_ = answer->now;
  source_ = answer->source;
  if (answer->claim) claims_.push_back(std::move(answer->claim));
  const auto judged = judge(group, own, *answer);
  co_return judged;
}

Claiming::Pass Claiming::judge(const Group& group, bool own, const window::ClaimAnswer& answer) {
  std::vector<std::string> order;  // the request's: unique digests in order of appearance
  for (const auto i : group.recipients) {
    auto at = std::find(order.begin(), order.end(), digests_[i]);
    const auto index = static_cast<std::size_t>(at - order.begin());
    if (at == order.end()) order.push_back(digests_[i]);
    verdicts_[i] = answer.verdicts.at(index);
  }
  if (answer.busy) {
    blocked_on_ = group.fingerprint;
    for (const auto i : group.recipients) {
      if (verdicts_[i].verdict == Verdict::busy && verdicts_[i].after_doubt) return Pass::in_doubt;
    }
    return Pass::busy;
  }
  if (!own || identity_.strategy.kind == message::Strategy::Kind::content) return Pass::held;

  // Other content under the same key is never dropped in silence (P3).
  const auto content = identity_.content.base64url();
  bool regroup = false;
  for (const auto i : group.recipients) {
    const bool known = verdicts_[i].verdict == Verdict::duplicate || verdicts_[i].after_doubt;
    if (!known || verdicts_[i].record.unreadable || verdicts_[i].record.content == content) continue;
    differs_[i] = true;
    if (conflict_policy() == Conflict::reject && relay_.options.mode == Mode::enforce) return Pass::conflict;
    if (conflict_policy() == Conflict::forward) {
      other_content_[i] = true;
      regroup = true;
    }
  }
  return regroup ? Pass::regrouped : Pass::held;
}

bool Claiming::any_mine() const noexcept {
  return std::any_of(verdicts_.begin(), verdicts_.end(),
                     [](const auto& v) { return v.verdict == Verdict::mine; });
}

bool Claiming::any_duplicate() const noexcept {
  return std::any_of(verdicts_.begin(), verdicts_.end(),
                     [](const auto& v) { return v.verdict == Verdict::duplicate; });
}

std::string Claiming::first_message_id() const {
  std::string first;
  for (std::size_t i = 0; i < verdicts_.size(); ++i) {
    const auto& v = verdicts_[i];
    if (v.verdict != Verdict::mine || !v.after_doubt) continue;
    // Under the first one's id a receiver could discard what is another message.
    if (differs_[i] || v.record.message_id.empty()) return {};
    if (!first.empty() && first != v.record.message_id) return {};
    first = v.record.message_id;
  }
  return first;
}

awaitable<Result<window::Begun>> Claiming::begin() {
  for (const auto& claim : claims_) {
    auto begun = co_await claim->begin();
    if (!begun) co_return begun;
    if (*begun == window::Begun::lost) co_return begun;
  }
  co_return window::Begun::sending;
}

awaitable<void> Claiming::commit(smtp::Reply reply, std::string upstream) {
  for (const auto& claim : claims_) {
    try {
      co_await claim->commit(reply, upstream);
    } catch (const std::exception& failure) {
      // After the upstream's 2xx nothing turns it into a failure (P5).
      relay_.log.event(observe::Level::error, "commit_failed", failure.what());
    }
  }
  claims_.clear();
}

awaitable<void> Claiming::release() {
  for (const auto& claim : claims_) co_await claim->release();
  claims_.clear();
}

awaitable<void> Claiming::doubt() {
  for (const auto& claim : claims_) co_await claim->doubt();
  claims_.clear();
}

}  // namespace mailonce::relay
