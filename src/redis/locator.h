// Says where the master is when a connection is made.
#pragma once
#include <boost/asio/awaitable.hpp>

#include "mailonce/base/clock.h"
#include "mailonce/base/result.h"
#include "mailonce/redis/options.h"

namespace mailonce::redis {

class Locator {
 public:
  virtual ~Locator() = default;
  virtual boost::asio::awaitable<Result<Address>> locate(SteadyClock::time_point until) = 0;
};

}  // namespace mailonce::redis
