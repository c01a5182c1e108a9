#include "mailonce/window/store.h"

#include <array>

namespace mailonce::window {

awaitable<void> Store::settle(milliseconds /*at_most*/) {
  co_return;
}

awaitable<std::vector<std::string>> Store::warnings() {
  co_return std::vector<std::string>();
}

awaitable<Result<>> probe_store(Store& store) {
  const std::array<std::string, 1> recipients{"probe"};
  Step step;
  step.verb = Verb::probe;
  step.recipients = recipients;
  step.particulars.owner = "probe";
  step.particulars.lease = milliseconds(1);
  step.particulars.window = milliseconds(1);
  auto result = co_await store.step(step);
  if (!result) co_return result.error();
  co_return Result<>();
}

}  // namespace mailonce::window
