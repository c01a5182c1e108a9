// Each script runs once without a failure and then with one at every step, both before the store carried the
// step out and after.
#include "guard_fixture.h"

namespace mailonce::window::guard {
namespace {

class Guard : public testing::TestWithParam<StoreDownPolicy> {};

std::string name_of(const testing::TestParamInfo<StoreDownPolicy>& each) {
  switch (each.param) {
    case StoreDownPolicy::local:
      return "local";
    case StoreDownPolicy::defer:
      return "defer";
    case StoreDownPolicy::forward:
      return "forward";
  }
  return "unknown";
}

INSTANTIATE_TEST_SUITE_P(Policies, Guard, testing::ValuesIn(policies), name_of);

TEST_P(Guard, WhatWasSentIsADuplicateWhicheverStepFails) {
  at_every_step([&](boost::asio::io_context& io, std::shared_ptr<ScriptedStore> store) -> awaitable<void> {
    Process process(io, store);
    auto end = co_await attempt(process.window, GetParam(), End::sent);
    if (end == End::sent) {
      auto again = request("mail", GetParam());
      auto repeat = co_await process.window.claim(std::move(again));
      // An error defers the client; what must not be is a second copy.
      if (repeat) {
        EXPECT_EQ(repeat->claim, nullptr);
        EXPECT_EQ(repeat->verdicts.at(0).verdict, Verdict::duplicate);
        EXPECT_EQ(repeat->verdicts.at(0).record.reply.text, "Ok first");
      } else {
        EXPECT_EQ(GetParam(), StoreDownPolicy::defer);
      }
    } else {
      EXPECT_EQ(GetParam(), StoreDownPolicy::defer);
    }
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
    if (end == End::sent) {
      EXPECT_EQ(in_store(*store, "mail"), State::sent);
    }
  });
}

TEST_P(Guard, WhatWasRefusedIsNeverADuplicateWhicheverStepFails) {
  at_every_step([&](boost::asio::io_context& io, std::shared_ptr<ScriptedStore> store) -> awaitable<void> {
    Process process(io, store);
    co_await attempt(process.window, GetParam(), End::refused);
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
    auto again = request("mail", GetParam());
    auto repeat = co_await process.window.claim(std::move(again));
    if (repeat) {
      EXPECT_EQ(repeat->verdicts.at(0).verdict, Verdict::mine);
    }
    if (repeat && repeat->claim) co_await repeat->claim->release();
  });
}

TEST_P(Guard, DoubtIsNotForgottenWhicheverStepFails) {
  at_every_step([&](boost::asio::io_context& io, std::shared_ptr<ScriptedStore> store) -> awaitable<void> {
    Process process(io, store);
    auto end = co_await attempt(process.window, GetParam(), End::doubt);
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
    if (end == End::doubt) {
      EXPECT_EQ(in_store(*store, "mail"), State::sending);
      auto again = request("mail", GetParam(), {"AAAA"}, DoubtPolicy::suppress);
      store->fail_at.reset();
      auto repeat = co_await process.window.claim(std::move(again));
      EXPECT_TRUE(repeat && repeat->verdicts.at(0).verdict == Verdict::duplicate);
      EXPECT_TRUE(repeat && repeat->verdicts.at(0).after_doubt);
    }
  });
}

// Redis was frozen, and carries the claims out when it goes on: they must not hold up the clients' retries.
TEST_P(Guard, AClaimThatWasCarriedOutUnansweredEndsWithItsAttempt) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->down = true;
  store->carries_out = true;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    co_await attempt(process.window, GetParam(), End::refused);
    store->down = false;
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
    Process other(io, store);
    auto again = request("mail", GetParam());
    auto retry = co_await other.window.claim(std::move(again));
    EXPECT_TRUE(retry && retry->claim);
    if (retry && retry->claim) co_await retry->claim->release();
  });
}

}  // namespace
}  // namespace mailonce::window::guard
