#include "mailonce/message/charset.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace mailonce::message {
namespace {

TEST(Charset, Utf8IsCheckedStrictly) {
  for (const std::string_view good :
       {"", "a", "12345678\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(is_utf8(good)) << good;
  for (const std::string_view bad :
       {"\x80", "\xc3", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "12345678\xe2\x82", "\xe2\x82z"})
    EXPECT_FALSE(is_utf8(bad)) << bad;
}

TEST(Charset, ConvertsAsAWholeOrNotAtAll) {
  std::string scratch;
  EXPECT_EQ(to_utf8("\xe4", "ISO-8859-1", scratch), "ä");
  EXPECT_EQ(to_utf8("\x80", "windows-1252", scratch), "€");
  EXPECT_EQ(to_utf8("\x1b$B$\"\x1b(B", "iso-2022-jp", scratch), "あ");
  EXPECT_EQ(to_utf8("abc", "us-ascii", scratch), "abc");
  EXPECT_FALSE(to_utf8("\xe4", "us-ascii", scratch));
  EXPECT_FALSE(to_utf8("\xe4", "utf-8", scratch));
  EXPECT_FALSE(to_utf8("a\x81", "shift_jis", scratch)) << "cut inside a character";
  for (const std::string_view unknown :
       {"x-unknown", "", "utf-8//IGNORE", "iso-8859-1//TRANSLIT", "a b", "../x"})
    EXPECT_FALSE(to_utf8("abc", unknown, scratch)) << unknown;
}

TEST(Charset, ThreadsConvertAtTheSameTime) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      std::string scratch;
      for (int i = 0; i < 500; ++i)
        wrong[t] += to_utf8("\xe4", t % 2 == 0 ? "iso-8859-1" : "windows-1252", scratch) == "ä" ? 0 : 1;
    });
  }
  for (auto& thread : threads) thread.join();
  for (const int count : wrong) EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace mailonce::message
