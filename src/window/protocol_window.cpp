#include "mailonce/window/protocol_window.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "held_claims.h"
#include "mailonce/base/random.h"

namespace mailonce::window {
namespace {

Verb verb_of(DoubtPolicy policy) noexcept {
  switch (policy) {
    case DoubtPolicy::resend:
      return Verb::claim_resend;
    case DoubtPolicy::suppress:
      return Verb::claim_suppress;
    case DoubtPolicy::defer:
      return Verb::claim_defer;
  }
  return Verb::claim_defer;
}

RecipientVerdict judge_one(Verb verb, const Record& found, std::string_view owner, TimePoint now) {
  const auto kind = classify(found, owner, now);
  // A claim that was repeated because its first answer was lost finds itself.
  const bool doubt = kind == Class::doubt || (kind == Class::claimed_mine && found.doubtful);
  RecipientVerdict out;
  out.after_doubt = doubt;
  switch (table(verb)[static_cast<std::size_t>(kind)]) {
    case Action::block:
      out.verdict = Verdict::busy;
      break;
    case Action::keep:
      out.verdict = Verdict::duplicate;
      break;
    default:
      out.verdict = Verdict::mine;
      break;
  }
  if (out.verdict == Verdict::duplicate || doubt) out.record = found;
  return out;
}

}  // namespace

ClaimAnswer judge(Verb verb, const StepResult& result, std::string_view owner) {
  ClaimAnswer answer;
  answer.busy = result.blocked;
  answer.source = result.source;
  answer.now = result.now;
  answer.verdicts.reserve(result.before.size());
  for (const auto& found : result.before) {
    answer.verdicts.push_back(judge_one(verb, found, owner, result.now));
    // Nothing is held when another recipient is busy.
    auto& verdict = answer.verdicts.back();
    if (answer.busy && verdict.verdict == Verdict::mine) verdict = RecipientVerdict{};
  }
  return answer;
}

struct ProtocolWindow::Core {
  boost::asio::any_io_executor executor;
  std::shared_ptr<Store> store;
  std::optional<milliseconds> lease;
  std::shared_ptr<Hub> hub;
  observe::Log& log;
  std::shared_ptr<HeldClaims> held;  // null without a lease
  bool stopped = false;
  std::size_t ending = 0;  // claims that were dropped and have not ended yet

  static awaitable<Result<StepResult>> end(std::shared_ptr<Core> core, const Attempt& attempt, Verb verb);
  static awaitable<void> end_later(std::shared_ptr<Core> core, std::shared_ptr<const Attempt> attempt,
                                   Verb verb);
};

// Carries out the attempt's last step and wakes who waits for it. A failure is logged: the lease ends the
// rest.
awaitable<Result<StepResult>> ProtocolWindow::Core::end(std::shared_ptr<Core> core, const Attempt& attempt,
                                                        Verb verb) {
  const auto fingerprint = attempt.fingerprint;
  auto result = co_await core->store->step(attempt.step(verb));
  if (!result && !core->stopped) {
    core->log.event(observe::Level::error, "window_step_failed",
                    "the store did not take how an attempt ended",
                    {{"fingerprint", fingerprint.base64url()}, {"error", result.error().message()}});
  }
  core->hub->notify(fingerprint);
  co_return result;
}

awaitable<void> ProtocolWindow::Core::end_later(std::shared_ptr<Core> core,
                                                std::shared_ptr<const Attempt> attempt, Verb verb) {
  co_await end(core, *attempt, verb);
}

class ProtocolWindow::HeldClaim final : public Claim {
 public:
  HeldClaim(std::shared_ptr<Core> core, Attempt attempt) : core_(std::move(core)) {
    held_.attempt = std::move(attempt);
    if (core_->held && held_.attempt.held == Source::store) core_->held->add(held_);
  }

  ~HeldClaim() override {
    if (ended_ || core_->stopped) return;
    // After begin() only its owner knows whether the dot was written: dropped without a word, it is doubt.
    const auto verb = begun_ ? Verb::doubt : Verb::release;
    auto attempt = std::make_shared<const Attempt>(std::move(held_.attempt));
    ++core_->ending;
    boost::asio::co_spawn(
        core_->executor, [core = core_, attempt, verb] { return Core::end_later(core, attempt, verb); },
        [core = core_](std::exception_ptr failed) {
          --core->ending;
          if (!failed || core->stopped) return;
          core->log.event(observe::Level::error, "window_step_failed",
                          "a claim that was dropped could not be ended");
        });
  }

