// A window without a store: the contract of window::Window over a map, with failures on demand.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "mailonce/window/window.h"

namespace mailonce::relay::test {

class ScriptedWindow final : public window::Window {
 public:
  std::map<std::string, window::Record> records;  // by "<fingerprint>:<recipient>"
  std::set<std::string> held;                     // claimed or sending by a live attempt
  bool store_down = false;
  bool begin_fails = false;     // the store is gone between claim and begin
  int lose_next_claims = 0;     // begin says "lost" that often
  int begins_before_loss = -1;  // that many begins succeed, the next is "lost", then all succeed
  std::function<void()> on_lost = {};
  std::function<void()> on_wait;  // what happens while somebody waits in changed()
  int waits = 0;
  int begins = 0;
  int commits = 0;
  int releases = 0;
  int doubts = 0;
  TimePoint now{milliseconds(1'000'000'000)};

  boost::asio::awaitable<Result<window::ClaimAnswer>> claim(window::ClaimRequest request) override;
  boost::asio::awaitable<void> changed(Digest fingerprint, milliseconds at_most) override;
  boost::asio::awaitable<void> settle(milliseconds) override { co_return; }
  boost::asio::awaitable<Result<>> ping() override;
};

}  // namespace mailonce::relay::test
