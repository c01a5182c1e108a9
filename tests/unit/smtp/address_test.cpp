#include "mailonce/smtp/address.h"

#include <gtest/gtest.h>

#include <string>

#include "mailonce/smtp/error.h"

namespace mailonce::smtp {
namespace {

std::string reverse(std::string_view path) {
  const auto address = Address::parse_reverse_path(path);
  return address ? "<" + address->text() + ">" : address.error().message();
}

std::string forward(std::string_view path) {
  const auto address = Address::parse_forward_path(path);
  return address ? "<" + address->text() + ">" : address.error().message();
}

constexpr auto bad = "bad address syntax";

TEST(Address, OrdinaryMailboxesAreTakenAsTheyAre) {
  for (const std::string path :
       {"<a@b.example>", "<First.Last+tag@Sub.Example.COM>", "<user%d@x>", "<a!b@c>",
        "<a@under_score.example>", "<a@localhost>", "<a@[127.0.0.1]>", "<a@[IPv6:::1]>",
        R"(<"quoted user"@b.example>)", R"(<"a>b"@c>)", R"(<"a\"b@x"@c>)", "<a@xn--bcher-kva.example>",
        "<a..b@docomo.example>", "<a.@b.example>"}) {
    EXPECT_EQ(reverse(path), path);
    EXPECT_EQ(forward(path), path);
  }
}

TEST(Address, TheNullPathIsASenderOnly) {
  const auto address = Address::parse_reverse_path("<>");
  ASSERT_TRUE(address);
  EXPECT_TRUE(address->null());
  EXPECT_EQ(forward("<>"), bad);
}

TEST(Address, PostmasterWithoutADomainIsARecipientOnly) {
  const auto address = Address::parse_forward_path("<PostMaster>");
  ASSERT_TRUE(address);
  EXPECT_EQ(address->local_part(), "PostMaster");
  EXPECT_EQ(address->domain(), "");
  EXPECT_EQ(address->normalized(), "PostMaster");
  EXPECT_EQ(reverse("<postmaster>"), bad);
}

TEST(Address, SourceRoutesAreDropped) {
  EXPECT_EQ(forward("<@relay,@x:user@d>"), "<user@d>");
  EXPECT_EQ(reverse("<@relay.example:user@d>"), "<user@d>");
  EXPECT_EQ(forward("<@relay user@d>"), bad);
  EXPECT_EQ(forward("<@relay,x:user@d>"), bad);
  EXPECT_EQ(forward("<@:user@d>"), bad);
}

TEST(Address, WhatIsNoMailboxIsRefused) {
  for (const std::string_view path :
       {"",        "<",          ">",          "a@b",       "<a@b",    "a@b>",         "<a>",
        "<@b>",    "<a@>",       "<a@b@c>",    "<a b@c>",   "<a@b c>", "<a@b..c>",     "<a@.b>",
        "<a@b.>",  "<<a@b>>",    "<a@b>>",     "<a@[>",     "<a@[]>",  "<a@[1.2.3.4>", "<a@[1@2]>",
        "<\"a@b>", "<\"a\"b@c>", "<a\"b\"@c>", "<a@b,c@d>", "<a@b;c>", "<a@b/c>",      "<(c)a@b>"}) {
    EXPECT_EQ(forward(path), bad) << path;
    EXPECT_EQ(reverse(path), bad) << path;
  }
}

// CVE-2026-23829 (Mailpit), CVE-2026-30227 (MimeKit): nothing that could end a command line gets into an
// address.
TEST(Address, ControlCharactersAreRefusedInQuotedStringsToo) {
  for (char control = 1; control < ' '; ++control) {
    EXPECT_EQ(forward(std::string("<a") + control + "@b>"), "control character");
    EXPECT_EQ(forward(std::string("<\"a") + control + "\"@b>"), "control character");
    EXPECT_EQ(reverse(std::string("<a@b") + control + ">"), "control character");
  }
  EXPECT_EQ(forward(std::string("<a\0@b>", 6)), "control character");
  EXPECT_EQ(forward("<a\x7f@b>"), "control character");
}

TEST(Address, Utf8IsTakenAndSaysSo) {
  EXPECT_FALSE(Address::parse_forward_path("<j\xc3\xb6rg@b>")->ascii());
  EXPECT_FALSE(Address::parse_forward_path("<a@\xe4\xbe\x8b.example>")->ascii());
  EXPECT_TRUE(Address::parse_forward_path("<a@b>")->ascii());
  EXPECT_EQ(Address::parse_forward_path("<\xe4\xbe@b>").error(), Errc::non_ascii_address) << "cut short";
  EXPECT_EQ(Address::parse_forward_path("<\xc0\xaf@b>").error(), Errc::non_ascii_address)
      << "not the shortest";
  EXPECT_EQ(Address::parse_forward_path("<\xed\xa0\x80@b>").error(), Errc::non_ascii_address) << "surrogate";
  EXPECT_EQ(Address::parse_reverse_path("<a@b\xff>").error(), Errc::non_ascii_address);
}

TEST(Address, LengthsAreBounded) {
  const std::string label(63, 'd');
  const std::string domain = label + "." + label + "." + label;  // 191
  EXPECT_EQ(forward("<" + std::string(256 - 3 - domain.size(), 'l') + "@" + domain + ">").size(), 256u);
  EXPECT_EQ(forward("<" + std::string(257 - 3 - domain.size(), 'l') + "@" + domain + ">"),
            "address too long");
}

TEST(Address, OnlyTheDomainIsNormalised) {
  EXPECT_EQ(Address::parse_forward_path("<User@EXAMPLE.Org>")->normalized(), "User@example.org");
  const auto quoted = Address::parse_forward_path("<\"A@B\"@C>");
  EXPECT_EQ(quoted->local_part(), "\"A@B\"");
  EXPECT_EQ(quoted->domain(), "C");
  EXPECT_EQ(quoted->normalized(), "\"A@B\"@c");
}

}  // namespace
}  // namespace mailonce::smtp
