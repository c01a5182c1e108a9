#include "mailonce/base/blob.h"

#include <gtest/gtest.h>

namespace mailonce {
namespace {

std::string content(const Blob& blob) {
  const auto view = blob.view();
  return view ? std::string(*view) : "error: " + view.error().message();
}

TEST(Blob, StaysInMemoryUpToItsLimit) {
  Blob blob({8, "/tmp"});
  ASSERT_TRUE(blob.append("12345678"));
  EXPECT_FALSE(blob.in_file());
  EXPECT_EQ(content(blob), "12345678");
}

TEST(Blob, MovesToAFileBeyondItsLimitAndKeepsEveryOctet) {
  Blob blob({8, "/tmp"});
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    const std::string piece = "piece " + std::to_string(i) + "\r\n";
    ASSERT_TRUE(blob.append(piece));
    expected += piece;
    // A view in between must not spoil what comes after it.
    if (i % 250 == 0) {
      EXPECT_EQ(content(blob), expected);
    }
  }
  EXPECT_TRUE(blob.in_file());
  EXPECT_EQ(blob.size(), expected.size());
  EXPECT_EQ(content(blob), expected);
}

TEST(Blob, SurvivesAMove) {
  Blob blob({4, "/tmp"});
  ASSERT_TRUE(blob.append("a longer text"));
  Blob other = std::move(blob);
  EXPECT_EQ(content(other), "a longer text");
  blob = Blob({4, "/tmp"});
  ASSERT_TRUE(blob.append("x"));
  EXPECT_EQ(content(blob), "x");
}

TEST(Blob, SaysWhyAFileCanNotBeMade) {
  Blob blob({4, "/nonexistent/directory"});
  const auto result = blob.append("a longer text");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), boost::system::errc::no_such_file_or_directory);
}

TEST(Blob, IsUsableAgainAfterClear) {
  Blob blob({4, "/tmp"});
  ASSERT_TRUE(blob.append("a longer text"));
  blob.clear();
  EXPECT_EQ(blob.size(), 0U);
  ASSERT_TRUE(blob.append("abc"));
  EXPECT_EQ(content(blob), "abc");
}

}  // namespace
}  // namespace mailonce