  awaitable<Result<Begun>> begin(std::string message_id) override {
    // Commit and doubt name the copy that went out, which after doubt is not this attempt's own.
    held_.attempt.message_id = std::move(message_id);
    auto result = co_await core_->store->step(held_.attempt.step(Verb::begin));
    if (!result) co_return result.error();
    // Only `sending` allows the dot: a lost claim that is dropped must not leave a doubt behind.
    if (!result->blocked) begun_ = true;
    // Claimed in memory, and the store has it now: it is renewed there from here on.
    if (begun_ && held_.attempt.held == Source::local && result->source == Source::store) {
      held_.attempt.held = Source::store;
      if (core_->held) core_->held->add(held_);
    }
    co_return result->blocked ? Begun::lost : Begun::sending;
  }

  awaitable<bool> commit(smtp::Reply reply, std::string upstream) override {
    ended_ = true;
    held_.attempt.reply = std::move(reply);
    held_.attempt.upstream = std::move(upstream);
    auto result = co_await Core::end(core_, held_.attempt, Verb::commit);
    co_return result && !result->kept;
  }

  awaitable<void> release() override {
    ended_ = true;
    co_await Core::end(core_, held_.attempt, Verb::release);
  }

  awaitable<void> doubt() override {
    ended_ = true;
    co_await Core::end(core_, held_.attempt, Verb::doubt);
  }

 private:
  std::shared_ptr<Core> core_;
  Held held_;
  bool begun_ = false;
  bool ended_ = false;
};

ProtocolWindow::ProtocolWindow(boost::asio::any_io_executor executor, std::shared_ptr<Store> store,
                               std::optional<milliseconds> lease, std::shared_ptr<Hub> hub, observe::Log& log)
    : core_(new Core{executor, std::move(store), lease, std::move(hub), log, nullptr}) {
  if (lease) core_->held = std::make_shared<HeldClaims>(executor, core_->store, *lease);
}

ProtocolWindow::~ProtocolWindow() {
  core_->stopped = true;
  if (core_->held) core_->held->stop();
  core_->store->stop();
}

awaitable<Result<ClaimAnswer>> ProtocolWindow::claim(ClaimRequest request) {
  Attempt attempt;
  attempt.fingerprint = request.fingerprint;
  attempt.recipients = std::move(request.recipients);
  attempt.owner = random_token();
  attempt.message_id = std::move(request.message_id);
  attempt.content = std::move(request.content);
  // A store that ends with the process needs no lease: an attempt ends in minutes, whatever the window.
  attempt.lease = core_->lease.value_or(std::max<milliseconds>(request.window, std::chrono::hours(1)));
  attempt.window = request.window;
  attempt.slide_cap = request.slide_cap;
  attempt.store_down = request.store_down;
  const auto verb = verb_of(request.doubt);

  auto result = co_await core_->store->step(attempt.step(verb));
  if (!result) co_return result.error();
  for (const auto& found : result->before) {
    if (!found.unreadable) continue;
    core_->log.event(observe::Level::warning, "record_unreadable",
                     "A record is not of this version; whether its message was sent is not known",
                     {{"fingerprint", attempt.fingerprint.base64url()}});
    break;
  }
  auto answer = judge(verb, *result, attempt.owner);
  if (answer.busy) co_return answer;
  attempt.held = answer.source;
  std::vector<std::string> mine;
  for (std::size_t i = 0; i < answer.verdicts.size(); ++i) {
    if (answer.verdicts[i].verdict == Verdict::mine) mine.push_back(std::move(attempt.recipients[i]));
  }
  if (mine.empty()) co_return answer;
  attempt.recipients = std::move(mine);
  answer.claim = std::make_unique<HeldClaim>(core_, std::move(attempt));
  co_return answer;
}

awaitable<void> ProtocolWindow::changed(Digest fingerprint, milliseconds at_most) {
  return core_->hub->wait(fingerprint, at_most);
}

awaitable<void> ProtocolWindow::settle(milliseconds at_most) {
  constexpr auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
  const auto core = core_;
  const auto until = SteadyClock::now() + at_most;
  boost::asio::steady_timer look_again(core->executor);
  while (core->ending > 0 && SteadyClock::now() < until) {
    look_again.expires_after(milliseconds(10));
    co_await look_again.async_wait(token);
  }
  const auto left = std::chrono::duration_cast<milliseconds>(until - SteadyClock::now());
  co_await core->store->settle(std::max(left, milliseconds(0)));
}

awaitable<Result<>> ProtocolWindow::ping() {
  return probe_store(*core_->store);
}

}  // namespace mailonce::window
