// SMTPUTF8 (RFC 6531) and DSN (RFC 3461): taken when they were announced, and that is when the path has them.
#include <gmock/gmock.h>

#include "dialogue.h"

namespace mailonce::smtp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Capabilities with_all() {
  auto path = Dialogue::default_path();
  path.smtputf8 = path.dsn = true;
  return path;
}

Dialogue session(Capabilities path = with_all()) {
  Dialogue dialogue(Dialogue::default_options(), std::move(path));
  dialogue.say(hello);
  return dialogue;
}

TEST(ServerExtensions, AreAnnouncedWhenThePathHasThem) {
  EXPECT_THAT(session().outcome.output, HasSubstr("250-SMTPUTF8\r\n250-DSN\r\n"));
  const auto without = session(Dialogue::default_path());
  EXPECT_THAT(without.outcome.output, Not(HasSubstr("DSN")));
  EXPECT_THAT(without.outcome.output, Not(HasSubstr("SMTPUTF8")));
  auto seven_bit = with_all();
  seven_bit.eight_bit_mime = false;
  EXPECT_THAT(session(seven_bit).outcome.output, Not(HasSubstr("SMTPUTF8"))) << "RFC 6531 needs both";
}

TEST(ServerExtensions, Utf8AddressesNeedSmtputf8AtMail) {
  auto dialogue = session();
  EXPECT_THAT(dialogue.say("MAIL FROM:<j\xc3\xb6rg@b.example>\r\n"), HasSubstr("553 5.6.7"));
  EXPECT_THAT(dialogue.say("MAIL FROM:<j\xc3\xb6rg@b.example> SMTPUTF8\r\n"), HasSubstr("250"));
  EXPECT_THAT(dialogue.say("RCPT TO:<\xe7\x94\xa8\xe6\x88\xb7@\xe4\xbe\x8b.example>\r\n"), HasSubstr("250"));
  EXPECT_THAT(dialogue.say("RCPT TO:<a@b\xff>\r\n"), HasSubstr("553 5.6.7")) << "not UTF-8";
  dialogue.say("RSET\r\nMAIL FROM:<a@b>\r\n");
  EXPECT_THAT(dialogue.say("RCPT TO:<c@d>\r\nRCPT TO:<\xc3\xb6@d>\r\nRCPT TO:<e@f>\r\n"),
              HasSubstr("250 2.1.5 Ok\r\n553 5.6.7 Error: SMTPUTF8 is needed, and was not asked for at "
                        "MAIL\r\n250 2.1.5 Ok"));
}

TEST(ServerExtensions, WhatThePathLacksIsRefusedAtMailAndRcpt) {
  auto dialogue = session(Dialogue::default_path());
  EXPECT_THAT(dialogue.say("MAIL FROM:<\xc3\xb6@b> SMTPUTF8\r\n"), HasSubstr("553 5.6.7"));
  EXPECT_THAT(dialogue.say("MAIL FROM:<a@b> RET=HDRS\r\n"), HasSubstr("555 5.5.4"));
  EXPECT_THAT(dialogue.say("MAIL FROM:<a@b>\r\nRCPT TO:<c@d> NOTIFY=NEVER\r\n"), HasSubstr("555 5.5.4"));
}

TEST(ServerExtensions, DsnParametersAreTakenAsTheyMayBe) {
  auto dialogue = session();
  EXPECT_THAT(dialogue.say("MAIL FROM:<a@b> RET=hdrs ENVID=QQ314159+20x\r\n"), HasSubstr("250"));
  EXPECT_THAT(dialogue.say("RCPT TO:<c@d> NOTIFY=success,DELAY ORCPT=rfc822;c+2Bx@d\r\n"), HasSubstr("250"));
  const auto& envelope = dialogue.machine.envelope();
  EXPECT_EQ(envelope.sender.ret, "HDRS");
  EXPECT_EQ(envelope.sender.envid, "QQ314159+20x");
  EXPECT_EQ(envelope.recipients.at(0).notify, "SUCCESS,DELAY");
  EXPECT_EQ(envelope.recipients.at(0).orcpt, "rfc822;c+2Bx@d");
}

TEST(ServerExtensions, WhatIsMalformedIsRefused) {
  for (const auto* parameters : {"RET=", "RET=ALL", "RET=FULL RET=FULL", "ENVID=", "ENVID=a=b", "ENVID=a+b",
                                 "ENVID=+2", "SMTPUTF8=1", "SMTPUTF8 SMTPUTF8"})
    EXPECT_THAT(session().say("MAIL FROM:<a@b> " + std::string(parameters) + "\r\n"), HasSubstr("501 5.5.4"))
        << parameters;
  for (const auto* parameters :
       {"NOTIFY=", "NOTIFY=NEVER,DELAY", "NOTIFY=DELAY,NEVER", "NOTIFY=DELAY,", "NOTIFY=SOON",
        "NOTIFY=DELAY NOTIFY=DELAY", "ORCPT=rfc822", "ORCPT=;a@b", "ORCPT=rfc822;", "ORCPT=rfc822;a=b"}) {
    auto dialogue = session();
    dialogue.say("MAIL FROM:<a@b>\r\n");
    EXPECT_THAT(dialogue.say("RCPT TO:<c@d> " + std::string(parameters) + "\r\n"), HasSubstr("501 5.5.4"))
        << parameters;
  }
}

}  // namespace
}  // namespace mailonce::smtp
