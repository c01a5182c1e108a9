// One coroutine's sleep until another part of the same thread wakes it; without a timer and its system calls.
#pragma once
#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <utility>

namespace mailonce::redis {

// At most one waiter. A wake() without a waiter is kept for the next wait().
class Wakeup {
 public:
  explicit Wakeup(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}

  boost::asio::awaitable<void> wait() {
    if (std::exchange(woken_, false)) co_return;
    Suspend suspend{this};
    co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>, void()>(
        suspend, boost::asio::use_awaitable);
    woken_ = false;
  }

  // The waiter continues in a later turn, never inside this call.
  void wake() {
    woken_ = true;
    if (!sleeper_) return;
    auto sleeper = std::move(sleeper_);
    sleeper_ = nullptr;
    boost::asio::post(executor_, std::move(sleeper));
  }

 private:
  struct Suspend {
    Wakeup* self;
    template <class Handler>
    void operator()(Handler&& handler) {
      self->sleeper_ = std::forward<Handler>(handler);
    }
  };

  boost::asio::any_io_executor executor_;
  boost::asio::any_completion_handler<void()> sleeper_;
  bool woken_ = false;
};

}  // namespace mailonce::redis
