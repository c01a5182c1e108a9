// What the transactions of one worker share: policies, window, upstreams, log. Everything referred to must
// outlive it.
#pragma once
#include <boost/asio/thread_pool.hpp>

#include "mailonce/observe/log.h"
#include "mailonce/relay/options.h"
#include "mailonce/relay/route.h"
#include "mailonce/window/window.h"

namespace mailonce::relay {

class Relay {
 public:
  // `hashing` fingerprints large messages; shared by all workers.
  Relay(const Options& policies, window::Window& records, Upstreams providers, observe::Log& lines,
        boost::asio::thread_pool& hashing)
      : options(policies),
        window(records),
        router(policies.routes, std::move(providers)),
        log(lines),
        helpers(hashing) {}

  const Options& options;
  window::Window& window;
  const Router router;  // of at least one upstream
  observe::Log& log;
  boost::asio::thread_pool& helpers;

  // At the end of a drain: nobody waits for another attempt's outcome any more.
  bool stopping = false;
};

}  // namespace mailonce::relay
