// Lines for an upstream: made from validated types, so that what goes in comes out as one command.
#include <gtest/gtest.h>

#include "mailonce/smtp/client_commands.h"
#include "mailonce/smtp/error.h"
#include "mailonce/smtp/sasl.h"

namespace mailonce::smtp {
namespace {

Sender sender(std::string_view path) {
  Sender made;
  made.address = *Address::parse_reverse_path(path);
  return made;
}

std::string mail(const Sender& from, const Capabilities& offered) {
  std::string out;
  append_mail(out, from, offered);
  return out;
}

TEST(ClientCommands, MailDeclaresOnlyWhatTheUpstreamOffers) {
  auto from = sender("<a@b>");
  from.size = 1234;
  from.body = BodyType::eight_bit_mime;
  Capabilities offered;
  EXPECT_EQ(mail(from, offered), "MAIL FROM:<a@b>\r\n");
  offered.size = true;
  EXPECT_EQ(mail(from, offered), "MAIL FROM:<a@b> SIZE=1234\r\n");
  offered.eight_bit_mime = true;
  EXPECT_EQ(mail(from, offered), "MAIL FROM:<a@b> SIZE=1234 BODY=8BITMIME\r\n");
  from.body = BodyType::seven_bit;
  from.size.reset();
  EXPECT_EQ(mail(from, offered), "MAIL FROM:<a@b> BODY=7BIT\r\n");
  EXPECT_EQ(mail(sender("<>"), offered), "MAIL FROM:<>\r\n");
}

// Whether it may go there is judged before: here it is never left out.
TEST(ClientCommands, RequiretlsIsNeverLeftOut) {
  auto from = sender("<a@b>");
  from.requiretls = true;
  EXPECT_EQ(mail(from, {}), "MAIL FROM:<a@b> REQUIRETLS\r\n");
}

TEST(ClientCommands, AreAppended) {
  std::string out;
  append_ehlo(out, *HelloName::parse("relay.example"));
  append_helo(out, *HelloName::parse("relay.example"));
  append_rcpt(out, Recipient{*Address::parse_forward_path("<@route:c@d>")}, {});
  out += data_command;
  EXPECT_EQ(out, "EHLO relay.example\r\nHELO relay.example\r\nRCPT TO:<c@d>\r\nDATA\r\n");
}

TEST(HelloName, WeirdButHarmlessNamesAreTaken) {
  for (const auto* name :
       {"localhost", "my_host", "[127.0.0.1]", "[IPv6:::1]", "WIN-1234", "a.", "-", "host:25"})
    EXPECT_TRUE(HelloName::parse(name)) << name;
}

// GHSA-vvjj-xcjg-gr5g: a name that holds a line end becomes a command.
TEST(HelloName, AnythingButOneWordOfAsciiIsRefused) {
  EXPECT_EQ(HelloName::parse("a\r\nMAIL").error(), Errc::control_character);
  EXPECT_EQ(HelloName::parse(std::string_view("a\0b", 3)).error(), Errc::control_character);
  for (const auto& name :
       {std::string(), std::string("a b"), std::string("h\xc3\xb6st"), std::string(256, 'a')})
    EXPECT_EQ(HelloName::parse(name).error(), Errc::bad_syntax) << name;
}

// RFC 4616 §4.
TEST(Sasl, PlainIsOneLine) {
  std::string out;
  ASSERT_TRUE(append_auth_plain(out, "tim", "tanstaaftanstaaf"));
  EXPECT_EQ(out, "AUTH PLAIN AHRpbQB0YW5zdGFhZnRhbnN0YWFm\r\n");
}

TEST(Sasl, PlainTakesNoNulAndNoEmptyUser) {
  std::string out;
  EXPECT_EQ(append_auth_plain(out, "", "secret").error(), Errc::bad_parameter);
  EXPECT_EQ(append_auth_plain(out, std::string_view("a\0b", 3), "secret").error(), Errc::bad_parameter);
  EXPECT_EQ(append_auth_plain(out, "user", std::string_view("\0", 1)).error(), Errc::bad_parameter);
  EXPECT_EQ(out, "");
}

TEST(Sasl, LoginSendsUserAndPasswordApart) {
  std::string out;
  append_auth_login(out);
  append_login_answer(out, "user");
  append_login_answer(out, "secret");
  EXPECT_EQ(out, "AUTH LOGIN\r\ndXNlcg==\r\nc2VjcmV0\r\n");
}

}  // namespace
}  // namespace mailonce::smtp
