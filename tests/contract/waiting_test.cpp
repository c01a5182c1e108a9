// What is dropped, forgotten and waited for; sizes and numbers.
#include "window_contract.h"

namespace mailonce::window::contract {
namespace {

class Ends : public Contract {};
INSTANTIATE_TEST_SUITE_P(Stores, Ends,
                         testing::Values(Which::memory, Which::sqlite, Which::redis, Which::guarded),
                         name_of);

TEST_P(Ends, BeginMayBeRepeated) {
  with_two_processes([](Process& one, Process&) -> awaitable<void> {
    Ask mail{"mail", {"AAAA", "BBBB"}};
    auto held = co_await claim(one, mail);
    for (int i = 0; i < 3; ++i) {
      bool begun = co_await begin(held);
      EXPECT_TRUE(begun);
    }
    co_await held->claim->release();
  });
}

TEST_P(Ends, AClaimThatIsDroppedIsReleased) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    Ask mail{"mail"};
    auto held = co_await claim(one, mail);
    EXPECT_EQ(verdicts(held), "m");
    held->claim.reset();
    const auto is_free = [&]() -> awaitable<bool> {
      auto answer = co_await claim(two, mail);
      const bool mine = verdicts(answer) == "m";
      if (mine) co_await answer->claim->release();
      co_return mine;
    };
    bool released = co_await eventually(is_free);
    EXPECT_TRUE(released);
  });
}

TEST_P(Ends, WhatWasSentIsForgottenWhenItsWindowEnds) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    Ask mail{"mail", {"AAAA"}, DoubtPolicy::resend, milliseconds(300)};
    auto first = co_await claim(one, mail);
    co_await commit(first);
    auto repeat = co_await claim(two, mail);
    EXPECT_EQ(verdicts(repeat), "d");
    const auto is_free = [&]() -> awaitable<bool> {
      auto answer = co_await claim(two, mail);
      const bool mine = verdicts(answer) == "m";
      if (mine) co_await answer->claim->release();
      co_return mine;
    };
    bool forgotten = co_await eventually(is_free);
    EXPECT_TRUE(forgotten);
  });
}

TEST_P(Ends, AWaiterIsWokenWhenTheAttemptEnds) {
  with_two_processes([](Process& one, Process&) -> awaitable<void> {
    auto executor = co_await boost::asio::this_coro::executor;
    Ask mail{"mail"};
    auto held = co_await claim(one, mail);
    bool woken = false;
    const auto from = SteadyClock::now();
    boost::asio::co_spawn(
        executor, [&one]() { return one.window().changed(sha256("mail"), milliseconds(30'000)); },
        [&woken](std::exception_ptr) { woken = true; });
    co_await nap(milliseconds(20));
    EXPECT_FALSE(woken);
    co_await held->claim->release();
    const auto is_woken = [&]() -> awaitable<bool> { co_return woken; };
    bool ended = co_await eventually(is_woken);
    EXPECT_TRUE(ended);
    EXPECT_LT(SteadyClock::now() - from, milliseconds(15'000));
  });
}

TEST_P(Ends, WaitingEndsAtItsLimit) {
  with_two_processes([](Process& one, Process&) -> awaitable<void> {
    co_await one.window().changed(sha256("nobody"), milliseconds(10));
  });
}

TEST_P(Ends, OddOctetsInAMessageIdAreKept) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    const std::string odd("<\"a b\": 7:\0\xff\r\n%s>", 18);
    Ask mail{"mail", {"AAAA"}, DoubtPolicy::resend, milliseconds(7'200'000), odd};
    auto first = co_await claim(one, mail);
    bool begun = co_await begin(first, odd);
    EXPECT_TRUE(begun);
    co_await commit(first, "Ok");
    auto repeat = co_await claim(two, mail);
    EXPECT_EQ(verdicts(repeat), "d");
    EXPECT_EQ(repeat->verdicts[0].record.message_id, odd);
  });
}

TEST_P(Ends, AThousandRecipientsAreOneClaim) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    std::vector<std::string> recipients;
    for (int i = 0; i < 1000; ++i) recipients.push_back("recipient-" + std::to_string(i));
    Ask mail{"mail", recipients};
    auto first = co_await claim(one, mail);
    EXPECT_EQ(verdicts(first), std::string(1000, 'm'));
    bool begun = co_await begin(first);
    EXPECT_TRUE(begun);
    co_await commit(first);
    auto repeat = co_await claim(two, mail);
    EXPECT_EQ(verdicts(repeat), std::string(1000, 'd'));
  });
}

TEST_P(Ends, PingIsOneWriteThatLeavesNothingInTheWay) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    for (auto* process : {&one, &two, &one}) {
      auto answered = co_await process->window().ping();
      EXPECT_TRUE(answered);
    }
  });
}

// Two hundred at the same moment, from two processes: one is mine, whoever it is.
TEST_P(Ends, OfManyAtTheSameMomentOneIsMine) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    auto executor = co_await boost::asio::this_coro::executor;
    int mine = 0;
    int ended = 0;
    std::vector<std::unique_ptr<Claim>> claims;
    for (int i = 0; i < 200; ++i) {
      boost::asio::co_spawn(
          executor,
          [&, process = i % 2 == 0 ? &one : &two]() -> awaitable<void> {
            Ask mail{"mail"};
            auto answer = co_await claim(*process, mail);
            if (verdicts(answer) == "m") ++mine;
            if (answer && answer->claim) claims.push_back(std::move(answer->claim));
          },
          [&ended](std::exception_ptr) { ++ended; });
    }
    const auto all_ended = [&]() -> awaitable<bool> { co_return ended == 200; };
    bool done = co_await eventually(all_ended);
    EXPECT_TRUE(done);
    EXPECT_EQ(mine, 1);
    for (auto& each : claims) co_await each->release();
  });
}

}  // namespace
}  // namespace mailonce::window::contract
