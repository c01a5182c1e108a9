#include "mailonce/message/header_fields.h"

#include <gtest/gtest.h>

namespace mailonce::message {
namespace {

TEST(HeaderFields, AreFoundWithTheExactOctetsTheyStandOn) {
  const std::string_view message = "A: 1\r\nLong-Name :  two\r\n\tthree \r\n\r\nbody: 1\r\n";
  const auto block = scan_fields(message, 10);
  ASSERT_EQ(block.fields.size(), 2U);
  EXPECT_TRUE(block.well_formed);
  EXPECT_EQ(block.fields[0].name, "A");
  EXPECT_EQ(block.fields[0].value, " 1");
  EXPECT_EQ(block.fields[0].raw, "A: 1\r\n");
  EXPECT_EQ(block.fields[1].name, "Long-Name");
  EXPECT_EQ(block.fields[1].value, "  two\r\n\tthree ");
  EXPECT_EQ(block.fields[1].value.data(), message.data() + message.find(':', 6) + 1);
  EXPECT_EQ(block.body, "body: 1\r\n");
}

TEST(HeaderFields, LfAloneEndsALineToo) {
  const auto block = scan_fields("A: 1\n 2\nB: 3\n\nbody", 10);
  ASSERT_EQ(block.fields.size(), 2U);
  EXPECT_EQ(block.fields[0].value, " 1\n 2");
  EXPECT_EQ(block.body, "body");
}

TEST(HeaderFields, TheBodyMayBeMissing) {
  const auto block = scan_fields("A: 1\r\nB: 2", 10);
  EXPECT_EQ(block.fields.size(), 2U);
  EXPECT_TRUE(block.well_formed);
  EXPECT_EQ(block.body, "");
}

TEST(HeaderFields, ALineThatIsNoFieldMakesTheHeaderMalformedAndIsSkipped) {
  for (const std::string_view bad :
       {"no colon\r\n", ": no name\r\n", "n\xc3\xa4me: 1\r\n", "two words: 1\r\n"}) {
    const auto message = std::string(bad) + "A: 1\r\n\r\n";
    const auto block = scan_fields(message, 10);
    EXPECT_FALSE(block.well_formed) << bad;
    ASSERT_EQ(block.fields.size(), 1U) << bad;
    EXPECT_EQ(block.fields[0].name, "A");
  }
  EXPECT_FALSE(scan_fields(" fold of nothing\r\nA: 1\r\n\r\n", 10).well_formed);
}

TEST(HeaderFields, MoreThanTheLimitIsMalformed) {
  EXPECT_TRUE(scan_fields("A: 1\r\nB: 2\r\n\r\n", 2).well_formed);
  EXPECT_FALSE(scan_fields("A: 1\r\nB: 2\r\nC: 3\r\n\r\n", 2).well_formed);
}

// A message cut anywhere never yields a field the whole does not begin with.
TEST(HeaderFields, ATruncatedMessageYieldsABeginningOfItsFields) {
  const std::string message = "A: 1\r\nB: x\r\n y\r\n\r\nbody";
  for (std::size_t size = 0; size <= message.size(); ++size) {
    const auto cut = message.substr(0, size);
    const auto whole = scan_fields(message, 10);
    const auto block = scan_fields(cut, 10);
    ASSERT_LE(block.fields.size(), whole.fields.size());
    for (std::size_t i = 0; i < block.fields.size(); ++i) {
      EXPECT_TRUE(whole.fields[i].raw.starts_with(block.fields[i].raw)) << size;
      EXPECT_EQ(block.fields[i].name, whole.fields[i].name);
    }
  }
}

TEST(HeaderFields, UnfoldingKeepsTheWhiteSpaceOfTheFold) {
  std::string scratch;
  EXPECT_EQ(unfold(" a\r\n b\r\n\t c \r\n", scratch), "a b\t c");
  EXPECT_EQ(unfold("  plain ", scratch), "plain");
  EXPECT_EQ(unfold("", scratch), "");
}

}  // namespace
}  // namespace mailonce::message
