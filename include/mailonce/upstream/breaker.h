// Whether an upstream is worth a try: after a few failures in a row nobody waits for it any more, until one
// connection in the background finds that it answers (a circuit breaker). Pure; one for the pools of one
// worker to an upstream, on its thread.
#pragma once
#include <optional>

#include "mailonce/base/clock.h"
#include "mailonce/upstream/upstream.h"

namespace mailonce::upstream {

class Breaker {
 public:
  static constexpr int failures_to_open = 3;
  static constexpr milliseconds first_pause{500};  // doubled with each probe that leads to no message
  static constexpr milliseconds longest_pause{10'000};
  static constexpr milliseconds patience_with_a_probe{30'000};  // then another is made

  // Why nobody shall wait for the upstream now; nothing: try it.
  std::optional<Errc> refuses() const noexcept;
  // It refuses, and somebody should find out whether it still has to: true for one caller, who tells.
  bool take_probe(SteadyClock::time_point now) noexcept;

  // A connection could not be made, or the upstream said nothing to an envelope. True: now it refuses, and
  // did not before.
  bool failed(Errc why, SteadyClock::time_point now) noexcept;
  // A probe came through: the upstream is tried again. One more failure is enough. True: it refused before.
  bool reached() noexcept;
  // It answered DATA or a final dot: what failed before is forgotten.
  void works() noexcept;
  // The probe ended without a result: another may be made.
  void gave_up() noexcept { probing_ = false; }

 private:
  int failures_ = 0;
  bool open_ = false;
  bool probing_ = false;
  Errc why_ = Errc::unreachable;
  milliseconds pause_ = first_pause;
  SteadyClock::time_point next_probe_{};
};

}  // namespace mailonce::upstream
