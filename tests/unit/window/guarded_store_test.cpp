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

// Every step is carried out and none is replicated: the master has all of them.
TEST_P(Guard, ABeginThatIsNotReplicatedIsNoOutage) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->carries_out = true;
  store->with = make_error_code(Errc::not_replicated);
  store->on_step = [&](const Step& step) { store->down = step.verb == Verb::begin; };
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    auto end = co_await attempt(process.window, GetParam(), End::sent);
    EXPECT_FALSE(process.outage.down());
    EXPECT_EQ(process.outage.kept, 0U);
    const bool may_send = GetParam() != StoreDownPolicy::defer;
    EXPECT_EQ(end, may_send ? End::sent : End::lost);
    EXPECT_EQ(in_store(*store, "mail"), may_send ? State::sent : State::absent);
  });
}

TEST_P(Guard, AMessageWhoseRecordsMoveIsBusyAndNoOutage) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->refuses = sha256("mail");
  store->with = make_error_code(Errc::record_moving);
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    auto asked = request("mail", GetParam());
    auto answer = co_await process.window.claim(std::move(asked));
    EXPECT_TRUE(answer && answer->busy && !answer->claim);
    EXPECT_FALSE(process.outage.down());
    store->refuses.reset();
    auto end = co_await attempt(process.window, GetParam(), End::sent);
    EXPECT_EQ(end, End::sent);
  });
}

TEST_P(Guard, WhatBeginsToMoveAfterItsClaimIsNotSent) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->with = make_error_code(Errc::record_moving);
  store->on_step = [&](const Step& step) { store->down = step.verb == Verb::begin; };
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    auto end = co_await attempt(process.window, GetParam(), End::sent);
    EXPECT_EQ(end, End::lost);
    EXPECT_FALSE(process.outage.down());
    EXPECT_EQ(in_store(*store, "mail"), State::absent);
  });
}

}  // namespace
}  // namespace mailonce::window::guard
