// Claims, commits and leases: who may send, and what a repeat is told.
#include "window_contract.h"

namespace mailonce::window::contract {
namespace {

class Claims : public Contract {};
INSTANTIATE_TEST_SUITE_P(Stores, Claims,
                         testing::Values(Which::memory, Which::sqlite, Which::redis, Which::guarded),
                         name_of);

TEST_P(Claims, WhatNobodySentIsMineAndThenBusyForOthers) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    Ask mail{"mail"};
    auto first = co_await claim(one, mail);
    EXPECT_EQ(verdicts(first), "m");
    auto second = co_await claim(two, mail);
    EXPECT_EQ(verdicts(second), "b");
    EXPECT_TRUE(second->busy && !second->claim);
    bool begun = co_await begin(first);
    EXPECT_TRUE(begun);
    auto third = co_await claim(two, mail);
    EXPECT_EQ(verdicts(third), "b");
    auto same_process = co_await claim(one, mail);
    EXPECT_EQ(verdicts(same_process), "b");
    co_await first->claim->release();
    auto fourth = co_await claim(two, mail);
    EXPECT_EQ(verdicts(fourth), "m");
    co_await fourth->claim->release();
  });
}

TEST_P(Claims, WhatWasSentIsADuplicateWithItsRecord) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    Ask mail{"mail"};
    auto first = co_await claim(one, mail);
    bool begun = co_await begin(first);
    EXPECT_TRUE(begun);
    bool stored = co_await commit(first, "2.0.0 Ok\n0100018f-ses");
    EXPECT_TRUE(stored);
    for (auto* process : {&one, &two}) {
      Ask again{"mail", {"AAAA"}, DoubtPolicy::resend, milliseconds(7'200'000), "<second@example>", "other"};
      auto repeat = co_await claim(*process, again);
      EXPECT_EQ(verdicts(repeat), "d");
      EXPECT_EQ(repeat->claim, nullptr);
      const auto& record = repeat->verdicts[0].record;
      EXPECT_EQ(record.reply, (smtp::Reply{250, "2.0.0 Ok\n0100018f-ses"}));
      EXPECT_EQ(record.upstream, "ses");
      EXPECT_EQ(record.message_id, "<first@example>");
      EXPECT_EQ(record.content, "first-content");
      EXPECT_GE(repeat->now, record.at);
      EXPECT_LT(repeat->now - record.at, milliseconds(60'000));
    }
  });
}

TEST_P(Claims, ARecipientAddedLaterIsTheOnlyOneThatIsMine) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    Ask two_recipients{"mail", {"AAAA", "BBBB"}};
    auto first = co_await claim(one, two_recipients);
    EXPECT_EQ(verdicts(first), "mm");
    co_await commit(first);
    Ask three_recipients{"mail", {"AAAA", "CCCC", "BBBB"}};
    auto second = co_await claim(two, three_recipients);
    EXPECT_EQ(verdicts(second), "dmd");
    bool begun = co_await begin(second);
    EXPECT_TRUE(begun);
    co_await commit(second, "Ok second");
    auto third = co_await claim(one, three_recipients);
    EXPECT_EQ(verdicts(third), "ddd");
    EXPECT_EQ(third->verdicts[0].record.reply.text, "Ok first");
    EXPECT_EQ(third->verdicts[1].record.reply.text, "Ok second");
  });
}

TEST_P(Claims, OneBusyRecipientAndNothingIsHeld) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    Ask middle{"mail", {"BBBB"}};
    auto first = co_await claim(one, middle);
    Ask all{"mail", {"AAAA", "BBBB", "CCCC"}};
    auto second = co_await claim(two, all);
    EXPECT_EQ(verdicts(second), "bbb");
    Ask others{"mail", {"AAAA", "CCCC"}};
    auto third = co_await claim(one, others);
    EXPECT_EQ(verdicts(third), "mm");
    co_await third->claim->release();
    co_await first->claim->release();
  });
}

TEST_P(Claims, ADeadProcesssClaimIsTakenWhenItsLeaseEndsAndItsBeginFails) {
  with_two_processes(
      [](Process& one, Process& two) -> awaitable<void> {
        Ask mail{"mail"};
        auto lost = co_await claim(one, mail);
        EXPECT_EQ(verdicts(lost), "m");
        one.kill();
        Result<ClaimAnswer> taken = ClaimAnswer{};
        const auto is_mine = [&]() -> awaitable<bool> {
          taken = co_await claim(two, mail);
          co_return verdicts(taken) == "m";
        };
        bool mine = co_await eventually(is_mine);
        EXPECT_TRUE(mine);
        bool begun = co_await begin(lost);
        EXPECT_FALSE(begun);
        begun = co_await begin(taken);
        EXPECT_TRUE(begun);
        co_await lost->claim->release();  // not its own any more
        begun = co_await begin(taken);
        EXPECT_TRUE(begun);
        co_await taken->claim->release();
      },
      milliseconds(60));
}

TEST_P(Claims, ACommitIsRecordedWhoeverOwnsTheRecordAndTheFirstSentStays) {
  with_two_processes(
      [](Process& one, Process& two) -> awaitable<void> {
        Ask mail{"mail"};
        auto slow = co_await claim(one, mail);
        one.kill();
        Result<ClaimAnswer> taken = ClaimAnswer{};
        const auto is_mine = [&]() -> awaitable<bool> {
          taken = co_await claim(two, mail);
          co_return verdicts(taken) == "m";
        };
        bool mine = co_await eventually(is_mine);
        EXPECT_TRUE(mine);
        co_await commit(slow, "Ok slow");
        bool begun = co_await begin(taken);
        EXPECT_FALSE(begun);
        co_await commit(taken, "Ok later");
        auto repeat = co_await claim(two, mail);
        EXPECT_EQ(verdicts(repeat), "d");
        if (GetParam() != Which::guarded) {
          EXPECT_EQ(repeat->verdicts[0].record.reply.text, "Ok slow");
        }
      },
      milliseconds(60));
}

TEST_P(Claims, ALeaseIsRenewedWhileItsClaimLives) {
  with_two_processes(
      [](Process& one, Process& two) -> awaitable<void> {
        Ask mail{"mail"};
        auto held = co_await claim(one, mail);
        bool begun = co_await begin(held);
        EXPECT_TRUE(begun);
        const auto until = SteadyClock::now() + milliseconds(1500);
        while (SteadyClock::now() < until) {
          auto other = co_await claim(two, mail);
          EXPECT_EQ(verdicts(other), "b");
          co_await nap(milliseconds(10));
        }
        co_await held->claim->release();
      },
      milliseconds(600));
}

}  // namespace
}  // namespace mailonce::window::contract
