#include "mailonce/window/replica_watch.h"

#include <string>

namespace mailonce::window {

void ReplicaWatch::heard(const redis::Replication& replication, unsigned wanted, observe::Log& log) {
  const bool too_few = replication.failure || replication.replicas < static_cast<long long>(wanted);
  {
    const std::lock_guard lock(mutex_);
    if (too_few == too_few_) return;
    too_few_ = too_few;
  }
  if (!too_few) {
    log.event(observe::Level::info, "replicas_back", "records reach min_replicas replicas again");
    return;
  }
  const auto reason = replication.failure ? replication.failure.message() : "they did not answer in time";
  log.event(
      observe::Level::warning, "replicas_missing",
      "records reach fewer replicas than min_replicas: store_down decides of what is to be sent, what was "
      "sent counts all the same, and a failover now can forget it",
      {{"replicas", std::to_string(replication.replicas)},
       {"min_replicas", std::to_string(wanted)},
       {"reason", reason}});
}

}  // namespace mailonce::window
