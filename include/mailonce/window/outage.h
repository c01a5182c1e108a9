// Whether the store is down, known to all workers of the process: while it is, no message waits for it.
#pragma once
#include <atomic>
#include <cstdint>
#include <mutex>

#include "mailonce/base/clock.h"
#include "mailonce/base/result.h"
#include "mailonce/observe/log.h"

namespace mailonce::window {

// What happened during one outage; logged at its end.
struct OutageFigures {
  std::atomic<std::uint64_t> claims_local{0};
  std::atomic<std::uint64_t> claims_unasked{0};
  std::atomic<std::uint64_t> claims_deferred{0};
};

// Thread-safe. up → failed() → down → back() → up; each change is logged once.
class Outage {
 public:
  bool down() const noexcept { return down_.load(std::memory_order_acquire); }
  // Taken before the store is asked: a failure of an earlier epoch says nothing about now.
  std::uint64_t epoch() const noexcept { return epoch_.load(std::memory_order_acquire); }

  void failed(std::uint64_t epoch, error_code why, observe::Log& log);
  void back(observe::Log& log);
  // While it lasts, once a while: what it has cost so far.
  void remind(observe::Log& log);

  OutageFigures figures;
  // Facts of all workers that the store does not have yet.
  std::atomic<std::size_t> kept{0};

 private:
  std::mutex mutex_;
  std::atomic<bool> down_{false};
  std::atomic<std::uint64_t> epoch_{0};
  SteadyClock::time_point since_{};
  SteadyClock::time_point reminded_{};
};

}  // namespace mailonce::window
