// STARTTLS and AUTH as the server's machine plays them.
#include <gtest/gtest.h>

#include "dialogue.h"
#include "mailonce/base/encoding.h"

namespace mailonce::smtp {
namespace {

using namespace std::string_literals;

ServerMachineOptions with_auth() {
  auto options = Dialogue::default_options();
  options.starttls = options.auth = options.auth_in_clear = options.require_auth = true;
  return options;
}

Capabilities path() {
  auto out = Dialogue::default_path();
  out.auth = {"PLAIN", "LOGIN", "XOAUTH2"};
  return out;
}

Dialogue session(ServerMachineOptions options = with_auth()) {
  Dialogue dialogue(std::move(options), path());
  dialogue.say(hello);
  return dialogue;
}

std::string plain(const std::string& message) {
  return "AUTH PLAIN " + to_base64(message) + "\r\n";
}

TEST(ServerAuth, PlainWithAndWithoutAnInitialResponse) {
  auto at_once = session();
  EXPECT_EQ(at_once.say(plain("\0tim\0tanstaaftanstaaf"s)), "235 2.7.0 welcome\r\n");
  EXPECT_EQ(at_once.outcome.actions, std::vector<std::string>{"password tim tanstaaftanstaaf"});
  auto asked = session();
  EXPECT_EQ(asked.say("auth plain\r\n"), "334 \r\n");
  EXPECT_EQ(asked.say(to_base64("tim\0tim\0secret"s) + "\r\n"), "235 2.7.0 welcome\r\n");
  EXPECT_TRUE(asked.machine.authenticated());
}

TEST(ServerAuth, LoginAsksForBothUnlessTheUserCameAtOnce) {
  auto asked = session();
  EXPECT_EQ(asked.say("AUTH LOGIN\r\n"), "334 VXNlcm5hbWU6\r\n");
  EXPECT_EQ(asked.say("dXNlcg==\r\n"), "334 UGFzc3dvcmQ6\r\n");
  EXPECT_EQ(asked.say("c2VjcmV0\r\n"), "235 2.7.0 welcome\r\n");
  EXPECT_EQ(asked.outcome.actions, std::vector<std::string>{"password user secret"});
  auto at_once = session();
  EXPECT_EQ(at_once.say("AUTH LOGIN dXNlcg==\r\n"), "334 UGFzc3dvcmQ6\r\n");
  EXPECT_EQ(at_once.say("\r\n"), "235 2.7.0 welcome\r\n") << "an empty password is for others to judge";
}

TEST(ServerAuth, XOAuth2GivesATokenOfAnyUsualLength) {
  auto dialogue = session();
  const std::string token(6000, 't');
  const auto response = to_base64(
      "user=a@b.example\x01"
      "auth=Bearer " +
      token + "\x01\x01");
  EXPECT_EQ(dialogue.say("AUTH XOAUTH2 " + response + "\r\n"), "235 2.7.0 welcome\r\n");
  EXPECT_EQ(dialogue.outcome.actions, std::vector<std::string>{"token a@b.example " + token});
}

TEST(ServerAuth, LongLinesAreForAuthAlone) {
  auto dialogue = session();
  EXPECT_EQ(dialogue.say("NOOP " + std::string(6000, 'x') + "\r\n"), "500 5.5.6 Error: line too long\r\n");
  EXPECT_EQ(dialogue.say("AUTH PLAIN " + std::string(13'000, 'x') + "\r\n"),
            "500 5.5.6 Error: line too long\r\n");
}

TEST(ServerAuth, WhatIsMalformedIsRefusedAndChecksNothing) {
  for (const auto& message :
       {"\0tim"s, "tim"s, "\0\0secret"s, "\0tim\x01\0secret"s, "\0tim\r\0secret"s, "\0tim\0a\0b"s}) {
    auto dialogue = session();
    EXPECT_EQ(dialogue.say(plain(message)).substr(0, 3), "501")
        << to_hex({reinterpret_cast<const unsigned char*>(message.data()), message.size()});
    EXPECT_TRUE(dialogue.outcome.actions.empty());
    EXPECT_EQ(dialogue.say("NOOP\r\n"), "250 2.0.0 Ok\r\n") << "the exchange is over";
  }
  for (const auto* line : {"AUTH PLAIN =", "AUTH PLAIN !!!!", "AUTH PLAIN QQ", "AUTH", "AUTH PLAIN a b",
                           "AUTH XOAUTH2 QQ==", "AUTH XOAUTH2 ="}) {
    auto dialogue = session();
    EXPECT_EQ(dialogue.say(line + "\r\n"s).substr(0, 3), "501") << line;
  }
}

TEST(ServerAuth, AUserActsForNoOther) {
  auto dialogue = session();
  EXPECT_EQ(dialogue.say(plain("admin\0tim\0secret"s)).substr(0, 4), "535 ");
  EXPECT_TRUE(dialogue.outcome.actions.empty());
}

TEST(ServerAuth, AStarCancels) {
  auto dialogue = session();
  dialogue.say("AUTH LOGIN\r\n");
  EXPECT_EQ(dialogue.say("*\r\n"), "501 5.7.0 Authentication cancelled\r\n");
  EXPECT_EQ(dialogue.say("NOOP\r\n"), "250 2.0.0 Ok\r\n");
}

TEST(ServerAuth, MailNeedsItWhereItIsRequired) {
  auto dialogue = session();
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b>\r\n"), "530 5.7.0 Authentication required\r\n");
  dialogue.say(plain("\0tim\0secret"s));
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b> AUTH=<>\r\n"), "250 2.1.0 Ok\r\n");
}

TEST(ServerAuth, IsAskedOnceAndOutsideATransaction) {
  auto options = with_auth();
  options.require_auth = false;
  auto dialogue = session(options);
  dialogue.say("MAIL FROM:<a@b>\r\n");
  EXPECT_EQ(dialogue.say(plain("\0tim\0secret"s)).substr(0, 3), "503");
  dialogue.say("RSET\r\n");
  dialogue.say(plain("\0tim\0secret"s));
  EXPECT_EQ(dialogue.say(plain("\0tim\0secret"s)).substr(0, 3), "503");
  EXPECT_EQ(dialogue.outcome.actions.size(), 1U);
  Dialogue before(with_auth(), path());
  EXPECT_EQ(before.say(plain("\0tim\0secret"s)).substr(0, 3), "503") << "before EHLO";
}

TEST(ServerAuth, TheThirdWrongOneEndsTheSession) {
  auto dialogue = session();
  EXPECT_EQ(dialogue.say(plain("\0nobody\0a"s)), "535 5.7.8 wrong\r\n");
  EXPECT_EQ(dialogue.say(plain("\0nobody\0b"s)), "535 5.7.8 wrong\r\n");
  EXPECT_EQ(dialogue.say(plain("\0nobody\0c"s)), "421 4.7.0 Error: too many failed logins\r\n");
  EXPECT_TRUE(dialogue.closed);
}

TEST(ServerAuth, InTheClearIsNeitherOfferedNorTaken) {
  auto options = with_auth();
  options.auth_in_clear = false;
  auto dialogue = session(options);
  EXPECT_EQ(dialogue.outcome.output.find("AUTH"), std::string::npos);
  EXPECT_EQ(dialogue.say(plain("\0tim\0secret"s)).substr(0, 10), "538 5.7.11");
  EXPECT_TRUE(dialogue.outcome.actions.empty());
  EXPECT_EQ(dialogue.say("STARTTLS\r\n"), "220 2.0.0 Ready to start TLS\r\n");
  EXPECT_NE(dialogue.say("EHLO c\r\n").find("250-AUTH PLAIN LOGIN XOAUTH2\r\n"), std::string::npos);
  EXPECT_EQ(dialogue.say(plain("\0tim\0secret"s)), "235 2.7.0 welcome\r\n");
}

TEST(ServerAuth, WhatIsNotOfferedIsNotThere) {
  auto options = Dialogue::default_options();
  auto dialogue = session(options);
  EXPECT_EQ(dialogue.say(plain("\0tim\0secret"s)).substr(0, 3), "502");
  EXPECT_EQ(dialogue.say("STARTTLS\r\n").substr(0, 3), "502");
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b> AUTH=<>\r\n").substr(0, 3), "555");
  auto offering = session();
  EXPECT_EQ(offering.say("AUTH CRAM-MD5\r\n").substr(0, 3), "504");
}

TEST(ServerAuth, ALineTooLongEndsTheExchange) {
  auto dialogue = session();
  dialogue.say("AUTH LOGIN\r\n");
  EXPECT_EQ(dialogue.say(std::string(13'000, 'x') + "\r\n"), "500 5.5.6 Error: line too long\r\n");
  EXPECT_EQ(dialogue.say("NOOP\r\n"), "250 2.0.0 Ok\r\n");
}

TEST(ServerAuth, ACertificateIsEnoughAndAuthStillTaken) {
  auto dialogue = session();
  dialogue.machine.trust();
  EXPECT_EQ(dialogue.say(plain("\0tim\0secret"s)), "235 2.7.0 welcome\r\n");
  auto other = session();
  other.machine.trust();
  EXPECT_EQ(other.say("MAIL FROM:<a@b>\r\n").substr(0, 3), "250");
}

TEST(ServerStartTls, AllBeforeItIsForgotten) {
  auto dialogue = session();
  dialogue.say(plain("\0tim\0secret"s));
  EXPECT_EQ(dialogue.say("STARTTLS\r\n"), "220 2.0.0 Ready to start TLS\r\n");
  EXPECT_FALSE(dialogue.machine.authenticated());
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b>\r\n"), "503 5.5.1 Error: send EHLO or HELO first\r\n");
  EXPECT_EQ(dialogue.say("EHLO c\r\n").find("STARTTLS"), std::string::npos);
  EXPECT_EQ(dialogue.say("STARTTLS\r\n").substr(0, 3), "503");
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b>\r\n").substr(0, 3), "530");
}

TEST(ServerStartTls, NothingMayStandBehindIt) {
  auto dialogue = session();
  EXPECT_EQ(dialogue.say("STARTTLS\r\nNOOP\r\n").substr(0, 9), "554 5.5.0");
  EXPECT_TRUE(dialogue.closed);
  EXPECT_EQ(dialogue.outcome.actions, std::vector<std::string>{"close"});
}

TEST(ServerStartTls, IsNoPartOfATransaction) {
  auto options = with_auth();
  options.require_auth = false;
  auto dialogue = session(options);
  dialogue.say("MAIL FROM:<a@b>\r\n");
  EXPECT_EQ(dialogue.say("STARTTLS\r\n").substr(0, 3), "503");
}

TEST(ServerStartTls, MayBeRequired) {
  auto options = with_auth();
  options.require_tls = true;
  options.auth_in_clear = options.require_auth = false;
  auto dialogue = session(options);
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b>\r\n"), "530 5.7.0 Must issue a STARTTLS command first\r\n");
  dialogue.say("STARTTLS\r\n");
  dialogue.say(hello);
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b>\r\n").substr(0, 3), "250");
}

}  // namespace
}  // namespace mailonce::smtp
