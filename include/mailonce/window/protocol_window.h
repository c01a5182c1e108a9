// The Window over a store: owner tokens, verdicts, claims whose leases are renewed, and waking those who
// wait.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <optional>

#include "mailonce/observe/log.h"
#include "mailonce/window/hub.h"
#include "mailonce/window/store.h"
#include "mailonce/window/window.h"

namespace mailonce::window {

// What a step found, as the verdicts of its verb.
ClaimAnswer judge(Verb verb, const StepResult& result, std::string_view owner);

class ProtocolWindow final : public Window {
 public:
  // Without a lease claims are held for the window's length and not renewed: for stores that end with the
  // process. `hub` and `log` must outlive the window and its claims.
  ProtocolWindow(boost::asio::any_io_executor executor, std::shared_ptr<Store> store,
                 std::optional<milliseconds> lease, std::shared_ptr<Hub> hub, observe::Log& log);
  ~ProtocolWindow() override;

  awaitable<Result<ClaimAnswer>> claim(ClaimRequest request) override;
  awaitable<void> changed(Digest fingerprint, milliseconds at_most) override;
  awaitable<void> settle(milliseconds at_most) override;
  awaitable<Result<>> ping() override;

 private:
  struct Core;
  class HeldClaim;
  std::shared_ptr<Core> core_;
};

}  // namespace mailonce::window
