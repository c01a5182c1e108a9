// A provider's rate: how many recipients a second it takes (SES counts each as one mail). One for all workers
// of the process; thread-safe, without a lock. Several processes have a rate each.
#pragma once
#include <atomic>
#include <cstdint>
#include <optional>

#include "mailonce/base/clock.h"

namespace mailonce::upstream {

struct Rate {
  std::uint64_t count = 0;  // 0: as fast as it goes
  milliseconds each = seconds(1);
  bool operator==(const Rate&) const = default;
};

// Spaced evenly, so that no second has more than its count: a burst waits.
class Pacer {
 public:
  explicit Pacer(Rate rate) noexcept;  // of a count that is not 0

  // How long to wait before so many are sent; they are booked then. Nothing, and nothing is booked: that
  // would be longer than `at_most`.
  std::optional<milliseconds> book(std::uint64_t count, SteadyClock::time_point now,
                                   milliseconds at_most) noexcept;
  // The provider said that it was too fast (454, 421): for `pause` nobody is let through who asks now.
  void hold_back(milliseconds pause, SteadyClock::time_point now) noexcept;

 private:
  const std::int64_t interval_;             // nanoseconds one takes
  std::atomic<std::int64_t> free_from_{0};  // nanoseconds of SteadyClock: everything before is booked
};

}  // namespace mailonce::upstream
