// Runs one coroutine of a test on an io_context of its own, with a limit; and waits for conditions inside it.
#pragma once
#include <gtest/gtest.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>

#include "mailonce/base/clock.h"

namespace mailonce::test {

using boost::asio::awaitable;

// `body` is a callable that gives a coroutine; it is called with the io_context.
template <class Body>
void run(const Body& body) {
  boost::asio::io_context io;
  bool done = false;
  std::exception_ptr failed;
  boost::asio::co_spawn(
      io, [&]() -> awaitable<void> { return body(io); },
      [&](std::exception_ptr error) {
        failed = error;
        done = true;
        io.stop();
      });
  io.run_for(std::chrono::seconds(60));
  if (failed) std::rethrow_exception(failed);
  EXPECT_TRUE(done) << "the test did not end in time";
}

inline awaitable<void> nap(milliseconds time) {
  auto executor = co_await boost::asio::this_coro::executor;
  boost::asio::steady_timer timer(executor);
  timer.expires_after(time);
  constexpr auto token = boost::asio::as_tuple(boost::asio::use_awaitable);
  co_await timer.async_wait(token);
}

// Asks again and again until `condition`, a callable that gives awaitable<bool>, is met; false after 20 s.
template <class Condition>
awaitable<bool> eventually(const Condition& condition) {
  const auto until = SteadyClock::now() + std::chrono::seconds(20);
  while (SteadyClock::now() < until) {
    bool met = co_await condition();
    if (met) co_return true;
    co_await nap(milliseconds(2));
  }
  co_return false;
}

}  // namespace mailonce::test
