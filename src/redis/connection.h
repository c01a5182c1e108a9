// One connection to Redis from its making to its loss. Commands may be queued while it is still being made.
#pragma once
#include <array>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "locator.h"
#include "mailonce/net/stream.h"
#include "mailonce/redis/error.h"
#include "mailonce/redis/options.h"
#include "pending.h"

struct redisReader;

namespace mailonce::redis {

using boost::asio::awaitable;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // To `address`; or, with a locator, to where it says, if that is a master.
  Connection(boost::asio::any_io_executor executor, std::shared_ptr<const Options> options, Address address,
             std::shared_ptr<Locator> locator);
  ~Connection();

  void enqueue(const Call& call, std::shared_ptr<Pending> pending);
  // Connects until then, logs in and serves until the connection is lost; every command still queued has then
  // failed. Returns why; `established` tells a lost connection from one that was never made.
  awaitable<error_code> serve(SteadyClock::time_point until);
  bool established() const noexcept { return ready_; }
  // False: new commands need another one.
  bool usable() const noexcept { return !lost_ && !retired_; }
  // Answers what is queued and ends.
  void retire();
  void close();

 private:
  awaitable<error_code> open(SteadyClock::time_point until);
  awaitable<error_code> log_in();
  awaitable<error_code> read_loop();
  static awaitable<void> write_loop(std::shared_ptr<Connection> self);
  void push(std::shared_ptr<Pending> pending);
  void add_wait();
  error_code feed(std::string_view octets);
  error_code deliver();
  void watch();
  void fail_all(error_code why);

  boost::asio::any_io_executor executor_;
  std::shared_ptr<const Options> options_;
  Address address_;
  std::shared_ptr<Locator> locator_;
  struct FreeReader {
    void operator()(redisReader* reader) const noexcept;
  };
  std::unique_ptr<redisReader, FreeReader> reader_;
  std::optional<net::Stream> stream_;
  std::deque<std::shared_ptr<Pending>> queue_;       // in the order of their answers
  std::vector<std::shared_ptr<Pending>> uncovered_;  // queued behind the last WAIT and want one
  std::size_t hasty_ = 0;  // in queue_: those that must be answered before one that stands before them
  std::string outgoing_;   // formatted, not yet handed to the kernel
  std::string writing_;
  Wakeup work_;                   // outgoing_ is not empty, or the connection is lost
  bool awaits_replicas_ = false;  // a WAIT is out
  bool ready_ = false;
  bool retired_ = false;
  bool lost_ = false;
  error_code ended_ = Errc::closed;  // why, once lost
  std::array<char, 16384> input_;
};

}  // namespace mailonce::redis
