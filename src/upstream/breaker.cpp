#include "mailonce/upstream/breaker.h"

#include <algorithm>
#include <utility>

namespace mailonce::upstream {

std::optional<Errc> Breaker::refuses() const noexcept {
  return open_ ? std::optional(why_) : std::nullopt;
}

bool Breaker::take_probe(SteadyClock::time_point now) noexcept {
  if (!open_ || now < next_probe_) return false;
  if (probing_ && now < next_probe_ + patience_with_a_probe) return false;
  probing_ = true;
  next_probe_ = now;
  return true;
}

bool Breaker::failed(Errc why, SteadyClock::time_point now) noexcept {
  why_ = why;
  failures_ = std::min(failures_ + 1, failures_to_open);
  if (open_ && !std::exchange(probing_, false)) return false;  // begun before the others failed
  if (failures_ < failures_to_open) return false;
  next_probe_ = now + pause_;
  pause_ = std::min(pause_ * 2, longest_pause);
  return !std::exchange(open_, true);
}

bool Breaker::reached() noexcept {
  probing_ = false;
  return std::exchange(open_, false);
}

void Breaker::works() noexcept {
  if (open_) return;  // an old connection's last words
  failures_ = 0;
  pause_ = first_pause;
}

}  // namespace mailonce::upstream
