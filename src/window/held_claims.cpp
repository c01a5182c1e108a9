#include "held_claims.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace mailonce::window {
namespace {

// So soon after the store is back the leases are renewed.
constexpr milliseconds longest_period{1000};

}  // namespace

// A failure is not reported here: begin() finds out whether the claim was lost.
awaitable<void> HeldClaims::renew(std::shared_ptr<HeldClaims> self, std::shared_ptr<const Attempt> attempt) {
  auto renewed = co_await self->store_->step(attempt->step(Verb::renew));
  if (!renewed) self->failed_ = true;
}

milliseconds HeldClaims::period() const noexcept {
  return std::min(lease_ / 3, longest_period);
}

HeldClaims::HeldClaims(boost::asio::any_io_executor executor, std::shared_ptr<Store> store,
                       milliseconds lease)
    : executor_(executor), store_(std::move(store)), lease_(lease), timer_(executor) {}

void HeldClaims::add(Held& held) {
  held.renewed_at = SteadyClock::now();
  held_.push_back(held);
  if (ticking_ || stopped_) return;
  ticking_ = true;
  boost::asio::co_spawn(
      executor_, [self = shared_from_this()] { return tick(self); },
      [self = shared_from_this()](std::exception_ptr failed) {
        if (failed) self->ticking_ = false;
      });
}

void HeldClaims::stop() {
  stopped_ = true;
  timer_.cancel();
}

// Ticks on while there are claims at all, so that a claim that ends within a tick, as nearly all do, costs no
// timer.
awaitable<void> HeldClaims::tick(std::shared_ptr<HeldClaims> self) {
  constexpr auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
  while (!self->stopped_ && !self->held_.empty()) {
    self->timer_.expires_after(self->period());
    co_await self->timer_.async_wait(token);
    if (!self->stopped_) self->renew_due();
  }
  self->ticking_ = false;
}

// All that are due go out in one write of the store's connection. At most half a lease passes between two
// renewals that are answered.
void HeldClaims::renew_due() {
  const auto now = SteadyClock::now();
  const auto young = lease_ / 3 - period() / 2;
  const bool all = std::exchange(failed_, false);
  for (auto& held : held_) {
    if (!all && now - held.renewed_at < young) continue;
    held.renewed_at = now;
    auto attempt = std::make_shared<const Attempt>(held.attempt);
    boost::asio::co_spawn(
        executor_, [self = shared_from_this(), attempt] { return renew(self, attempt); },
        [](std::exception_ptr) {});
  }
}

}  // namespace mailonce::window
