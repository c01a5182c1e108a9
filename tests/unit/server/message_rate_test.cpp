#include "message_rate.h"

#include <gtest/gtest.h>

namespace mailonce::server {
namespace {

using Time = SteadyClock::time_point;

Time at(int second) {
  return Time{} + std::chrono::hours(1) + seconds(second);
}

TEST(MessageRate, AllowsAMinutesMessagesAtOnceAndThenOneForEachShareOfIt) {
  MessageRate rate(6);
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(rate.take("shop", at(0))) << i;
  EXPECT_FALSE(rate.take("shop", at(0)));
  EXPECT_FALSE(rate.take("shop", at(9)));
  EXPECT_TRUE(rate.take("shop", at(10)));
  EXPECT_FALSE(rate.take("shop", at(10)));
  for (int i = 0; i < 6; ++i) EXPECT_TRUE(rate.take("shop", at(100))) << i;
  EXPECT_FALSE(rate.take("shop", at(100)));
}

TEST(MessageRate, IsEachClientsOwn) {
  MessageRate rate(1);
  EXPECT_TRUE(rate.take("shop", at(0)));
  EXPECT_TRUE(rate.take("billing", at(0)));
  EXPECT_FALSE(rate.take("shop", at(1)));
}

// Who asks and is refused does not push its own next message away.
TEST(MessageRate, ARefusalCostsNothing) {
  MessageRate rate(1);
  EXPECT_TRUE(rate.take("shop", at(0)));
  for (int i = 1; i < 60; ++i) EXPECT_FALSE(rate.take("shop", at(i)));
  EXPECT_TRUE(rate.take("shop", at(60)));
}

TEST(MessageRate, ClientsThatRestedAreForgotten) {
  MessageRate rate(10);
  for (int i = 0; i < 1000; ++i) rate.take("client " + std::to_string(i), at(0));
  EXPECT_EQ(rate.remembered(), 1000u);
  rate.take("another", at(61));
  EXPECT_EQ(rate.remembered(), 1u);
}

TEST(MessageRate, OfNothingIsNoLimit) {
  MessageRate rate(0);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(rate.take("shop", at(0)));
  EXPECT_EQ(rate.remembered(), 0u);
}

}  // namespace
}  // namespace mailonce::server
