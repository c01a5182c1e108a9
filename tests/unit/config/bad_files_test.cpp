// A folder of mistakes: bad/NAME.toml must print what bad/NAME.expect says, line by line and nothing else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "mailonce/config/configuration.h"

namespace mailonce::config {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> mistakes() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(BAD_CONFIGURATIONS)) {
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

class BadFile : public testing::TestWithParam<std::string> {};

TEST_P(BadFile, PrintsEveryMistakeWithItsCure) {
  fs::current_path(BAD_CONFIGURATIONS);
  ::setenv("MAILONCE_TEST_SECRET", "secret", 1);
  ::unsetenv("MAILONCE_UPSTREAM_PASSWORD");
  std::ifstream file(GetParam() + ".expect");
  std::vector<std::string> expected;
  for (std::string line; std::getline(file, line);) expected.push_back(line);
  ASSERT_FALSE(expected.empty());
  EXPECT_EQ(load(GetParam() + ".toml", {}).report.lines(), expected);
}

INSTANTIATE_TEST_SUITE_P(Config, BadFile, testing::ValuesIn(mistakes()),
                         [](const auto& row) { return row.param; });

TEST(BadFile, ThatIsNoFileIsNamed) {
  EXPECT_EQ(
      load("/nonexistent/m.toml", {}).report.lines().at(0),
      "error: /nonexistent/m.toml: can not be read: No such file or directory; name a file that exists");
  EXPECT_EQ(load("/tmp", {}).report.lines().at(0),
            "error: /tmp: can not be read: Is a directory; name a file that exists");
}

}  // namespace
}  // namespace mailonce::config
