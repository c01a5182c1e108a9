// One connection to Redis from its making to its loss. Commands may be queued while it is still being made.
#pragma once
#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "mailonce/base/clock.h"
#include "mailonce/net/stream.h"
#include "mailonce/redis/error.h"
#include "mailonce/redis/options.h"
#include "mailonce/redis/reply.h"
#include "wakeup.h"

struct redisReader;

namespace mailonce::redis {

using boost::asio::awaitable;

// A command that waits for its answer.
struct Pending {
  explicit Pending(boost::asio::any_io_executor executor) : answered(std::move(executor)) {}
  void finish(Result<Reply> with) {
    outcome = std::move(with);
    answered.wake();
  }
  Wakeup answered;
  std::optional<Result<Reply>> outcome;
  SteadyClock::time_point deadline;
};

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(boost::asio::any_io_executor executor, const Options& options);
  ~Connection();

  void enqueue(std::span<const std::string_view> words, std::shared_ptr<Pending> pending);
  // Connects, logs in and serves until the connection is lost; every command still queued has then failed.
  // Returns why; `established` tells a lost connection from one that was never made.
  awaitable<error_code> serve();
  bool established() const noexcept { return ready_; }
  bool lost() const noexcept { return lost_; }
  void close();

 private:
  awaitable<error_code> open();
  awaitable<error_code> log_in();
  awaitable<error_code> read_loop();
  static awaitable<void> write_loop(std::shared_ptr<Connection> self);
  error_code feed(std::string_view octets);
  error_code deliver();
  void watch();
  void fail_all(error_code why);

  boost::asio::any_io_executor executor_;
  Options options_;
  struct FreeReader {
    void operator()(redisReader* reader) const noexcept;
  };
  std::unique_ptr<redisReader, FreeReader> reader_;
  std::optional<net::Stream> stream_;
  std::deque<std::shared_ptr<Pending>> queue_;  // in the order of their answers
  std::string outgoing_;                        // formatted, not yet handed to the kernel
  std::string writing_;
  Wakeup work_;  // outgoing_ is not empty, or the connection is lost
  bool ready_ = false;
  bool lost_ = false;
  std::array<char, 16384> input_;
};

}  // namespace mailonce::redis
