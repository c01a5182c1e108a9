#include "mailonce/relay/transaction.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "background.h"
#include "describe.h"
#include "mailonce/relay/replies.h"
#include "outgoing.h"

namespace mailonce::relay {

using observe::Outcome;
using std::chrono::microseconds;

namespace {

microseconds since(SteadyClock::time_point start) {
  return std::chrono::duration_cast<microseconds>(SteadyClock::now() - start);
}

message::HeaderFacts facts_of(const std::optional<message::Identity>& identity, std::string_view message) {
  if (!identity) return message::scan_header(message);
  return {identity->message_id, identity->message_id_value, identity->dkim_signed, identity->received_fields};
}

// A claim can be lost while the body streams (a process that slept longer than its lease). More often than
// this in one transaction means that leases are too short for this machine: the client shall come again.
constexpr int max_claims = 3;

}  // namespace

Transaction::Transaction(Relay& relay, Origin origin)
    : relay_(relay), origin_(std::move(origin)), leg_(relay.upstream), started_(SteadyClock::now()) {}

awaitable<std::vector<smtp::Reply>> Transaction::recipients(smtp::Sender sender,
                                                            std::span<const smtp::Recipient> asked) {
  const auto start = SteadyClock::now();
  sender_ = sender;
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

  const auto start = SteadyClock::now();
  auto identity = co_await identify(*view);
  identity_ = std::move(identity);
  steps_.fingerprint = since(start);
  facts_ = facts_of(identity_, *view);
  if (facts_.received_fields > relay_.options.max_received_fields) {
    co_return refuse(Outcome::refused, "mail_loop", mail_loop_reply());
  }
  if (!identity_) {
    const char* reason = relay_.options.mode == Mode::off ? "mode_off" : "no_identity";
    auto reply = co_await forward_unclaimed(*view, reason, false);
    co_return reply;
  }
  promised_ = leg_.accepted();
  claiming_.emplace(relay_, *identity_, promised_);
  auto reply = co_await send_claimed(*view);
  co_return reply;
}

awaitable<std::optional<message::Identity>> Transaction::identify(std::string_view message) {
  const auto& options = relay_.options;
  if (options.mode == Mode::off) co_return std::nullopt;
  if (message.size() <= options.offload_octets)
    co_return message::identify(message, options.scope, options.identity);
  // Tens of milliseconds of hashing would hold up every session of this worker.
  auto work = [message, &options]() -> awaitable<std::optional<message::Identity>> {
    co_return message::identify(message, options.scope, options.identity);
  };
  auto identity = co_await boost::asio::co_spawn(relay_.helpers, work, boost::asio::use_awaitable);
  co_return identity;
}

// Nothing is recorded: there is no identity, the mode is off, or observe mode met an attempt under way.
awaitable<smtp::Reply> Transaction::forward_unclaimed(std::string_view message, std::string reason,
                                                      bool would_drop) {
  const auto start = SteadyClock::now();
  const auto pieces = outgoing(message, facts_, {}, relay_.options);
  UpstreamLeg::Gate open = []() -> awaitable<Result<window::Begun>> { co_return window::Begun::sending; };
  auto sent = co_await leg_.transmit(pieces, std::move(open));
  steps_.send = since(start);
  const bool unknown = sent.end == Transmission::End::unknown;
  const auto reply = unknown ? outcome_unknown_reply() : sent.reply;
  auto outcome = Outcome::forwarded;
  if (unknown) outcome = Outcome::doubt;
  if (!unknown && !reply.completed()) outcome = reply.permanent() ? Outcome::refused : Outcome::deferred;
  auto line = decision(outcome, std::move(reason));
  line.would_drop = would_drop;
  line.upstream = relay_.upstream.name();
  line.reply = reply;
  log(std::move(line));
  co_return reply;
}

awaitable<smtp::Reply> Transaction::send_claimed(std::string_view message) {
  for (int round = 0; round < max_claims; ++round) {
    const auto start = SteadyClock::now();
    const auto wait = observing() || relay_.stopping ? milliseconds(0) : relay_.options.wait;
    auto end = co_await claiming_->claim(wait);
    steps_.claim = std::max(steps_.claim, microseconds(0)) + since(start);
    if (end != Claiming::End::decided && observing()) {
      const bool would_drop = end != Claiming::End::store_down;
      auto forwarded =
          co_await forward_unclaimed(message, would_drop ? "observed" : "store_down", would_drop);
      co_return forwarded;
    }
    switch (end) {
      case Claiming::End::decided:
        break;
      case Claiming::End::busy:
        co_return refuse(Outcome::deferred, "in_flight", still_undecided_reply());
      case Claiming::End::in_doubt:
        co_return refuse(Outcome::deferred, "in_doubt", outcome_unknown_reply());
      case Claiming::End::conflict:
        co_return refuse(Outcome::refused, "key_reused", key_reused_reply());
      case Claiming::End::store_down:
        co_return refuse(Outcome::deferred, "store_down", store_down_reply());
    }
    if (!claiming_->any_mine() && !observing()) co_return replay();
    if (leg_.accepted().size() != promised_.size()) leg_.narrow(promised_);  // after a claim that was lost
    apart_.reset();
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

// Some recipients are duplicates: enforce sends to the others alone (§3.3), observe sends to all.
void Transaction::set_duplicates_apart() {
  std::vector<smtp::Recipient> mine;
  auto line = decision(Outcome::duplicate, "in_window");
  line.recipients.clear();
  const auto& verdicts = claiming_->verdicts();
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].verdict == window::Verdict::mine) {
      mine.push_back(promised_[i]);
      continue;
    }
    line.recipients.push_back(promised_[i].address.text());
    describe_first(line, verdicts[i], claiming_->now());
    line.content_differs = line.content_differs || claiming_->content_differs(i);
  }
  apart_ = std::move(line);
  if (!observing()) leg_.narrow(std::move(mine));
}

