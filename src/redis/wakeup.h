// One coroutine's sleep until another part of the same thread wakes it; without a timer and its system calls.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <memory>
#include <type_traits>
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
    boost::asio::post(executor_, [sleeper = std::move(sleeper_)]() mutable { sleeper->resume(); });
  }

 private:
  // The suspended coroutine. Boost 1.81's any_completion_handler would do, but post() copies it into itself.
  struct Sleeper {
    virtual ~Sleeper() = default;
    virtual void resume() = 0;
  };
  template <class Handler>
  struct SleeperOf final : Sleeper {
    explicit SleeperOf(Handler given) : handler(std::move(given)) {}
    void resume() override {
      auto taken = std::move(handler);
      std::move(taken)();
    }
    Handler handler;
  };
  struct Suspend {
    Wakeup* self;
    template <class Handler>
    void operator()(Handler&& handler) {
      using Given = std::decay_t<Handler>;
      self->sleeper_ = std::make_unique<SleeperOf<Given>>(std::forward<Handler>(handler));
    }
  };

  boost::asio::any_io_executor executor_;
  std::unique_ptr<Sleeper> sleeper_;
  bool woken_ = false;
};

}  // namespace mailonce::redis
