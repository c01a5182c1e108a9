// Wall-clock time in milliseconds, injected wherever a decision depends on it.
#pragma once
#include <chrono>

namespace mailonce {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Milliseconds since the Unix epoch: what records hold, and what Redis TIME gives.
using TimePoint = std::chrono::time_point<std::chrono::system_clock, milliseconds>;

// Monotonic time, for measuring steps and for deadlines inside one process.
using SteadyClock = std::chrono::steady_clock;

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const = 0;
};

class SystemClock final : public Clock {
 public:
  TimePoint now() const override {
    return std::chrono::time_point_cast<milliseconds>(std::chrono::system_clock::now());
  }
};

// The system's time when it was made, and from there as the steady clock runs: a step of the wall clock (NTP
// or a hand) ends no lease and no window. For times that stay inside one process.
class SteadySystemClock final : public Clock {
 public:
  TimePoint now() const override {
    return begun_ + std::chrono::duration_cast<milliseconds>(SteadyClock::now() - steady_begun_);
  }

 private:
  const TimePoint begun_ = SystemClock().now();
  const SteadyClock::time_point steady_begun_ = SteadyClock::now();
};

}  // namespace mailonce
