#include "mailonce/upstream/pacer.h"

#include <algorithm>
#include <chrono>

namespace mailonce::upstream {
namespace {

using std::chrono::nanoseconds;

std::int64_t ticks(SteadyClock::duration time) noexcept {
  return std::chrono::duration_cast<nanoseconds>(time).count();
}

}  // namespace

Pacer::Pacer(Rate rate) noexcept
    : interval_(std::max<std::int64_t>(ticks(rate.each) / static_cast<std::int64_t>(rate.count), 1)) {}

std::optional<milliseconds> Pacer::book(std::uint64_t count, SteadyClock::time_point now,
                                        milliseconds at_most) noexcept {
  const std::int64_t time = ticks(now.time_since_epoch());
  std::int64_t free_from = free_from_.load();
  for (;;) {
    const std::int64_t start = std::max(free_from, time);
    if (start - time > ticks(at_most)) return std::nullopt;
    const std::int64_t end = start + interval_ * static_cast<std::int64_t>(count);
    if (free_from_.compare_exchange_weak(free_from, end))
      return std::chrono::ceil<milliseconds>(nanoseconds(start - time));
  }
}

void Pacer::hold_back(milliseconds pause, SteadyClock::time_point now) noexcept {
  const std::int64_t until = ticks(now.time_since_epoch() + pause);
  std::int64_t free_from = free_from_.load();
  while (free_from < until && !free_from_.compare_exchange_weak(free_from, until)) {
  }
}

}  // namespace mailonce::upstream
