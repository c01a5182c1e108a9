// Doubt: how it comes about, what the policies answer, and how it ends.
#include "window_contract.h"

namespace mailonce::window::contract {
namespace {

class Doubt : public Contract {};
INSTANTIATE_TEST_SUITE_P(Stores, Doubt,
                         testing::Values(Which::memory, Which::sqlite, Which::redis, Which::guarded),
                         name_of);

TEST_P(Doubt, DoubtIsAnsweredByPolicy) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    Ask mail{"mail"};
    auto first = co_await claim(one, mail);
    bool begun = co_await begin(first);
    EXPECT_TRUE(begun);
    co_await first->claim->doubt();

    Ask defer{"mail", {"AAAA"}, DoubtPolicy::defer};
    auto deferred = co_await claim(two, defer);
    EXPECT_EQ(verdicts(deferred), "B");
    Ask suppress{"mail", {"AAAA"}, DoubtPolicy::suppress};
    auto suppressed = co_await claim(two, suppress);
    EXPECT_EQ(verdicts(suppressed), "D");
    EXPECT_EQ(suppressed->claim, nullptr);
    Ask resend{"mail",          {"AAAA"}, DoubtPolicy::resend, milliseconds(7'200'000), "<second@example>",
               "second-content"};
    auto again = co_await claim(two, resend);
    EXPECT_EQ(verdicts(again), "M");
    EXPECT_EQ(again->verdicts[0].record.message_id, "<first@example>");
    EXPECT_EQ(again->verdicts[0].record.content, "first-content");
    auto meanwhile = co_await claim(one, resend);
    EXPECT_EQ(verdicts(meanwhile), "b");
    begun = co_await begin(again);
    EXPECT_TRUE(begun);
    co_await commit(again);
    auto repeat = co_await claim(one, suppress);
    EXPECT_EQ(verdicts(repeat), "d");
    EXPECT_EQ(repeat->verdicts[0].record.message_id, "<first@example>");
    EXPECT_EQ(repeat->verdicts[0].record.content, "second-content");
  });
}

TEST_P(Doubt, AResendThatIsRefusedReturnsToDoubt) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    Ask mail{"mail"};
    auto first = co_await claim(one, mail);
    bool begun = co_await begin(first);
    EXPECT_TRUE(begun);
    co_await first->claim->doubt();
    for (const bool after_begin : {false, true}) {
      Ask resend{"mail", {"AAAA"}, DoubtPolicy::resend, milliseconds(7'200'000), "<second@example>"};
      auto again = co_await claim(two, resend);
      EXPECT_EQ(verdicts(again), "M");
      if (after_begin) begun = co_await begin(again);
      EXPECT_TRUE(begun);
      co_await again->claim->release();
      Ask defer{"mail", {"AAAA"}, DoubtPolicy::defer};
      auto still = co_await claim(one, defer);
      EXPECT_EQ(verdicts(still), "B");
      EXPECT_EQ(still->verdicts[0].record.message_id, "<first@example>");
    }
  });
}

TEST_P(Doubt, AProcessThatDiesWhileSendingLeavesDoubt) {
  with_two_processes(
      [](Process& one, Process& two) -> awaitable<void> {
        Ask mail{"mail"};
        auto lost = co_await claim(one, mail);
        bool begun = co_await begin(lost);
        EXPECT_TRUE(begun);
        one.kill();
        Ask suppress{"mail", {"AAAA"}, DoubtPolicy::suppress};
        const auto in_doubt = [&]() -> awaitable<bool> {
          auto answer = co_await claim(two, suppress);
          co_return verdicts(answer) == "D";
        };
        bool doubt = co_await eventually(in_doubt);
        EXPECT_TRUE(doubt);
      },
      milliseconds(60));
}

TEST_P(Doubt, AProcessThatDiesInAResendLeavesDoubt) {
  with_two_processes(
      [](Process& one, Process& two) -> awaitable<void> {
        Ask mail{"mail"};
        auto first = co_await claim(two, mail);
        bool begun = co_await begin(first);
        EXPECT_TRUE(begun);
        co_await first->claim->doubt();
        auto lost = co_await claim(one, mail);
        EXPECT_EQ(verdicts(lost), "M");
        one.kill();
        Ask suppress{"mail", {"AAAA"}, DoubtPolicy::suppress};
        const auto in_doubt = [&]() -> awaitable<bool> {
          auto answer = co_await claim(two, suppress);
          co_return verdicts(answer) == "D";
        };
        bool doubt = co_await eventually(in_doubt);
        EXPECT_TRUE(doubt);
      },
      milliseconds(60));
}

TEST_P(Doubt, TwoPoliciesInOneMessageAreJudgedRecipientByRecipient) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    Ask sent{"mail", {"AAAA"}};
    auto first = co_await claim(one, sent);
    co_await commit(first);
    Ask unclear{"mail", {"BBBB"}};
    auto second = co_await claim(one, unclear);
    bool begun = co_await begin(second);
    EXPECT_TRUE(begun);
    co_await second->claim->doubt();
    Ask defer{"mail", {"AAAA", "BBBB", "CCCC"}, DoubtPolicy::defer};
    auto deferred = co_await claim(two, defer);
    EXPECT_EQ(verdicts(deferred), "dBb");
    Ask suppress{"mail", {"AAAA", "BBBB", "CCCC"}, DoubtPolicy::suppress};
    auto suppressed = co_await claim(two, suppress);
    EXPECT_EQ(verdicts(suppressed), "dDm");
    co_await suppressed->claim->release();
    Ask resend{"mail", {"AAAA", "BBBB", "CCCC"}};
    auto again = co_await claim(two, resend);
    EXPECT_EQ(verdicts(again), "dMm");
    co_await again->claim->release();
  });
}

// Only its owner knew whether the dot was written.
TEST_P(Doubt, AClaimThatIsDroppedAfterItsBeginIsDoubt) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    Ask mail{"mail"};
    auto held = co_await claim(one, mail);
    bool begun = co_await begin(held);
    EXPECT_TRUE(begun);
    held->claim.reset();
    Ask suppress{"mail", {"AAAA"}, DoubtPolicy::suppress};
    const auto in_doubt = [&]() -> awaitable<bool> {
      auto answer = co_await claim(two, suppress);
      co_return verdicts(answer) == "D";
    };
    bool doubt = co_await eventually(in_doubt);
    EXPECT_TRUE(doubt);
  });
}

// The store loses the record under the claim: its begin is lost, and dropping it says nothing about the dot.
TEST_P(Doubt, ALostClaimThatIsDroppedLeavesNoDoubt) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    Ask mail{"mail"};
    auto lost = co_await claim(one, mail);
    const std::vector<std::string> recipients{"AAAA"};
    Step step;
    step.verb = Verb::look;
    step.fingerprint = sha256("mail");
    step.recipients = recipients;
    auto found = co_await two.store().step(step);
    EXPECT_TRUE(found);
    const auto owner = found->before.at(0).owner;
    step.verb = Verb::release;
    step.particulars.owner = owner;
    co_await two.store().step(step);
    bool begun = co_await begin(lost);
    EXPECT_FALSE(begun);
    lost->claim.reset();
    co_await nap(milliseconds(30));
    Ask defer{"mail", {"AAAA"}, DoubtPolicy::defer};
    auto again = co_await claim(two, defer);
    EXPECT_EQ(verdicts(again), "m");
    co_await again->claim->release();
  });
}

}  // namespace
}  // namespace mailonce::window::contract
