// XCLIENT (Postfix's XCLIENT_README): taken from whom the options trust, and the session begins anew.
#include <gmock/gmock.h>

#include "dialogue.h"

namespace mailonce::smtp {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

ServerMachineOptions trusting() {
  auto options = Dialogue::default_options();
  options.xclient = true;
  return options;
}

TEST(Xclient, AttributesAreDecodedAndChecked) {
  const auto facts = parse_xclient(
      "ADDR=10.1.2.3 NAME=mail.example PORT=49152 PROTO=ESMTP HELO=[10.1.2.3] login=shop+2B1 DESTADDR=::1"
      "");
  EXPECT_FALSE(facts) << "an IPv6 address has a prefix";
  const auto whole = parse_xclient(
      "ADDR=10.1.2.3 NAME=mail.example PORT=49152 PROTO=ESMTP HELO=[10.1.2.3] login=shop+2B1 "
      "DESTADDR=IPV6:::1  DESTPORT=25 ");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->address.value, "10.1.2.3");
  EXPECT_EQ(whole->name.value, "mail.example");
  EXPECT_EQ(whole->hello.value, "[10.1.2.3]");
  EXPECT_EQ(whole->login.value, "shop+1");
  EXPECT_EQ(parse_xclient("ADDR=ipv6:2001:DB8:0:0::7")->address.value, "2001:db8::7");
}

TEST(Xclient, WhatIsUnavailableIsGivenAndEmpty) {
  const auto facts = parse_xclient("ADDR=[UNAVAILABLE] NAME=[TEMPUNAVAIL] LOGIN=[unavailable]");
  ASSERT_TRUE(facts);
  EXPECT_TRUE(facts->address.given && facts->name.given && facts->login.given);
  EXPECT_EQ(facts->address.value + facts->name.value + facts->login.value, "");
  EXPECT_FALSE(facts->hello.given);
}

TEST(Xclient, WhatIsMalformedIsNothing) {
  for (const auto* text : {"",
                           "  ",
                           "ADDR",
                           "ADDR=",
                           "ADDR=10.1.2",
                           "ADDR=10.1.2.3.4",
                           "ADDR=IPV6:10.1.2.3",
                           "ADDR=IPV6:fe80::1%lo",
                           "ADDR=10.1.2.3 ADDR=10.1.2.3",
                           "FOO=x",
                           "LOGIN=a=b",
                           "LOGIN=a+0Ab",
                           "LOGIN=a+00",
                           "LOGIN=a+2",
                           "LOGIN=+",
                           "LOGIN=a+7F",
                           "PORT=65536",
                           "PORT=-1",
                           "PORT=x",
                           "PROTO=LMTP",
                           "=x",
                           "ADDR=a\tb"})
    EXPECT_FALSE(parse_xclient(text)) << text;
  EXPECT_FALSE(parse_xclient("LOGIN=" + std::string(256, 'x')));
}

TEST(Xclient, IsAnnouncedAndTakenWhereItIsTrusted) {
  const auto outcome = play_anyhow(hello + "XCLIENT ADDR=10.1.2.3 LOGIN=shop\r\n", trusting());
  EXPECT_THAT(outcome.output, HasSubstr("XCLIENT NAME ADDR PORT PROTO HELO LOGIN DESTADDR DESTPORT\r\n"));
  EXPECT_THAT(outcome.output, EndsWith("\r\n220 relay ESMTP mailonce\r\n"));
  EXPECT_THAT(outcome.actions, ElementsAre("client 10.1.2.3 shop"));
}

TEST(Xclient, IsRefusedToOthers) {
  const auto outcome = play_anyhow(hello + "XCLIENT ADDR=10.1.2.3\r\nXCLIENT garbage\r\n");
  EXPECT_THAT(outcome.output, Not(HasSubstr("XCLIENT")));
  EXPECT_THAT(outcome.output, EndsWith("550 5.7.0 Error: insufficient authorization\r\n"
                                       "550 5.7.0 Error: insufficient authorization\r\n"));
  EXPECT_THAT(outcome.actions, IsEmpty());
}

TEST(Xclient, HelloMustBeSaidAgain) {
  Dialogue dialogue(trusting());
  dialogue.say(hello);
  dialogue.say("XCLIENT ADDR=10.1.2.3\r\n");
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b>\r\n"), "503 5.5.1 Error: send EHLO or HELO first\r\n");
  EXPECT_THAT(dialogue.say(hello), HasSubstr("XCLIENT")) << "it may say more of the client";
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b>\r\n"), "250 2.1.0 Ok\r\n");
}

TEST(Xclient, InATransactionOrMalformedIsRefused) {
  Dialogue dialogue(trusting());
  dialogue.say(hello);
  EXPECT_EQ(dialogue.say("XCLIENT\r\n"), "501 5.5.4 Error: bad XCLIENT attributes\r\n");
  EXPECT_EQ(dialogue.say("XCLIENT ADDR=x\r\n"), "501 5.5.4 Error: bad XCLIENT attributes\r\n");
  dialogue.say("MAIL FROM:<a@b>\r\n");
  EXPECT_EQ(dialogue.say("XCLIENT ADDR=10.1.2.3\r\n"), "503 5.5.1 Error: MAIL transaction in progress\r\n");
  EXPECT_THAT(dialogue.outcome.actions, IsEmpty());
}

// A client could put it there in the name of the proxy that passes its octets on.
TEST(Xclient, NothingMayStandBehindIt) {
  for (const auto* behind : {"NOOP\r\n", "N"}) {
    const auto outcome = play(std::string("XCLIENT ADDR=10.1.2.3\r\n") + behind, 1000, trusting());
    EXPECT_THAT(outcome.output,
                EndsWith("554 5.5.0 Error: nothing may follow XCLIENT before the greeting\r\n"));
    EXPECT_THAT(outcome.actions, ElementsAre("close"));
  }
  EXPECT_THAT(play("NOOP\r\nXCLIENT ADDR=10.1.2.3\r\n", 1000, trusting()).output,
              "250 2.0.0 Ok\r\n220 relay ESMTP mailonce\r\n");
}

TEST(Xclient, ALoginIsNotTakenWhereItWouldHaveToBeACredential) {
  auto options = trusting();
  options.xclient_login = false;
  const auto outcome = play_anyhow(hello + "XCLIENT LOGIN=shop\r\nXCLIENT LOGIN=[UNAVAILABLE]\r\n", options);
  EXPECT_THAT(outcome.output, HasSubstr("XCLIENT NAME ADDR PORT PROTO HELO DESTADDR DESTPORT\r\n"));
  EXPECT_THAT(outcome.output,
              HasSubstr("501 5.5.4 Error: LOGIN is no credential for the upstream server\r\n"));
  EXPECT_THAT(outcome.actions, ElementsAre("client  "));
}

TEST(Xclient, WhoIsDeniedIsToldAtMailUnlessItIsTrusted) {
  auto options = trusting();
  options.deny_relay = true;
  Dialogue dialogue(options);
  dialogue.say(hello);
  EXPECT_TRUE(dialogue.machine.needs_login());
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b>\r\n"), "554 5.7.1 Relaying not allowed\r\n");
  dialogue.say("XCLIENT LOGIN=shop\r\n");
  dialogue.say(hello);
  EXPECT_FALSE(dialogue.machine.needs_login());
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b>\r\n"), "250 2.1.0 Ok\r\n");
}

}  // namespace
}  // namespace mailonce::smtp
