#include "message_rate.h"

#include <algorithm>

namespace mailonce::server {
namespace {

constexpr seconds minute{60};

}  // namespace

bool MessageRate::take(const std::string& client, SteadyClock::time_point now) {
  if (a_minute_ == 0) return true;
  const std::lock_guard lock(mutex_);
  forget_rested(now);
  auto& earned = earned_[client];
  const auto next = std::max(earned, now) + SteadyClock::duration(minute) / a_minute_;
  if (next > now + minute) return false;
  earned = next;
  return true;
}

void MessageRate::forget_rested(SteadyClock::time_point now) {
  if (now - forgotten_ < minute) return;
  forgotten_ = now;
  std::erase_if(earned_, [now](const auto& entry) { return entry.second <= now; });
}

std::size_t MessageRate::remembered() const {
  const std::lock_guard lock(mutex_);
  return earned_.size();
}

}  // namespace mailonce::server
