#include "mailonce/relay/transaction.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "begin_gate.h"
#include "mailonce/relay/replies.h"
#include "outgoing.h"

namespace mailonce::relay {

using observe::Outcome;
using std::chrono::microseconds;

namespace {

microseconds since(SteadyClock::time_point start) {
  return std::chrono::duration_cast<microseconds>(SteadyClock::now() - start);
}

message::HeaderFacts facts_of(const std::vector<Lot>& lots, std::string_view message) {
  for (const auto& lot : lots) {
    if (!lot.identity) continue;
    const auto& identity = *lot.identity;
    return {identity.message_id, identity.message_id_value, identity.dkim_signed, identity.received_fields};
  }
  return message::scan_header(message);
}

// A claim can be lost while the body streams (a process that slept longer than its lease). More often than
// this in one transaction means that leases are too short for this machine: the client shall come again.
constexpr int max_claims = 3;

}  // namespace

Transaction::Transaction(Relay& relay, Origin origin)
    : relay_(relay), origin_(std::move(origin)), started_(SteadyClock::now()) {}

awaitable<std::vector<smtp::Reply>> Transaction::recipients(smtp::Sender sender,
                                                            std::span<const smtp::Recipient> asked) {
  const auto start = SteadyClock::now();
  sender_ = sender;
  if (!leg_.routed()) {
    leg_.route(origin_.upstream != nullptr ? Choice(&origin_.upstream, 1)
                                           : relay_.router.choose(sender_, origin_.user));
  }
  auto replies = co_await leg_.add(std::move(sender), asked);
  steps_.envelope = std::max(steps_.envelope, microseconds(0)) + since(start);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (replies[i].completed()) continue;
    auto refused =
        decision(replies[i].permanent() ? Outcome::refused : Outcome::deferred, "recipient_refused");
    refused.recipients = {asked[i].address.text()};
    refused.reply = replies[i];
    log(std::move(refused));
  }
  co_return replies;
}

awaitable<smtp::Reply> Transaction::deliver(const Blob& message, std::chrono::microseconds receive) {
  steps_.receive = receive;
  octets_ = message.size();
  auto view = message.view();
  if (!view) co_return refuse(Outcome::deferred, "spool_unreadable", local_storage_reply());

  promised_ = leg_.accepted();
  const auto start = SteadyClock::now();
  auto lots = co_await identify(*view);
  lots_ = std::move(lots);
  steps_.fingerprint = since(start);
  facts_ = facts_of(lots_, *view);
  if (facts_.received_fields > relay_.options.max_received_fields) {
    co_return refuse(Outcome::refused, "mail_loop", mail_loop_reply());
  }
  claiming_.emplace(relay_, lots_, promised_);
  auto reply = co_await send_claimed(*view);
  co_return reply;
}

std::vector<Lot> Transaction::sort_into_lots(std::string_view message) const {
  const RuleChoice choice(relay_.options.rules, relay_.options.policy, sender_, origin_.user, message);
  std::vector<Lot> lots;
  for (std::size_t i = 0; i < promised_.size(); ++i) {
    const auto* policy = &choice.policy_for(promised_[i]);
    auto lot = std::find_if(lots.begin(), lots.end(), [&](const Lot& l) { return l.policy == policy; });
    if (lot == lots.end()) lot = lots.insert(lot, Lot{policy, {}, {}});
    lot->recipients.push_back(i);
  }
  for (auto& lot : lots) {
    if (lot.policy->mode != Mode::off)
      lot.identity =
          message::identify(message, scope_of(*lot.policy, origin_.credential), lot.policy->identity);
  }
  return lots;
}

awaitable<std::vector<Lot>> Transaction::identify(std::string_view message) {
  if (message.size() <= relay_.options.offload_octets) co_return sort_into_lots(message);
  // Tens of milliseconds of hashing would hold up every session of this worker.
  auto work = [this, message]() -> awaitable<std::vector<Lot>> { co_return sort_into_lots(message); };
  auto lots = co_await boost::asio::co_spawn(relay_.helpers, work, boost::asio::use_awaitable);
  co_return lots;
}

