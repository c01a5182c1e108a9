#include "mailonce/redis/options.h"

#include <gtest/gtest.h>

#include "mailonce/redis/error.h"

namespace mailonce::redis {
namespace {

TEST(RedisUrl, GivesHostPortUserPasswordAndDatabase) {
  const auto options = parse_url("redis://relay:s%40cr%3Aet@cache.example:6380/7");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->host, "cache.example");
  EXPECT_EQ(options->port, 6380);
  EXPECT_EQ(options->username, "relay");
  EXPECT_EQ(options->password, "s@cr:et");
  EXPECT_EQ(options->database, 7U);
}

TEST(RedisUrl, HasDefaultsForWhatIsLeftOut) {
  for (const auto* url : {"redis://cache", "redis://cache/"}) {
    const auto options = parse_url(url);
    ASSERT_TRUE(options) << url;
    EXPECT_EQ(options->host, "cache");
    EXPECT_EQ(options->port, 6379);
    EXPECT_EQ(options->database, 0U);
    EXPECT_TRUE(options->username.empty());
    EXPECT_TRUE(options->password.empty());
  }
}

TEST(RedisUrl, TakesAPasswordWithoutAUser) {
  const auto options = parse_url("redis://:secret@cache");
  ASSERT_TRUE(options);
  EXPECT_TRUE(options->username.empty());
  EXPECT_EQ(options->password, "secret");
}

TEST(RedisUrl, TakesAnIpv6AddressInBrackets) {
  const auto options = parse_url("redis://[::1]:7000/1");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->host, "::1");
  EXPECT_EQ(options->port, 7000);
}

TEST(RedisUrl, SaysWhatIsWrong) {
  const std::pair<const char*, Errc> rows[] = {
      {"", Errc::bad_url_scheme},
      {"cache:6379", Errc::bad_url_scheme},
      // TLS is not spoken: taking it for plain text would send the password in the clear.
      {"rediss://cache", Errc::bad_url_scheme},
      {"redis://", Errc::bad_url_host},
      {"redis://:6379", Errc::bad_url_host},
      {"redis://user@", Errc::bad_url_host},
      {"redis://[::1", Errc::bad_url_host},
      {"redis://[::1]x", Errc::bad_url_host},
      {"redis://ca che", Errc::bad_url_host},
      {"redis://cache?db=1", Errc::bad_url_host},
      {"redis://cache:", Errc::bad_url_port},
      {"redis://cache:0", Errc::bad_url_port},
      {"redis://cache:65536", Errc::bad_url_port},
      {"redis://cache:63x", Errc::bad_url_port},
      {"redis://cache/one", Errc::bad_url_database},
      {"redis://cache/1/2", Errc::bad_url_database},
      {"redis://cache/-1", Errc::bad_url_database},
      {"redis://u%4:p@cache", Errc::bad_url_escape},
      {"redis://u:p%zz@cache", Errc::bad_url_escape},
  };
  for (const auto& [url, errc] : rows) {
    const auto options = parse_url(url);
    ASSERT_FALSE(options) << url;
    EXPECT_EQ(options.error(), errc) << url << ": " << options.error().message();
  }
}

TEST(RedisError, MeaningIsTheFirstWordOfTheReply) {
  EXPECT_EQ(meaning_of("NOSCRIPT No matching script. Please use EVAL."), Errc::no_script);
  EXPECT_EQ(meaning_of("OOM command not allowed when used memory > 'maxmemory'."), Errc::out_of_memory);
  EXPECT_EQ(meaning_of("READONLY You can't write against a read only replica."), Errc::read_only);
  EXPECT_EQ(meaning_of("ERR unknown command"), Errc::refused);
  EXPECT_EQ(meaning_of("NOSCRIPTS"), Errc::refused);
  EXPECT_EQ(meaning_of(""), Errc::refused);
}

}  // namespace
}  // namespace mailonce::redis
