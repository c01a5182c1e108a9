// What the store could not take: kept, and retried with back-off for as long as the process lives. Also the
// one that asks whether a store that is down is back, so that no message has to find out. One a worker.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <random>

#include "mailonce/observe/log.h"
#include "mailonce/window/attempt.h"
#include "mailonce/window/outage.h"

namespace mailonce::window {

struct WriteBackOptions {
  milliseconds first_pause{100};
  milliseconds longest_pause{5000};
};

class WriteBack : public std::enable_shared_from_this<WriteBack> {
 public:
  // `outage` and `log` must outlive it.
  WriteBack(boost::asio::any_io_executor executor, std::shared_ptr<Store> store, Outage& outage,
            observe::Log& log, WriteBackOptions options);

  // Keeps a commit, doubt or release and tries again later. Age counts from now; a fact older than its window
  // is moot.
  void keep(const Step& step);
  // The store is down: asks it until it is back. Does nothing when that is under way.
  void start();
  // Tries without long pauses and returns when nothing is kept any more, after `at_most` in any case.
  awaitable<void> settle(milliseconds at_most);
  // At the worker's end; what is still kept is lost, and logged as such.
  void stop();

 private:
  struct Fact {
    Verb verb;
    Attempt attempt;
    SteadyClock::time_point since;
  };

  static awaitable<void> run(std::shared_ptr<WriteBack> self);
  awaitable<bool> probe();
  awaitable<void> flush();
  awaitable<void> pause();
  void forget_first();

  boost::asio::any_io_executor executor_;
  std::shared_ptr<Store> store_;
  Outage& outage_;
  observe::Log& log_;
  WriteBackOptions options_;
  milliseconds pause_;
  bool hurried_ = false;
  std::deque<std::shared_ptr<const Fact>> facts_;  // shared: one may be on its way when stop() forgets it
  boost::asio::steady_timer timer_;
  std::minstd_rand jitter_{std::random_device{}()};
  bool running_ = false;
  bool stopped_ = false;
};

}  // namespace mailonce::window