awaitable<smtp::Reply> Transaction::send_claimed(std::string_view message) {
  for (int round = 0; round < max_claims; ++round) {
    const auto start = SteadyClock::now();
    auto end =
        co_await claiming_->claim(relay_.stopping ? milliseconds(0) : relay_.options.wait, origin_.left);
    steps_.claim = std::max(steps_.claim, microseconds(0)) + since(start);
    switch (end) {
      case Claiming::End::decided:
        break;
      case Claiming::End::busy:
        co_return refuse(Outcome::deferred, "in_flight", still_undecided_reply());
      case Claiming::End::abandoned:
        co_return refuse(Outcome::deferred, "client_left", still_undecided_reply());
      case Claiming::End::in_doubt:
        co_return refuse(Outcome::deferred, "in_doubt", outcome_unknown_reply());
      case Claiming::End::conflict:
        co_return refuse(Outcome::refused, "key_reused", key_reused_reply());
      case Claiming::End::store_down:
        co_return refuse(Outcome::deferred, "store_down", store_down_reply());
    }
    if (!claiming_->any_to_send()) co_return replay();
    if (leg_.accepted().size() != promised_.size()) leg_.narrow(promised_);  // after a claim that was lost
    if (claiming_->any_duplicate()) set_duplicates_apart();

    auto sent = co_await transmit_claimed(message);
    if (sent.end != Transmission::End::barred || sent.error) {
      auto reply = co_await settle(std::move(sent));
      co_return reply;
    }
    co_await claiming_->release();
    leg_.abandon();
  }
  co_return refuse(Outcome::deferred, "claim_lost", still_undecided_reply());
}

// The upstream gets the others alone (§3.3).
void Transaction::set_duplicates_apart() {
  std::vector<smtp::Recipient> others;
  const auto& findings = claiming_->findings();
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (findings[i].what != Finding::What::duplicate) others.push_back(promised_[i]);
  }
  leg_.narrow(std::move(others));
}

awaitable<Transmission> Transaction::transmit_claimed(std::string_view message) {
  const auto start = SteadyClock::now();
  const auto first_id =
      relay_.options.resend_first_message_id ? claiming_->first_message_id() : std::string();
  const auto pieces = outgoing(message, facts_, first_id, relay_.options);
  auto executor = co_await boost::asio::this_coro::executor;
  BeginGate gate(executor, *claiming_, std::string(outgoing_message_id(facts_, first_id)));
  Transmission sent;
  std::exception_ptr failure;
  try {
    auto transmitted = co_await leg_.transmit(pieces, gate);
    sent = std::move(transmitted);
  } catch (...) {
    failure = std::current_exception();
  }
  co_await gate.finish();
  if (failure) std::rethrow_exception(failure);
  steps_.send = since(start);
  co_return sent;
}

// What the outcome means for window, client and log.
awaitable<smtp::Reply> Transaction::settle(Transmission sent) {
  Ending ending{Outcome::forwarded, {}, {}};
  const auto start = SteadyClock::now();
  switch (sent.end) {
    case Transmission::End::answered:
      ending.reply = std::move(sent.reply);
      if (ending.reply.completed()) {
        co_await claiming_->commit(ending.reply, leg_.upstream_name());
        break;
      }
      [[fallthrough]];
    case Transmission::End::refused:
      if (sent.end == Transmission::End::refused) ending.reply = std::move(sent.reply);
      ending.outcome = ending.reply.permanent() ? Outcome::refused : Outcome::deferred;
      ending.reason = sent.error ? "upstream_failed" : "upstream_refused";
      co_await claiming_->release();
      break;
    case Transmission::End::barred:
      ending = {Outcome::deferred, "store_down", store_down_reply()};
      co_await claiming_->release();
      break;
    case Transmission::End::unknown:
      ending = {Outcome::doubt, "no_answer_after_dot", outcome_unknown_reply()};
      co_await claiming_->doubt();
      break;
  }
  steps_.commit = since(start);
  log_ending(ending);
  co_return ending.reply;
}

}  // namespace mailonce::relay
