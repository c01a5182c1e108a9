#include "mailonce/window/write_back.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <string>

#include "mailonce/window/error.h"

namespace mailonce::window {

WriteBack::WriteBack(boost::asio::any_io_executor executor, std::shared_ptr<Store> store, Outage& outage,
                     observe::Log& log, WriteBackOptions options)
    : executor_(executor),
      store_(std::move(store)),
      outage_(outage),
      log_(log),
      options_(options),
      pause_(options.first_pause),
      timer_(executor) {}

void WriteBack::keep(const Step& step) {
  if (stopped_) return;
  facts_.push_back(std::make_shared<const Fact>(Fact{step.verb, attempt_of(step), SteadyClock::now()}));
  ++outage_.kept;
  start();
}

void WriteBack::start() {
  if (running_ || stopped_) return;
  running_ = true;
  boost::asio::co_spawn(
      executor_, [self = shared_from_this()] { return run(self); },
      [self = shared_from_this()](std::exception_ptr failed) {
        if (!failed) return;
        self->running_ = false;
        self->log_.event(observe::Level::error, "write_back_failed",
                         "writing back ended by an exception; it starts again");
        self->start();
      });
}

awaitable<void> WriteBack::settle(milliseconds at_most) {
  constexpr auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
  const auto self = shared_from_this();
  const auto until = SteadyClock::now() + at_most;
  hurried_ = true;
  timer_.cancel();
  boost::asio::steady_timer look_again(executor_);
  while (!facts_.empty() && SteadyClock::now() < until) {
    look_again.expires_after(milliseconds(10));
    co_await look_again.async_wait(token);
  }
}

void WriteBack::stop() {
  stopped_ = true;
  timer_.cancel();
  if (facts_.empty()) return;
  log_.event(observe::Level::error, "write_back_lost",
             "the process ends before the store could take what happened; repeats of these messages will be "
             "sent again",
             {{"records", std::to_string(facts_.size())}});
  while (!facts_.empty()) forget_first();
}

awaitable<void> WriteBack::run(std::shared_ptr<WriteBack> self) {
  while (!self->stopped_ && (self->outage_.down() || !self->facts_.empty())) {
    co_await self->pause();
    if (self->stopped_) break;
    auto up = co_await self->probe();
    if (!up) continue;
    co_await self->flush();
  }
  self->pause_ = self->options_.first_pause;
  self->running_ = false;
}

// Full jitter on the upper half, so that many relays do not come back in step.
awaitable<void> WriteBack::pause() {
  if (hurried_) pause_ = options_.first_pause;
  std::uniform_int_distribution<milliseconds::rep> around(pause_.count() / 2, pause_.count());
  timer_.expires_after(milliseconds(around(jitter_)));
  pause_ = std::min(pause_ * 2, options_.longest_pause);
  constexpr auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
  co_await timer_.async_wait(token);
}

// A write, not a PING: a replica, a full or a non-persisting Redis answers PING and takes nothing.
awaitable<bool> WriteBack::probe() {
  if (!outage_.down()) co_return true;
  auto result = co_await probe_store(*store_);
  if (stopped_) co_return false;
  if (!result) {
    outage_.remind(log_);
    co_return false;
  }
  outage_.back(log_);
  co_return true;
}

// Each fact once. What the store refuses while it takes a probe's record holds up nothing else: a shard of a
// Cluster is down, or a slot moves.
awaitable<void> WriteBack::flush() {
  for (auto tries = facts_.size(); tries > 0 && !facts_.empty() && !stopped_; --tries) {
    const auto fact = facts_.front();
    auto step = fact->attempt.step(fact->verb);
    step.particulars.age = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - fact->since);
    if (step.particulars.age >= step.particulars.window) {
      forget_first();
      continue;
    }
    const auto epoch = outage_.epoch();
    auto result = co_await store_->step(step);
    if (stopped_) co_return;
    if (!result) {
      std::rotate(facts_.begin(), facts_.begin() + 1, facts_.end());
      if (concerns_one_step(result.error())) continue;
      auto probed = co_await probe_store(*store_);
      if (stopped_) co_return;
      if (probed) continue;
      outage_.failed(epoch, result.error(), log_);
      co_return;
    }
    forget_first();
  }
  if (facts_.empty()) pause_ = options_.first_pause;
}

void WriteBack::forget_first() {
  facts_.pop_front();
  --outage_.kept;
}

}  // namespace mailonce::window
