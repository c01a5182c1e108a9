// The contract of a window (DESIGN.md §4), run against every store. `one` and `two` are relay processes that
// share it.
#include <gtest/gtest.h>

#include "run.h"
#include "stores.h"

namespace mailonce::window {
namespace {

using test::eventually;
using test::nap;
using test::Process;
using test::run;
using test::Shelf;
using test::Which;

struct Ask {
  std::string message;
  std::vector<std::string> recipients = {"AAAA"};
  DoubtPolicy doubt = DoubtPolicy::resend;
  milliseconds window{7'200'000};
  std::string message_id = "<first@example>";
  std::string content = "first-content";
};

awaitable<Result<ClaimAnswer>> claim(Process& process, Ask ask) {
  ClaimRequest request;
  request.fingerprint = sha256(ask.message);
  request.recipients = std::move(ask.recipients);
  request.doubt = ask.doubt;
  request.window = ask.window;
  request.message_id = std::move(ask.message_id);
  request.content = std::move(ask.content);
  request.store_down = StoreDownPolicy::defer;
  co_return co_await process.window().claim(std::move(request));
}

awaitable<bool> begin(const Result<ClaimAnswer>& answer) {
  auto begun = co_await answer->claim->begin();
  co_return begun.has_value() && *begun == Begun::sending;
}

awaitable<bool> commit(const Result<ClaimAnswer>& answer, std::string text = "Ok first") {
  smtp::Reply reply{250, std::move(text)};
  std::string upstream = "ses";
  co_return co_await answer->claim->commit(std::move(reply), std::move(upstream));
}

// One verdict a recipient: m mine, d duplicate, b busy; in capitals after doubt.
std::string verdicts(const Result<ClaimAnswer>& answer) {
  if (!answer) return "error: " + answer.error().message();
  std::string out;
  for (const auto& each : answer->verdicts) {
    const char letter = "mdb"[static_cast<int>(each.verdict)];
    out += each.after_doubt ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  return out;
}

class Contract : public testing::TestWithParam<Which> {
 protected:
  template <class Body>
  void with_two_processes(const Body& body, milliseconds lease = milliseconds(30'000)) {
    Shelf shelf(GetParam());
    run([&](boost::asio::io_context& io) -> awaitable<void> {
      Process one(io, shelf, lease);
      Process two(io, shelf, lease);
      co_await body(one, two);
      // Releases in the background still need the processes.
      co_await nap(milliseconds(20));
      one.kill();
      two.kill();
    });
  }
};

std::string name_of(const testing::TestParamInfo<Which>& each) {
  switch (each.param) {
    case Which::memory:
      return "memory";
    case Which::redis:
      return "redis";
    case Which::guarded:
      return "guarded_redis";
  }
  return "unknown";
}

INSTANTIATE_TEST_SUITE_P(Stores, Contract, testing::Values(Which::memory, Which::redis, Which::guarded),
                         name_of);

TEST_P(Contract, WhatNobodySentIsMineAndThenBusyForOthers) {
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

TEST_P(Contract, WhatWasSentIsADuplicateWithItsRecord) {
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

TEST_P(Contract, ARecipientAddedLaterIsTheOnlyOneThatIsMine) {
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

TEST_P(Contract, OneBusyRecipientAndNothingIsHeld) {
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

TEST_P(Contract, ADeadProcesssClaimIsTakenWhenItsLeaseEndsAndItsBeginFails) {
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

TEST_P(Contract, ACommitIsRecordedWhoeverOwnsTheRecordAndTheFirstSentStays) {
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

TEST_P(Contract, ALeaseIsRenewedWhileItsClaimLives) {
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

TEST_P(Contract, DoubtIsAnsweredByPolicy) {
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

TEST_P(Contract, AResendThatIsRefusedReturnsToDoubt) {
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

TEST_P(Contract, AProcessThatDiesWhileSendingLeavesDoubt) {
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

TEST_P(Contract, AProcessThatDiesInAResendLeavesDoubt) {
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

TEST_P(Contract, TwoPoliciesInOneMessageAreJudgedRecipientByRecipient) {
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

TEST_P(Contract, BeginMayBeRepeated) {
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

TEST_P(Contract, AClaimThatIsDroppedIsReleased) {
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

// Only its owner knew whether the dot was written.
TEST_P(Contract, AClaimThatIsDroppedAfterItsBeginIsDoubt) {
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
TEST_P(Contract, ALostClaimThatIsDroppedLeavesNoDoubt) {
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

TEST_P(Contract, WhatWasSentIsForgottenWhenItsWindowEnds) {
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

TEST_P(Contract, AWaiterIsWokenWhenTheAttemptEnds) {
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

TEST_P(Contract, WaitingEndsAtItsLimit) {
  with_two_processes([](Process& one, Process&) -> awaitable<void> {
    co_await one.window().changed(sha256("nobody"), milliseconds(10));
  });
}

TEST_P(Contract, OddOctetsInAMessageIdAreKept) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    const std::string odd("<\"a b\": 7:\0\xff\r\n%s>", 18);
    Ask mail{"mail", {"AAAA"}, DoubtPolicy::resend, milliseconds(7'200'000), odd};
    auto first = co_await claim(one, mail);
    bool begun = co_await begin(first);
    EXPECT_TRUE(begun);
    co_await commit(first);
    auto repeat = co_await claim(two, mail);
    EXPECT_EQ(verdicts(repeat), "d");
    EXPECT_EQ(repeat->verdicts[0].record.message_id, odd);
  });
}

TEST_P(Contract, AThousandRecipientsAreOneClaim) {
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

TEST_P(Contract, PingIsOneWriteThatLeavesNothingInTheWay) {
  with_two_processes([](Process& one, Process& two) -> awaitable<void> {
    for (auto* process : {&one, &two, &one}) {
      auto answered = co_await process->window().ping();
      EXPECT_TRUE(answered);
    }
  });
}

// Two hundred at the same moment, from two processes: one is mine, whoever it is.
TEST_P(Contract, OfManyAtTheSameMomentOneIsMine) {
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
}  // namespace mailonce::window
