// LIMITS (RFC 9422), REQUIRETLS (RFC 8689), and the bounds on a client that brings no mail.
#include <gmock/gmock.h>

#include "dialogue.h"

namespace mailonce::smtp {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

Capabilities with(std::size_t recipients) {
  auto path = Dialogue::default_path();
  path.max_recipients = recipients;
  return path;
}

TEST(Limits, TheLesserNumberOfRecipientsIsAnnouncedAndHolds) {
  auto options = Dialogue::default_options();
  options.max_recipients = 3;
  Dialogue ours(options, with(100));
  EXPECT_THAT(ours.say(hello), HasSubstr("LIMITS RCPTMAX=3\r\n"));
  auto path = with(2);
  path.max_recipient_domains = 1;
  Dialogue theirs(options, path);
  EXPECT_THAT(theirs.say(hello), HasSubstr("LIMITS RCPTMAX=2 RCPTDOMAINMAX=1\r\n"));
  EXPECT_THAT(theirs.say(envelope_lines + "RCPT TO:<e@f>\r\nRCPT TO:<g@h>\r\n"),
              EndsWith("250 2.1.5 Ok\r\n250 2.1.5 Ok\r\n452 4.5.3 Error: too many recipients\r\n"));
  theirs.say("RSET\r\nHELO c\r\n");
  EXPECT_THAT(theirs.say(envelope_lines + "RCPT TO:<e@f>\r\nRCPT TO:<g@h>\r\n"),
              EndsWith("250 2.1.5 Ok\r\n250 2.1.5 Ok\r\n250 2.1.5 Ok\r\n"))
      << "what an EHLO before found out is forgotten";
}

ServerMachineOptions in_tls() {
  auto options = Dialogue::default_options();
  options.secure = true;
  return options;
}

Capabilities requiring() {
  auto path = Dialogue::default_path();
  path.requiretls = true;
  return path;
}

TEST(RequireTls, IsAnnouncedInsideTlsWhenThePathKeepsIt) {
  EXPECT_THAT(Dialogue(in_tls(), requiring()).say(hello), HasSubstr("250-REQUIRETLS\r\n"));
  EXPECT_THAT(Dialogue(in_tls()).say(hello), Not(HasSubstr("REQUIRETLS")));
  EXPECT_THAT(Dialogue(Dialogue::default_options(), requiring()).say(hello), Not(HasSubstr("REQUIRETLS")));
}

TEST(RequireTls, IsTakenWhenItWasAnnouncedAndRefusedElse) {
  Dialogue announced(in_tls(), requiring());
  announced.say(hello);
  EXPECT_EQ(announced.say("MAIL FROM:<a@b> REQUIRETLS=1\r\n").substr(0, 9), "501 5.5.4");
  EXPECT_EQ(announced.say("MAIL FROM:<a@b> REQUIRETLS REQUIRETLS\r\n").substr(0, 9), "501 5.5.4");
  EXPECT_EQ(announced.say("MAIL FROM:<a@b> requiretls\r\n"), "250 2.1.0 Ok\r\n");
  EXPECT_TRUE(announced.machine.envelope().sender.requiretls);

  Dialogue lacking(in_tls());
  lacking.say(hello);
  EXPECT_EQ(lacking.say("MAIL FROM:<a@b> REQUIRETLS\r\n"), "550 5.7.30 REQUIRETLS support required\r\n");
  auto options = Dialogue::default_options();
  options.starttls = true;
  Dialogue clear(options, requiring());
  clear.say(hello);
  EXPECT_EQ(clear.say("MAIL FROM:<a@b> REQUIRETLS\r\n"), "530 5.7.0 Must issue a STARTTLS command first\r\n");
}

TEST(Commands, WithoutAMessageAreBounded) {
  auto options = Dialogue::default_options();
  options.max_commands = 10;
  for (const auto* flood : {"NOOP\r\n", "RSET\r\n", "VRFY x\r\n", "EHLO c\r\n", "HELO c\r\n"}) {
    std::string script;
    for (int i = 0; i < 11; ++i) script += flood;
    const auto outcome = play_anyhow(script, options);
    EXPECT_THAT(outcome.output, EndsWith("421 4.7.0 Error: too many commands and no message\r\n")) << flood;
    EXPECT_THAT(outcome.actions, ElementsAre("close"));
  }
}

TEST(Commands, RecipientsThatAreRefusedCountAndThoseThatStandDoNot) {
  auto options = Dialogue::default_options();
  options.max_commands = 10;
  std::string refused = hello + "MAIL FROM:<a@b>\r\n", taken = refused;
  for (int i = 0; i < 20; ++i) {
    refused += "RCPT TO:<no@d>\r\n";
    taken += "RCPT TO:<c@d>\r\n";
  }
  EXPECT_THAT(play(refused, 50, options).output, HasSubstr("421 4.7.0"));
  EXPECT_THAT(play_anyhow(taken + "DATA\r\nx\r\n.\r\n", options).output, EndsWith("250 2.0.0 queued\r\n"));
}

TEST(Commands, AMessageThatWasTakenBeginsTheCountAnew) {
  auto options = Dialogue::default_options();
  options.max_commands = 6;
  std::string script = hello;
  for (int i = 0; i < 10; ++i) script += "NOOP\r\n" + envelope_lines + "DATA\r\nx\r\n.\r\n";
  EXPECT_THAT(play_anyhow(script, options).output, EndsWith("250 2.0.0 queued\r\n"));
}

// The shell's deadline is for a whole line: what drips does not begin it anew.
TEST(NeedInput, SaysWhetherTheLineThatWasWaitedForIsStillNotThere) {
  ServerMachine machine(Dialogue::default_options());
  const auto same = [&](std::string_view octets) {
    if (!octets.empty()) machine.receive(octets);
    const auto action = machine.next();
    return std::get<NeedInput>(action).same;
  };
  EXPECT_FALSE(same(""));
  EXPECT_TRUE(same("NO"));
  EXPECT_TRUE(same("OP"));
  EXPECT_FALSE(same("\r\nNO")) << "that line is there, and another begun";
  EXPECT_TRUE(same("OP"));
  EXPECT_TRUE(same("\r"));
  EXPECT_FALSE(same("\n"));
}

}  // namespace
}  // namespace mailonce::smtp
