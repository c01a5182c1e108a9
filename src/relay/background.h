// A coroutine started now whose result is awaited later; the two overlap on one thread. The result must be
// awaited before anything the coroutine refers to goes away.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <memory>
#include <optional>

namespace mailonce::relay {

template <class T>
class Background {
 public:
  // `function` returns awaitable<T>; it runs at once, up to its first wait.
  template <class Function>
  Background(const boost::asio::any_io_executor& executor, Function function)
      : state_(std::make_shared<State>(executor)) {
    boost::asio::co_spawn(executor, std::move(function),
                          [state = state_](std::exception_ptr failure, T value) {
                            state->failure = failure;
                            if (!failure) state->value.emplace(std::move(value));
                            state->done = true;
                            state->wake.cancel();
                          });
  }

  // Once. Rethrows what the coroutine threw.
  boost::asio::awaitable<T> result() {
    const auto state = state_;
    while (!state->done) {
      state->wake.expires_at(boost::asio::steady_timer::time_point::max());
      co_await state->wake.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    }
    if (state->failure) std::rethrow_exception(state->failure);
    co_return *state->value;
  }

 private:
  struct State {
    explicit State(const boost::asio::any_io_executor& executor) : wake(executor) {}
    boost::asio::steady_timer wake;
    std::optional<T> value;
    std::exception_ptr failure;
    bool done = false;
  };
  std::shared_ptr<State> state_;
};

}  // namespace mailonce::relay
