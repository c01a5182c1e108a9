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

// U+FFFD in their place: a character, but no letter, digit or space.
TEST(Regex, TakesOctetsThatAreNoUtf8ForOneCharacterEach) {
  const std::string text =
      "Gr\xfc\xdf"
      "e: Rechnung \xe2\x82 f\xc3\xbcr 7";
  for (const auto* expression : {"Rechnung", "^.*Rechnung", "^Gr..e: ", "Rechnung .. für",
                                 "[^a-z]{2}e:", "Rechnung.*7$", "\\x{FFFD}e"})
    EXPECT_TRUE(Pattern::regex(expression)->matches(text)) << expression;
  for (const auto* expression : {"Gr.e", "Gr...e", "Grü", "Gr\\pL", "Gr\\w", "Gr\\s", "Gr[[:cntrl:]]"})
    EXPECT_FALSE(Pattern::regex(expression)->matches(text)) << expression;
}

TEST(Regex, TakesOutWhatItMatchesAndNoOctetElse) {
  struct Row {
    std::string expression;
    std::string text;
    std::string kept;
  };
  const Row rows[] = {
      {"[0-9]+", "\xe4 12\xff 34 \xc3\xa4 5\xe2\x82", "\xe4 \xff  \xc3\xa4 \xe2\x82"},
      {"id=.", "id=\xff\xfe id=x\xfd id=\xc3\xa4.", "\xfe \xfd ."},
      {"[^a-z]",
       "a\xff"
       "b\xe2\x82"
       "c",
       "abc"},
      {"ü", "\xfc \xc3\xbc \xc3", "\xfc  \xc3"},
      {"(?m)^x.*$", "\xff\nx\xff\ny", "\xff\n\ny"},
      {"$|x*", "\xffxx\xff", "\xff\xff"},
      // A part of a character is none.
      {"\\C", "\xff", "\xff"},
      {"a\\C",
       "a\xff"
       "b",
       "\xff"
       "b"},
      {"\\Cb",
       "a\xff"
       "b",
       "a\xff"},
  };
  for (const auto& row : rows) {
    auto text = row.text;
    Pattern::regex(row.expression)->remove_from(text);
    EXPECT_EQ(text, row.kept) << row.expression;
  }
}

// A backtracking matcher would not come back.
TEST(Regex, TakesLinearTime) {
  std::string text(200'000, 'a');
  Pattern::regex("(a*)*b")->remove_from(text);
  EXPECT_EQ(text.size(), 200'000U);
}

}  // namespace
}  // namespace mailonce::message
