#include "mailonce/window/outage.h"

#include <string>

namespace mailonce::window {

void Outage::failed(std::uint64_t epoch, error_code why, observe::Log& log) {
  const std::lock_guard lock(mutex_);
  if (down_ || epoch != epoch_) return;
  since_ = reminded_ = SteadyClock::now();
  ++epoch_;
  down_ = true;
  log.event(observe::Level::error, "store_down",
            "the window's store does not answer; each rule's store_down policy decides until it is back",
            {{"error", why.message()}});
}

void Outage::back(observe::Log& log) {
  const std::lock_guard lock(mutex_);
  if (!down_) return;
  ++epoch_;
  down_ = false;
  const auto lasted = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - since_);
  log.event(observe::Level::warning, "store_back", "the window's store answers again",
            {{"down_ms", std::to_string(lasted.count())},
             {"claims_local", std::to_string(figures.claims_local.exchange(0))},
             {"claims_unasked", std::to_string(figures.claims_unasked.exchange(0))},
             {"claims_deferred", std::to_string(figures.claims_deferred.exchange(0))},
             {"to_write_back", std::to_string(kept.load())}});
}

void Outage::remind(observe::Log& log) {
  constexpr seconds a_while{10};
  const std::lock_guard lock(mutex_);
  const auto now = SteadyClock::now();
  if (!down_ || now - reminded_ < a_while) return;
  reminded_ = now;
  const auto lasts = std::chrono::duration_cast<milliseconds>(now - since_);
  log.event(observe::Level::warning, "store_still_down", "the window's store does not answer",
            {{"down_ms", std::to_string(lasts.count())},
             {"claims_local", std::to_string(figures.claims_local.load())},
             {"claims_unasked", std::to_string(figures.claims_unasked.load())},
             {"claims_deferred", std::to_string(figures.claims_deferred.load())},
             {"to_write_back", std::to_string(kept.load())}});
}

}  // namespace mailonce::window
