// The claims of one worker that are under way, and the one timer that renews their leases.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>
#include <memory>

#include "mailonce/window/attempt.h"

namespace mailonce::window {

// A member of the list while it lives.
struct Held : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
  Attempt attempt;
  SteadyClock::time_point renewed_at{};
};

class HeldClaims : public std::enable_shared_from_this<HeldClaims> {
 public:
  HeldClaims(boost::asio::any_io_executor executor, std::shared_ptr<Store> store, milliseconds lease);

  // `held` was claimed just now; it leaves the list when it is destroyed or unlinked.
  void add(Held& held);
  void stop();

 private:
  static awaitable<void> tick(std::shared_ptr<HeldClaims> self);
  static awaitable<void> renew(std::shared_ptr<HeldClaims> self, std::shared_ptr<const Attempt> attempt);
  void renew_due();
  milliseconds period() const noexcept;

  boost::asio::any_io_executor executor_;
  std::shared_ptr<Store> store_;
  milliseconds lease_;
  boost::asio::steady_timer timer_;
  boost::intrusive::list<Held, boost::intrusive::constant_time_size<false>> held_;
  bool failed_ = false;  // a renewal did: all are due at the next tick, before another relay sees them end
  bool ticking_ = false;
  bool stopped_ = false;
};

}  // namespace mailonce::window
