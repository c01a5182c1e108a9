// What the transactions of one worker share: policies, window, upstream, log. Everything referred to must
// outlive it.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <set>

#include "mailonce/observe/log.h"
#include "mailonce/relay/options.h"
#include "mailonce/upstream/upstream.h"
#include "mailonce/window/window.h"

namespace mailonce::relay {

class Transaction;

class Relay {
 public:
  // `hashing` fingerprints large messages; shared by all workers.
  Relay(const Options& policies, window::Window& records, upstream::Upstream& provider, observe::Log& lines,
        boost::asio::thread_pool& hashing)
      : options(policies), window(records), upstream(provider), log(lines), helpers(hashing) {}

  const Options& options;
  window::Window& window;
  upstream::Upstream& upstream;
  observe::Log& log;
  boost::asio::thread_pool& helpers;

  // At the end of a drain: declares doubt for every transaction whose dot was sent and not answered.
  boost::asio::awaitable<void> give_up_undecided();
  std::size_t undecided() const noexcept { return undecided_.size(); }

 private:
  friend class Transaction;
  std::set<Transaction*> undecided_;  // between the gate and the outcome
};

}  // namespace mailonce::relay
