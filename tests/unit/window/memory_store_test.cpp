#include "mailonce/window/memory_store.h"

#include <gtest/gtest.h>

#include "mailonce/base/digest.h"

namespace mailonce::window {
namespace {

class ManualClock final : public Clock {
 public:
  TimePoint now() const override { return time; }
  TimePoint time{milliseconds(1'000'000)};
};

class Memory : public testing::Test {
 protected:
  StepResult step(Verb verb, const std::string& message, const std::string& owner = "me") {
    Step out;
    out.verb = verb;
    out.fingerprint = sha256(message);
    out.recipients = recipient;
    out.particulars.owner = owner;
    out.particulars.lease = milliseconds(30'000);
    out.particulars.window = window;
    out.particulars.slide_cap = slide_cap;
    return store.apply(out);
  }
  State state(const std::string& message) { return step(Verb::look, message).before[0].state; }
  void send(const std::string& message, milliseconds lives) {
    window = lives;
    step(Verb::commit, message);
  }

  ManualClock clock;
  MemoryStore store{{.max_records = 3}, clock};
  milliseconds window{60'000};
  milliseconds slide_cap{0};
  std::vector<std::string> recipient{"AAAA"};
};

TEST_F(Memory, ForgetsTheSentRecordNearestToItsEndWhenFull) {
  send("long", milliseconds(90'000));
  send("short", milliseconds(50'000));
  send("longer", milliseconds(100'000));
  send("new", milliseconds(80'000));
  EXPECT_EQ(store.size(), 3U);
  EXPECT_EQ(state("short"), State::absent);
  EXPECT_EQ(state("long"), State::sent);
  EXPECT_EQ(state("new"), State::sent);
}

// A forgotten attempt would let its repeat pass beside it.
TEST_F(Memory, ForgetsNoAttemptUnderWayWhileThereIsASentRecord) {
  step(Verb::claim_resend, "under way");
  for (int i = 0; i < 10; ++i) send("sent " + std::to_string(i), milliseconds(90'000));
  EXPECT_EQ(store.size(), 3U);
  EXPECT_EQ(state("under way"), State::claimed);
}

TEST_F(Memory, ARecordEndsWithItsWindow) {
  send("mail", milliseconds(60'000));
  clock.time += milliseconds(60'000);
  EXPECT_EQ(state("mail"), State::sent);
  clock.time += milliseconds(1);
  EXPECT_EQ(state("mail"), State::absent);
}

TEST_F(Memory, ASlidingWindowStartsAnewWithEachRepeatUpToItsCap) {
  slide_cap = milliseconds(150'000);
  send("mail", milliseconds(60'000));
  for (int i = 0; i < 3; ++i) {  // at 50, 100 and 150 s; the last can not prolong any more
    clock.time += milliseconds(50'000);
    EXPECT_EQ(step(Verb::claim_resend, "mail", "another").before[0].state, State::sent) << i;
  }
  clock.time += milliseconds(1);
  EXPECT_EQ(state("mail"), State::absent);
}

TEST_F(Memory, AWindowThatDoesNotSlideEndsWhateverIsRepeated) {
  send("mail", milliseconds(60'000));
  clock.time += milliseconds(50'000);
  step(Verb::claim_resend, "mail", "another");
  clock.time += milliseconds(10'001);
  EXPECT_EQ(state("mail"), State::absent);
}

TEST_F(Memory, SlidingNeverShortensAWindow) {
  send("mail", milliseconds(60'000));
  slide_cap = milliseconds(10'000);
  clock.time += milliseconds(5'000);
  step(Verb::claim_resend, "mail", "another");
  clock.time += milliseconds(50'000);
  EXPECT_EQ(state("mail"), State::sent);
}

TEST_F(Memory, ADoubtEndsWithItsWindowHoweverLongTheLease) {
  window = milliseconds(1'000);
  step(Verb::claim_resend, "mail");
  step(Verb::begin, "mail");
  step(Verb::doubt, "mail");
  clock.time += milliseconds(1'001);
  EXPECT_EQ(state("mail"), State::absent);
}

TEST_F(Memory, AClaimEndsWithItsLease) {
  step(Verb::claim_resend, "mail");
  clock.time += milliseconds(30'001);
  EXPECT_TRUE(step(Verb::begin, "mail").blocked);
  EXPECT_FALSE(step(Verb::claim_resend, "mail", "another").blocked);
}

TEST_F(Memory, WhatEndedIsSweptAwayByOtherSteps) {
  step(Verb::claim_resend, "one");
  step(Verb::claim_resend, "two");
  EXPECT_EQ(store.size(), 2U);
  clock.time += milliseconds(30'001);
  state("something else");
  EXPECT_EQ(store.size(), 0U);
}

}  // namespace
}  // namespace mailonce::window
