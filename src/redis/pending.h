// One command on a connection, and what comes of it.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "mailonce/base/clock.h"
#include "mailonce/base/result.h"
#include "mailonce/redis/client.h"
#include "mailonce/redis/reply.h"
#include "wakeup.h"

namespace mailonce::redis {

// A command as a coroutine asks for it. What it refers to must outlive its answer, the words its queueing.
struct Call {
  std::span<const std::string_view> words;
  SteadyClock::time_point deadline;
  Replication* replication = nullptr;  // WAIT follows, and this is what it says
  bool asking = false;                 // behind ASKING, in the same write
  bool* sent = nullptr;                // set when it failed and may have been carried out all the same
};

// A command that waits for its answer.
struct Pending {
  explicit Pending(boost::asio::any_io_executor executor) : answered(std::move(executor)) {}

  void finish(Result<Reply> with) {
    for (const auto& each : covers) each->on_wait(with);
    outcome = std::move(with);
    if (!awaits_replicas) answered.wake();
  }

  Wakeup answered;
  std::optional<Result<Reply>> outcome;
  SteadyClock::time_point deadline;
  bool sent = false;
  bool awaits_replicas = false;  // its outcome is complete when WAIT's is there
  Replication replication;
  std::vector<std::shared_ptr<Pending>> covers;  // a WAIT: the commands it is for

 private:
  void on_wait(const Result<Reply>& said) {
    awaits_replicas = false;
    if (!said) {
      outcome = said.error();
    } else if (const auto replicas = said->value().integer()) {
      replication.replicas = *replicas;
    } else {
      const auto text = said->value().text();
      replication.failure = text ? meaning_of(*text) : Errc::protocol;
    }
    answered.wake();
  }
};

}  // namespace mailonce::redis
