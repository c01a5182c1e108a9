#include "mailonce/upstream/breaker.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace mailonce::upstream {
namespace {

using Time = SteadyClock::time_point;

class BreakerTest : public testing::Test {
 protected:
  void fail(int times, Errc why = Errc::unreachable) {
    for (int i = 0; i < times; ++i) breaker_.failed(why, now_);
  }
  Breaker breaker_;
  Time now_{seconds(1000)};
};

TEST_F(BreakerTest, refuses_after_three_failures_in_a_row_and_says_why) {
  EXPECT_FALSE(breaker_.failed(Errc::unreachable, now_));
  EXPECT_FALSE(breaker_.failed(Errc::unreachable, now_));
  EXPECT_EQ(breaker_.refuses(), std::nullopt);
  EXPECT_TRUE(breaker_.failed(Errc::tls_failed, now_)) << "now it refuses, and did not before";
  EXPECT_EQ(breaker_.refuses(), Errc::tls_failed);
  EXPECT_FALSE(breaker_.failed(Errc::timed_out, now_)) << "told once";
}

TEST_F(BreakerTest, an_answer_in_between_begins_the_count_anew) {
  fail(2);
  breaker_.works();
  fail(2);
  EXPECT_EQ(breaker_.refuses(), std::nullopt);
}

TEST_F(BreakerTest, lets_one_find_out_after_a_pause_that_doubles_to_ten_seconds) {
  fail(3);
  EXPECT_FALSE(breaker_.take_probe(now_));
  milliseconds pause = Breaker::first_pause;
  for (int i = 0; i < 8; ++i) {
    EXPECT_FALSE(breaker_.take_probe(now_ + pause - milliseconds(1)));
    now_ += pause;
    EXPECT_TRUE(breaker_.take_probe(now_)) << pause.count();
    EXPECT_FALSE(breaker_.take_probe(now_)) << "one is enough";
    fail(1);
    pause = std::min(pause * 2, Breaker::longest_pause);
  }
  EXPECT_EQ(pause, Breaker::longest_pause);
}

TEST_F(BreakerTest, failures_of_what_was_begun_before_do_not_lengthen_the_pause) {
  fail(3);
  fail(20);
  EXPECT_TRUE(breaker_.take_probe(now_ + Breaker::first_pause));
}

TEST_F(BreakerTest, a_probe_without_a_result_leaves_room_for_another) {
  fail(3);
  now_ += Breaker::first_pause;
  ASSERT_TRUE(breaker_.take_probe(now_));
  breaker_.gave_up();
  EXPECT_TRUE(breaker_.take_probe(now_));
}

// It took a connection and says nothing to an envelope: half alive is dead.
TEST_F(BreakerTest, after_a_probe_one_failure_is_enough_until_an_envelope_is_answered) {
  fail(3);
  EXPECT_TRUE(breaker_.reached());
  EXPECT_FALSE(breaker_.reached()) << "told once";
  EXPECT_EQ(breaker_.refuses(), std::nullopt);
  fail(1);
  EXPECT_NE(breaker_.refuses(), std::nullopt);
  breaker_.reached();
  breaker_.works();
  fail(2);
  EXPECT_EQ(breaker_.refuses(), std::nullopt);
}

}  // namespace
}  // namespace mailonce::upstream
