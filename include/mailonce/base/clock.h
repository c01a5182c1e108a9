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

}  // namespace mailonce