awaitable<Transmission> Transaction::transmit_claimed(std::string_view message) {
  const auto start = SteadyClock::now();
  const auto first_id =
      relay_.options.resend_first_message_id ? claiming_->first_message_id() : std::string();
  const auto pieces = outgoing(message, facts_, first_id, relay_.options);

  // begin runs while DATA and the body are under way, so it costs no time (§4).
  auto executor = co_await boost::asio::this_coro::executor;
  auto start_begin = [this]() -> awaitable<Result<window::Begun>> { return claiming_->begin(); };
  Background<Result<window::Begun>> begun(executor, start_begin);
  bool awaited = false;
  UpstreamLeg::Gate gate = [this, &begun, &awaited]() -> awaitable<Result<window::Begun>> {
    // On another connection the store is asked again: making it may have outlasted the lease.
    auto asked = awaited ? claiming_->begin() : begun.result();
    awaited = true;
    auto result = co_await std::move(asked);
    if (observing()) result = window::Begun::sending;  // forwards everything, whatever the store says
    co_return result;
  };
  // begin refers to the claims: whatever happens, it is through before they go.
  Transmission sent;
  std::exception_ptr failure;
  try {
    auto transmitted = co_await leg_.transmit(pieces, gate);
    sent = std::move(transmitted);
  } catch (...) {
    failure = std::current_exception();
  }
  if (!awaited) co_await begun.result();
  if (failure) std::rethrow_exception(failure);
  steps_.send = since(start);
  co_return sent;
}

// What the outcome means for window, client and log.
awaitable<smtp::Reply> Transaction::settle(Transmission sent) {
  auto line = decision(Outcome::forwarded, "new");
  line.recipients.clear();
  const auto& verdicts = claiming_->verdicts();
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    if (verdicts[i].verdict == window::Verdict::mine) line.recipients.push_back(promised_[i].address.text());
  }
  line.upstream = relay_.upstream.name();
  describe_claim(line, *claiming_);

  const auto start = SteadyClock::now();
  switch (sent.end) {
    case Transmission::End::answered:
      line.reply = std::move(sent.reply);
      if (line.reply.completed()) {
        co_await claiming_->commit(line.reply, relay_.upstream.name());
        break;
      }
      [[fallthrough]];
    case Transmission::End::refused:
      if (sent.end == Transmission::End::refused) line.reply = std::move(sent.reply);
      line.outcome = line.reply.permanent() ? Outcome::refused : Outcome::deferred;
      line.reason = sent.error ? "upstream_failed" : "upstream_refused";
      co_await claiming_->release();
      break;
    case Transmission::End::barred:
      line.outcome = Outcome::deferred;
      line.reason = "store_down";
      line.reply = store_down_reply();
      co_await claiming_->release();
      break;
    case Transmission::End::unknown:
      line.outcome = Outcome::doubt;
      line.reason = "no_answer_after_dot";
      line.reply = outcome_unknown_reply();
      co_await claiming_->doubt();
      break;
  }
  steps_.commit = since(start);
  line.steps = steps_;
  auto reply = line.reply;
  if (apart_) log_apart(line);
  if (!line.recipients.empty()) log(std::move(line));
  co_return reply;
}

}  // namespace mailonce::relay
