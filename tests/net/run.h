// Runs a coroutine on an io_context to its end, or fails the test when it takes too long.
#pragma once
#include <gtest/gtest.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <exception>
#include <utility>

namespace mailonce::test {

// What else runs on `io` (background work of the tested) goes on until the coroutine ends.
template <class Coroutine>
void run(boost::asio::io_context& io, Coroutine coroutine,
         std::chrono::seconds at_most = std::chrono::seconds(20)) {
  if (io.stopped()) io.restart();
  bool done = false;
  std::exception_ptr error;
  boost::asio::co_spawn(io, std::move(coroutine), [&](std::exception_ptr thrown) {
    done = true;
    error = thrown;
  });
  const auto limit = std::chrono::steady_clock::now() + at_most;
  while (!done && std::chrono::steady_clock::now() < limit) io.run_one_until(limit);
  ASSERT_TRUE(done) << "the coroutine did not end in time";
  if (error) std::rethrow_exception(error);
}

// Runs `io` until the condition holds.
template <class Condition>
bool run_until(boost::asio::io_context& io, Condition condition,
               std::chrono::milliseconds at_most = std::chrono::seconds(10)) {
  const auto limit = std::chrono::steady_clock::now() + at_most;
  while (!condition() && std::chrono::steady_clock::now() < limit) {
    io.run_one_until(std::min(limit, std::chrono::steady_clock::now() + std::chrono::milliseconds(20)));
    if (io.stopped()) io.restart();
  }
  return condition();
}

}  // namespace mailonce::test
