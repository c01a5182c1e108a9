// Whether begins and commits reach as many replicas as `min_replicas` asks for: logged when it changes, not
// at each.
#pragma once
#include <mutex>

#include "mailonce/observe/log.h"
#include "mailonce/redis/client.h"

namespace mailonce::window {

// One a process; thread-safe.
class ReplicaWatch {
 public:
  // What WAIT said of one.
  void heard(const redis::Replication& replication, unsigned wanted, observe::Log& log);

 private:
  std::mutex mutex_;
  bool too_few_ = false;
};

}  // namespace mailonce::window
