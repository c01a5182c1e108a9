// The gate that `begin` opens: it runs while DATA and the body are under way, so that it costs no time
// (DESIGN.md §4). Not sooner: what waits for its turn at a provider's rate is not being sent, and must not be
// doubt if the process dies meanwhile.
#pragma once
#include <optional>
#include <string>
#include <utility>

#include "background.h"
#include "mailonce/relay/claiming.h"
#include "mailonce/relay/upstream_leg.h"

namespace mailonce::relay {

class BeginGate final : public UpstreamLeg::Gate {
 public:
  // `claiming` outlives it; `sent_id`: the Message-ID that goes out.
  BeginGate(const boost::asio::any_io_executor& executor, Claiming& claiming, std::string sent_id)
      : executor_(executor), claiming_(claiming), sent_id_(std::move(sent_id)) {}

  void start() override {
    if (begun_) return;
    begun_.emplace(executor_, [this] { return claiming_.begin(sent_id_); });
  }

  awaitable<Result<window::Begun>> open() override {
    // On another connection the store is asked again: making it may have outlasted the lease.
    auto asked = std::exchange(heard_, true) ? claiming_.begin(sent_id_) : begun_->result();
    auto result = co_await std::move(asked);
    co_return result;
  }

  // Before it goes: begin refers to it and to the claims.
  awaitable<void> finish() {
    if (begun_ && !heard_) co_await begun_->result();
  }

 private:
  const boost::asio::any_io_executor executor_;
  Claiming& claiming_;
  const std::string sent_id_;
  std::optional<Background<Result<window::Begun>>> begun_;
  bool heard_ = false;
};

}  // namespace mailonce::relay
