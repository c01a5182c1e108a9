#include "mailonce/upstream/pacer.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace mailonce::upstream {
namespace {

constexpr milliseconds long_enough = seconds(3600);
const SteadyClock::time_point now{seconds(1000)};

TEST(Pacer, spaces_what_comes_at_once) {
  Pacer pacer(Rate{10, seconds(1)});
  for (int i = 0; i < 25; ++i) EXPECT_EQ(pacer.book(1, now, long_enough), milliseconds(100 * i));
}

TEST(Pacer, a_message_takes_as_much_as_it_has_recipients) {
  Pacer pacer(Rate{30, seconds(60)});
  EXPECT_EQ(pacer.book(5, now, long_enough), milliseconds(0));
  EXPECT_EQ(pacer.book(1, now, long_enough), seconds(10));
}

TEST(Pacer, saves_nothing_up) {
  Pacer pacer(Rate{10, seconds(1)});
  EXPECT_EQ(pacer.book(1, now + seconds(60), long_enough), milliseconds(0));
  EXPECT_EQ(pacer.book(1, now + seconds(60), long_enough), milliseconds(100));
}

TEST(Pacer, books_nothing_for_who_would_wait_too_long) {
  Pacer pacer(Rate{1, seconds(1)});
  EXPECT_EQ(pacer.book(3, now, milliseconds(0)), milliseconds(0));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(pacer.book(1, now, milliseconds(2999)), std::nullopt);
  EXPECT_EQ(pacer.book(1, now, milliseconds(3000)), milliseconds(3000));
}

TEST(Pacer, a_provider_that_asks_for_less_is_left_alone) {
  Pacer pacer(Rate{100, seconds(1)});
  pacer.hold_back(seconds(1), now);
  EXPECT_EQ(pacer.book(1, now, long_enough), seconds(1));
  pacer.hold_back(milliseconds(10), now);  // nothing is made shorter
  EXPECT_EQ(pacer.book(1, now, long_enough), milliseconds(1010));
}

// Whatever the threads, no place is given twice.
TEST(Pacer, is_one_for_all_workers) {
  Pacer pacer(Rate{1000, seconds(1)});
  constexpr int each = 500;
  std::vector<std::vector<milliseconds>> got(4);
  std::vector<std::thread> workers;
  for (auto& own : got) {
    workers.emplace_back([&pacer, &own] {
      for (int i = 0; i < each; ++i) own.push_back(*pacer.book(1, now, long_enough));
    });
  }
  for (auto& worker : workers) worker.join();
  std::vector<bool> taken(got.size() * each);
  for (const auto& own : got) {
    for (const auto wait : own) {
      const auto place = static_cast<std::size_t>(wait.count());
      ASSERT_LT(place, taken.size());
      EXPECT_FALSE(taken[place]);
      taken[place] = true;
    }
  }
}

}  // namespace
}  // namespace mailonce::upstream
