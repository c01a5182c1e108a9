#include "mailonce/upstream/breaker.h"

#include <algorithm>
#include <utility>

namespace mailonce::upstream {

std::optional<Errc> Breaker::refuses() const noexcept {
  return open_ ? std::optional(why_) : std::nullopt;
}

bool Breaker::take_probe(SteadyClock::time_point now) noexcept {
  if (!open_ || probing_ || now < next_probe_) return false;
  probing_ = true;
  return true;
}

bool Breaker::failed(Errc why, SteadyClock::time_point now) noexcept {
  why_ = why;
  failures_ = std::min(failures_ + 1, failures_to_open);
  if (open_ && !std::exchange(probing_, false)) return false;  // begun before the others failed
  if (failures_ < failures_to_open) return false;
  pause_ = open_ ? std::min(pause_ * 2, longest_pause) : first_pause;
  next_probe_ = now + pause_;
  return !std::exchange(open_, true);
}

bool Breaker::reached() noexcept {
  probing_ = false;
  return std::exchange(open_, false);
}

void Breaker::works() noexcept {
  failures_ = 0;
}

}  // namespace mailonce::upstream
