#include "support/profile.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace mailonce::test {
namespace {

class EveryProfile : public testing::TestWithParam<const char*> {};

TEST_P(EveryProfile, LoadsAndBearsItsName) {
  EXPECT_EQ(Profile::load(GetParam()).name, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Profile, EveryProfile,
                         testing::Values("plain", "ses", "mailgun", "sendgrid", "gmail-relay", "office365"),
                         [](const auto& at) {
                           std::string name = at.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(Profile, IsChangedByWhatIsLaidOverIt) {
  auto profile =
      Profile::load("ses", "auth.required = true\nidle_close.after_s = 0.25\n[auth.users]\nme = 'secret'");
  EXPECT_TRUE(profile.auth.required);
  EXPECT_EQ(profile.auth.users.at("me"), "secret");
  EXPECT_EQ(profile.auth.missing, "530 Authentication required");
  EXPECT_EQ(profile.idle_close->after, std::chrono::milliseconds(250));
  EXPECT_EQ(profile.idle_close->line, "451 4.4.2 Timeout waiting for data from client.");
}

TEST(Profile, RefusesUnknownKeysAndWrongTypes) {
  EXPECT_THROW(Profile::load("plain", "bannner = '220 x'"), std::runtime_error);
  EXPECT_THROW(Profile::load("plain", "pipelining = 'no'"), std::runtime_error);
  EXPECT_THROW(Profile::load("plain", "banner ="), std::runtime_error);
  EXPECT_THROW(Profile::load("no-such-profile"), std::runtime_error);
}

}  // namespace
}  // namespace mailonce::test
