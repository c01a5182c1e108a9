#include "mailonce/config/values.h"

#include <gtest/gtest.h>

namespace mailonce::config {
namespace {

using namespace std::string_view_literals;

TEST(Duration, IsANumberWithAUnitOrASumOfThem) {
  const std::pair<const char*, milliseconds> rows[] = {
      {"500ms", milliseconds(500)}, {"90s", seconds(90)},
      {"15min", seconds(900)},      {"2h", seconds(7200)},
      {"7d", seconds(7 * 86400)},   {"1h30min", seconds(5400)},
      {"0s", milliseconds(0)},      {"1d1ms", milliseconds(86'400'001)},
  };
  for (const auto& [text, expected] : rows) {
    const auto parsed = parse_duration(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, expected) << text;
  }
}

TEST(Duration, AnythingElseIsRefused) {
  for (const auto* text :
       {"", "2", "h", "2 h", " 2h", "2h ", "2H", "2hours", "-2h", "+2h", "1.5h", "2h30", "0x2h", "1e3s",
        "99999999999999999999s", "9223372036854775807d", "106751991168d106751991168d"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

TEST(Duration, IsWrittenAsItIsRead) {
  for (const auto* text : {"500ms", "90min", "2h", "7d", "1h30min", "0s", "1d1ms", "1min30s"}) {
    const auto duration = *parse_duration(text);
    EXPECT_EQ(*parse_duration(format_duration(duration)), duration) << text;
  }
  EXPECT_EQ(format_duration(seconds(5400)), "1h30min");
  EXPECT_EQ(format_duration(milliseconds(0)), "0s");
}

TEST(Octets, AreANumberWithAUnit) {
  const std::pair<const char*, std::uint64_t> rows[] = {
      {"512B", 512},       {"64kB", 64'000},      {"64KB", 64'000},         {"50MB", 50'000'000},
      {"1GB", 1000000000}, {"64KiB", 64 * 1024U}, {"16MiB", 16U * 1048576}, {"1GiB", 1073741824},
  };
  for (const auto& [text, expected] : rows) {
    const auto parsed = parse_octets(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(*parsed, expected) << text;
    EXPECT_EQ(*parse_octets(format_octets(expected)), expected);
  }
}

TEST(Octets, AnythingElseIsRefused) {
  for (const auto* text :
       {"", "50", "MB", "50 MB", "50M", "50mb", "1MB1kB", "-1B", "1.5MB", "18446744073709551615GiB"}) {
    EXPECT_FALSE(parse_octets(text)) << text;
  }
}

TEST(Endpoint, IsAnAddressWithItsPort) {
  EXPECT_EQ(parse_endpoint("127.0.0.1:2525")->port(), 2525);
  EXPECT_EQ(parse_endpoint("0.0.0.0:0")->port(), 0);
  EXPECT_TRUE(parse_endpoint("[::1]:25")->address().is_v6());
  for (const auto* text :
       {"", ":", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1",
        "[127.0.0.1]:25", "::1:25", "[::1]", "[]:25", "*:25", "localhost:25", "127.1:25"}) {
    EXPECT_FALSE(parse_endpoint(text)) << text;
  }
  for (const std::string_view text :
       {"127.0.0.1\0:25"sv, "[::1\0]:25"sv, "[fe80::1%\x01]:25"sv, "[::1 ]:25"sv})
    EXPECT_FALSE(parse_endpoint(text)) << testing::PrintToString(text);
}

TEST(Network, IsWrittenWithItsPrefixOrIsOneAddress) {
  server::Networks networks{{}, {}};
  for (const auto* text : {"10.0.0.0/8", "192.0.2.7", "0.0.0.0/0", "2001:db8::/32", "::1"}) {
    EXPECT_TRUE(add_network(text, networks)) << text;
  }
  ASSERT_EQ(networks.v4.size(), 3U);
  ASSERT_EQ(networks.v6.size(), 2U);
  EXPECT_EQ(networks.v4[1].prefix_length(), 32);
  EXPECT_EQ(networks.v6[1].prefix_length(), 128);
  for (const auto* text :
       {"", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.1/8", "10.0.0/8", "::/129", "2001:db8::1/32", "all"}) {
    EXPECT_FALSE(add_network(text, networks)) << text;
  }
  for (const std::string_view text :
       {"10.0.0.0\0/8"sv, "192.0.2.7\0"sv, "::1\0x"sv, "2001:db8::\0/32"sv, "fe80::%4/64"sv})
    EXPECT_FALSE(add_network(text, networks)) << testing::PrintToString(text);
  EXPECT_EQ(networks.v4.size() + networks.v6.size(), 5U) << "what is refused is not added";
}

// As a link-local client comes: its zone is the interface.
TEST(Network, HoldsAnAddressWhateverItsZone) {
  server::Networks networks;
  ASSERT_TRUE(add_network("fe80::/64", networks));
  for (const auto* text : {"fe80::1", "fe80::1%4"})
    EXPECT_TRUE(networks.contains(boost::asio::ip::make_address(text))) << text;
  EXPECT_FALSE(networks.contains(boost::asio::ip::make_address("fe80:0:0:1::1%4")));
}

TEST(Names, OfHostsAndFieldsAreChecked) {
  for (const auto* text : {"relay.example.org", "relay", "[127.0.0.1]", "[IPv6:::1]"})
    EXPECT_TRUE(parse_hostname(text)) << text;
  for (const auto* text : {"", "my relay", "relay\r\nQUIT", "https://relay"})
    EXPECT_FALSE(parse_hostname(text)) << text;
  EXPECT_TRUE(parse_field_name("X-Job-Id"));
  for (const auto* text : {"", "X-Job:", "X Job", "X\r\n", "Größe"})
    EXPECT_FALSE(parse_field_name(text)) << text;
}

TEST(PrintableUrl, ShowsNoPassword) {
  EXPECT_EQ(printable_url("smtps://user:secret@host:465"), "smtps://user:***@host:465");
  EXPECT_EQ(printable_url("redis://:s@cr:et@host"), "redis://:***@host");
  EXPECT_EQ(printable_url("user:secret@host"), "user:***@host");
  EXPECT_EQ(printable_url("user:s://ecret@host"), "user:***@host");
  for (const auto* text : {"smtps://user@host:465", "redis://host:6379/0", "memory:", ""})
    EXPECT_EQ(printable_url(text), text);
}

TEST(DidYouMean, NamesWhatIsNearAndNothingElse) {
  const std::vector<std::string_view> keys = {"content", "connections", "key", "max_idle"};
  EXPECT_EQ(did_you_mean("contnet", keys), "content");
  EXPECT_EQ(did_you_mean("Max-Idle", keys), "max_idle");
  EXPECT_EQ(did_you_mean("connection", keys), "connections");
  EXPECT_EQ(did_you_mean("keys", keys), "key");
  EXPECT_EQ(did_you_mean("password", keys), "");
  EXPECT_EQ(did_you_mean(std::string(100'000, 'x'), keys), "");
}

}  // namespace
}  // namespace mailonce::config
