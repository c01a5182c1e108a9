#include "mailonce/window/hub.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>

namespace mailonce::window {

struct Hub::Waiter {
  explicit Waiter(boost::asio::any_io_executor executor) : timer(std::move(executor)) {}
  boost::asio::steady_timer timer;  // touched on its executor's thread only
};

std::size_t Hub::Hash::operator()(const Digest& digest) const noexcept {
  std::size_t first = 0;
  std::memcpy(&first, digest.bytes.data(), sizeof first);
  return first;
}

awaitable<void> Hub::wait(Digest fingerprint, milliseconds at_most) {
  auto executor = co_await boost::asio::this_coro::executor;
  const auto waiter = std::make_shared<Waiter>(executor);
  waiter->timer.expires_after(at_most);
  {
    const std::lock_guard lock(mutex_);
    waiters_.emplace(fingerprint, waiter);
    ++waiting_;
  }
  constexpr auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
  co_await waiter->timer.async_wait(token);
  const std::lock_guard lock(mutex_);
  const auto [first, last] = waiters_.equal_range(fingerprint);
  for (auto at = first; at != last; ++at) {
    if (at->second != waiter) continue;
    waiters_.erase(at);
    --waiting_;
    break;
  }
}

void Hub::notify(const Digest& fingerprint) {
  if (waiting_ == 0) return;
  const std::lock_guard lock(mutex_);
  const auto [first, last] = waiters_.equal_range(fingerprint);
  for (auto at = first; at != last; ++at) {
    // A copy: the waiter may be gone from the map before its thread comes to this.
    const auto waiter = at->second;
    boost::asio::post(waiter->timer.get_executor(), [waiter] { waiter->timer.cancel(); });
    --waiting_;
  }
  waiters_.erase(first, last);
}

}  // namespace mailonce::window
