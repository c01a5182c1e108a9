// How many messages one client may begin a minute: as many at once as a minute allows, then one whenever its
// share of the minute has passed. Thread-safe: one for all workers.
#pragma once
#include <map>
#include <mutex>
#include <string>

#include "mailonce/base/clock.h"

namespace mailonce::server {

class MessageRate {
 public:
  explicit MessageRate(std::size_t a_minute) : a_minute_(a_minute) {}  // 0: as many as it likes

  // One more of this client's. False: not now.
  bool take(const std::string& client, SteadyClock::time_point now = SteadyClock::now());
  std::size_t remembered() const;  // clients

 private:
  void forget_rested(SteadyClock::time_point now);

  const std::size_t a_minute_;
  mutable std::mutex mutex_;
  // Client → when all it has taken will have been earned again. Past: it may take a whole minute's.
  std::map<std::string, SteadyClock::time_point> earned_;
  SteadyClock::time_point forgotten_{};
};

}  // namespace mailonce::server
