#include "mailonce/message/pattern.h"

#include <gtest/gtest.h>

namespace mailonce::message {
namespace {

TEST(Glob, IsAboutTheWholeTextInEitherCase) {
  const auto any = Pattern::glob("*@Example.com");
  EXPECT_TRUE(any.matches("a@example.COM"));
  EXPECT_TRUE(any.matches("@example.com"));
  EXPECT_FALSE(any.matches("a@example.com.evil"));
  EXPECT_FALSE(any.matches("a@exampleXcom")) << "a dot is a dot";
  EXPECT_TRUE(Pattern::glob("order-????").matches("Order-1001"));
  EXPECT_FALSE(Pattern::glob("order-????").matches("order-10011"));
  EXPECT_TRUE(Pattern::glob("").matches(""));
  EXPECT_FALSE(Pattern::glob("").matches("a"));
}

TEST(Glob, TakesWhatFollowsABackslashAsItIs) {
  EXPECT_TRUE(Pattern::glob(R"(\*\?\\)").matches(R"(*?\)"));
  EXPECT_FALSE(Pattern::glob(R"(\*)").matches("a"));
  EXPECT_TRUE(Pattern::glob(R"(a\)").matches(R"(a\)")) << "the last stands for itself";
}

TEST(Glob, CrossesLineEndsAndOctetsThatAreNoUtf8) {
  EXPECT_TRUE(Pattern::glob("a*z").matches(std::string_view("a\r\n\xff\0z", 6)));
  EXPECT_TRUE(Pattern::glob("*ü*").matches("für"));
}

TEST(Regex, IsFoundAnywhere) {
  const auto token = Pattern::regex("[0-9a-f]{8}");
  ASSERT_TRUE(token);
  EXPECT_TRUE(token->matches("id deadbeef."));
  EXPECT_FALSE(token->matches("id DEADBEEF."));
  EXPECT_EQ(token->written(), "[0-9a-f]{8}");
}

TEST(Regex, ThatIsNoneSaysWhy) {
  const auto broken = Pattern::regex("(");
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().find("missing"), std::string::npos) << broken.error();
}

TEST(Regex, RemovesEveryMatch) {
  std::string text = "at 10:15, again at 11:30.";
  Pattern::regex("[0-9]{2}:[0-9]{2}")->remove_from(text);
  EXPECT_EQ(text, "at , again at .");
  Pattern::regex("x*")->remove_from(text);
  EXPECT_EQ(text, "at , again at .") << "matches of nothing change nothing";
}

// A backtracking matcher would not come back.
TEST(Regex, TakesLinearTime) {
  std::string text(200'000, 'a');
  Pattern::regex("(a*)*b")->remove_from(text);
  EXPECT_EQ(text.size(), 200'000U);
}

}  // namespace
}  // namespace mailonce::message
