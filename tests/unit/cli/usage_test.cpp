#include <gmock/gmock.h>

#include "fixture.h"

namespace mailonce::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

TEST_F(CommandLine, HelpGoesToStandardOutputAndNamesEverything) {
  EXPECT_EQ(mailonce({"--help"}), 0);
  for (const auto* word :
       {"serve", "check", "explain", "--version", "MAILONCE_UPSTREAM_PASSWORD", "Exit codes"}) {
    EXPECT_THAT(out(), HasSubstr(word));
  }
  EXPECT_THAT(err(), IsEmpty());
  EXPECT_EQ(mailonce({"serve", "--help"}), 0);
  for (const auto* option : {"--config", "--listen", "--upstream", "--store"})
    EXPECT_THAT(out(), HasSubstr(option));
  EXPECT_EQ(mailonce({"check", "--help"}), 0);
  EXPECT_THAT(out(), HasSubstr("--connect"));
  EXPECT_EQ(mailonce({"explain", "--help"}), 0);
  EXPECT_THAT(out(), HasSubstr("standard input"));
}

TEST_F(CommandLine, VersionIsOneLine) {
  EXPECT_EQ(mailonce({"--version"}), 0);
  EXPECT_THAT(out(), MatchesRegex("mailonce [0-9.]+\n"));
}

TEST_F(CommandLine, UsageErrorsEndWithTwoAndSayWhatIsWrong) {
  const std::vector<std::vector<std::string>> rows = {{},
                                                      {"relay"},
                                                      {"serve", "--listne", "x"},
                                                      {"serve", "extra"},
                                                      {"serve", "--config"},
                                                      {"explain"},
                                                      {"explain", "a", "b", "c"},
                                                      {"serve", "check"}};
  for (const auto& row : rows) {
    EXPECT_EQ(mailonce(row), 2) << testing::PrintToString(row);
    EXPECT_THAT(err(), Not(IsEmpty())) << testing::PrintToString(row);
    EXPECT_THAT(out(), IsEmpty()) << testing::PrintToString(row);
  }
}

}  // namespace
}  // namespace mailonce::cli
