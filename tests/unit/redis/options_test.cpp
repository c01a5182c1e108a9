#include "mailonce/redis/options.h"

#include <gtest/gtest.h>

#include "mailonce/redis/error.h"

namespace mailonce::redis {
namespace {

TEST(RedisUrl, GivesHostPortUserPasswordAndDatabase) {
  const auto options = parse_url("redis://relay:s%40cr%3Aet@cache.example:6380/7");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->servers.at(0).host, "cache.example");
  EXPECT_EQ(options->servers.at(0).port, 6380);
  EXPECT_EQ(options->username, "relay");
  EXPECT_EQ(options->password, "s@cr:et");
  EXPECT_EQ(options->database, 7U);
}

TEST(RedisUrl, HasDefaultsForWhatIsLeftOut) {
  for (const auto* url : {"redis://cache", "redis://cache/"}) {
    const auto options = parse_url(url);
    ASSERT_TRUE(options) << url;
    EXPECT_EQ(options->servers.at(0).host, "cache");
    EXPECT_EQ(options->servers.at(0).port, 6379);
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
  EXPECT_EQ(options->servers.at(0).host, "::1");
  EXPECT_EQ(options->servers.at(0).port, 7000);
}

TEST(RedisUrl, NamesSentinelsAndTheirMaster) {
  const auto options = parse_url("redis+sentinel://relay@one,[::1]:26380,three:1/my%2Fmain/2");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->topology, Topology::sentinel);
  EXPECT_FALSE(options->tls);
  EXPECT_EQ(options->servers, (std::vector<Address>{{"one", 26379}, {"::1", 26380}, {"three", 1}}));
  EXPECT_EQ(options->service, "my/main");
  EXPECT_EQ(options->username, "relay");
  EXPECT_EQ(options->database, 2U);
}

TEST(RedisUrl, NamesNodesOfACluster) {
  for (const auto* url :
       {"redis+cluster://one,two:7001", "redis+cluster://one,two:7001/", "redis+cluster://one,two:7001/0"}) {
    const auto options = parse_url(url);
    ASSERT_TRUE(options) << url;
    EXPECT_EQ(options->topology, Topology::cluster);
    EXPECT_EQ(options->servers, (std::vector<Address>{{"one", 6379}, {"two", 7001}}));
  }
}

TEST(RedisUrl, AnSMoreIsTls) {
  for (const auto* url : {"rediss://cache", "rediss+sentinel://cache/main", "rediss+cluster://cache"}) {
    const auto options = parse_url(url);
    ASSERT_TRUE(options) << url;
    EXPECT_TRUE(options->tls);
  }
}

TEST(RedisUrl, IsPrintedWithoutUserAndPassword) {
  const std::pair<const char*, const char*> rows[] = {
      {"redis://relay:secret@cache", "redis://cache:6379/0"},
      {"rediss://[::1]:7000/1", "rediss://[::1]:7000/1"},
      {"redis+sentinel://one,two:2/my%2Fmain", "redis+sentinel://one:26379,two:2/my%2Fmain/0"},
      {"redis+sentinel://u%2Fs:p%40%2F@one/my%40main", "redis+sentinel://one:26379/my%40main/0"},
      {"rediss+cluster://relay@one,two:7001", "rediss+cluster://one:6379,two:7001"},
  };
  for (const auto& [url, printed] : rows) {
    const auto options = parse_url(url);
    ASSERT_TRUE(options) << url;
    EXPECT_EQ(printable_url(*options), printed);
    EXPECT_TRUE(parse_url(printed)) << printed;
  }
}

TEST(RedisUrl, SaysWhatIsWrong) {
  const std::pair<const char*, Errc> rows[] = {
      {"", Errc::bad_url_scheme},
      {"cache:6379", Errc::bad_url_scheme},
      {"redis+tls://cache", Errc::bad_url_scheme},
      {"rediss+sentinels://cache/main", Errc::bad_url_scheme},
      {"redis://one,two", Errc::bad_url_servers},
      {"rediss://cache,", Errc::bad_url_host},
      {"redis+sentinel://one,,two/main", Errc::bad_url_host},
      {"redis+sentinel://one,two:x/main", Errc::bad_url_port},
      {"redis+sentinel://one", Errc::bad_url_service},
      {"redis+sentinel://one/", Errc::bad_url_service},
      {"redis+sentinel://one//3", Errc::bad_url_service},
      {"redis+sentinel://one/my%20main", Errc::bad_url_service},
      {"redis+sentinel://user/secret@one:465/", Errc::bad_url_escape},
      {"redis://user/secret@one", Errc::bad_url_escape},
      {"redis://user:sec/ret@one", Errc::bad_url_escape},
      {"redis+sentinel://user:sec/ret@one/main", Errc::bad_url_escape},
      {"redis+cluster://user:sec/ret@one", Errc::bad_url_escape},
      {"redis+sentinel://one/%zz", Errc::bad_url_escape},
      {"redis+sentinel://one/main/x", Errc::bad_url_database},
      {"redis+cluster://one/1", Errc::bad_url_database},
      {"redis+cluster://one/main", Errc::bad_url_database},
      {"redis://", Errc::bad_url_host},
      {"redis://:6379", Errc::bad_url_host},
      {"redis://ho\x01st", Errc::bad_url_host},
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
