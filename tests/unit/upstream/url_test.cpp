#include <gtest/gtest.h>

#include "mailonce/smtp/hello_name.h"
#include "mailonce/upstream/options.h"

namespace mailonce::upstream {
namespace {

struct Good {
  const char* url;
  const char* host;
  std::uint16_t port;
  Security security;
  const char* username;
};
class UrlIsRead : public testing::TestWithParam<Good> {};

TEST_P(UrlIsRead, as_host_port_security_and_user) {
  const auto options = parse_url(GetParam().url);
  ASSERT_TRUE(options) << options.error().reason;
  EXPECT_EQ(options->host, GetParam().host);
  EXPECT_EQ(options->port, GetParam().port);
  EXPECT_EQ(options->security, GetParam().security);
  EXPECT_EQ(options->username, GetParam().username);
  EXPECT_TRUE(options->password.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Urls, UrlIsRead,
    testing::Values(
        Good{"smtp://mail.example", "mail.example", 25, Security::plain, ""},
        Good{"smtp+starttls://smtp.mailgun.org", "smtp.mailgun.org", 587, Security::starttls, ""},
        Good{"SMTPS://Email-SMTP.eu-west-1.amazonaws.com/", "email-smtp.eu-west-1.amazonaws.com", 465,
             Security::tls, ""},
        Good{"smtp://127.0.0.1:2525", "127.0.0.1", 2525, Security::plain, ""},
        Good{"smtp://[::1]:1025", "::1", 1025, Security::plain, ""},
        Good{"smtp://[::1]", "::1", 25, Security::plain, ""},
        Good{"smtps://apikey@smtp.sendgrid.net", "smtp.sendgrid.net", 465, Security::tls, "apikey"},
        // A user name may hold '@', written or escaped.
        Good{"smtps://a%40b.example@mail.example:465", "mail.example", 465, Security::tls, "a@b.example"},
        Good{"smtps://a@b.example@mail.example", "mail.example", 465, Security::tls, "a@b.example"}));

struct Bad {
  const char* url;
  const char* reason;
};
class UrlIsRefused : public testing::TestWithParam<Bad> {};

TEST_P(UrlIsRefused, with_a_reason) {
  const auto options = parse_url(GetParam().url);
  ASSERT_FALSE(options);
  EXPECT_NE(options.error().reason.find(GetParam().reason), std::string::npos) << options.error().reason;
}

INSTANTIATE_TEST_SUITE_P(
    Urls, UrlIsRefused,
    testing::Values(Bad{"", "begins with"}, Bad{"mail.example:25", "begins with"},
                    Bad{"http://mail.example", "begins with"}, Bad{"://mail.example", "begins with"},
                    Bad{"smtp://", "host is missing"}, Bad{"smtp://:25", "host is missing"},
                    Bad{"smtp://user@", "host is missing"},
                    // It would stand in process lists and shell histories.
                    Bad{"smtps://user:secret@mail.example", "password"},
                    Bad{"smtp://mail.example:0", "not a port"},
                    Bad{"smtp://mail.example:65536", "not a port"}, Bad{"smtp://mail.example:", "not a port"},
                    Bad{"smtp://mail.example:2x", "not a port"}, Bad{"smtp://::1", "in brackets"},
                    Bad{"smtp://[::1", "does not end"}, Bad{"smtp://[mail.example]", "not an IPv6"},
                    Bad{"smtp://[::1]25", "only a port"}, Bad{"smtp://mail.example/in", "nothing may follow"},
                    Bad{"smtp://mail.example?tls=no", "nothing may follow"},
                    Bad{"smtp://mail exam\rple", "not a host name"}, Bad{"smtp://@mail.example", "user name"},
                    Bad{"smtp://a%4@mail.example", "user name"},
                    Bad{"smtp://a%0d%0aQUIT@mail.example", "user name"}));

TEST(UrlIsRefused, with_a_nul_behind_its_address) {
  EXPECT_FALSE(parse_url(std::string_view("smtp://[::1\0]", 13)));
}

// Gmail's relay refuses "localhost" (421 4.7.0).
TEST(EhloName, by_default_is_qualified_or_an_address_and_always_sayable) {
  const std::string name = default_ehlo_name();
  EXPECT_TRUE(name == "[127.0.0.1]" || name.find('.') != std::string::npos) << name;
  EXPECT_TRUE(smtp::HelloName::parse(name));
}

}  // namespace
}  // namespace mailonce::upstream
