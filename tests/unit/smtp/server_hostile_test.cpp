// Hostile command lines and bodies, one test a row of the list of hostile input, and the strict answer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialogue.h"

namespace mailonce::smtp {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using namespace std::string_literals;

// --- A: command lines

TEST(HostileCommands, A1BareCrInAnAddress) {
  const auto outcome = play_anyhow(hello + "MAIL FROM:<a@b>\r\nRCPT TO:<a@b>\rRCPT TO:<evil@x>\r\n");
  EXPECT_THAT(outcome.output, EndsWith("501 5.5.2 Error: control character in command\r\n"));
  EXPECT_THAT(outcome.actions, IsEmpty());
}

TEST(HostileCommands, A2BareLfIsRefusedOnceAndTheSecondEndsTheSession) {
  const auto once = play_anyhow(hello + "MAIL FROM:<a@b>\nRCPT TO:<x@y>\r\nNOOP\r\n");
  EXPECT_THAT(once.output,
              EndsWith("ENHANCEDSTATUSCODES\r\n500 5.5.2 Error: bare <LF> received\r\n250 2.0.0 Ok\r\n"));
  EXPECT_THAT(once.actions, IsEmpty());
  const auto twice = play_anyhow(hello + "MAIL FROM:<a@b>\nRCPT TO:<x@y>\r\nMAIL FROM:<a@b>\nNOOP\r\n");
  EXPECT_THAT(
      twice.output,
      EndsWith("500 5.5.2 Error: bare <LF> received\r\n421 4.5.2 Error: bare <LF> received again\r\n"));
  EXPECT_THAT(twice.actions, ElementsAre("close"));
}

// It waits for a reply to each line; an endless wait would look like a dead relay.
TEST(HostileCommands, AClientThatEndsLinesWithLfAloneIsAnsweredAtOnce) {
  Dialogue dialogue;
  EXPECT_EQ(dialogue.say("EHLO c\n"), "500 5.5.2 Error: bare <LF> received\r\n");
  EXPECT_EQ(dialogue.say("HELO c\n"), "421 4.5.2 Error: bare <LF> received again\r\n");
  EXPECT_TRUE(dialogue.closed);
}

TEST(HostileCommands, A3ALineEndInAQuotedStringIsALineEnd) {
  const auto outcome = play_anyhow(hello + "MAIL FROM:<\"a\r\nRCPT TO:<x@y>\"@b>\r\n");
  EXPECT_THAT(outcome.output,
              EndsWith("501 5.1.7 Error: bad address syntax\r\n501 5.5.4 Syntax: RCPT TO:<address>\r\n"));
  EXPECT_THAT(outcome.actions, IsEmpty());
}

TEST(HostileCommands, A5ControlCharactersAreRefusedEverywhere) {
  for (const char control : "\0\x01\t\x1b\x1f\x7f"s) {
    const auto c = std::string(1, control);
    EXPECT_THAT(play_anyhow("EHLO a" + c + "\r\n").output,
                "501 5.5.2 Error: control character in command\r\n");
    EXPECT_THAT(play_anyhow(hello + "MAIL FROM:<a" + c + "@b>\r\n").output,
                EndsWith("501 5.5.2 Error: control character in command\r\n"));
  }
}

TEST(HostileCommands, A6OddButLegalAddressesAreTaken) {
  const auto outcome =
      play_anyhow(hello +
                  "MAIL FROM: <>\r\nRCPT TO:<@relay,@x:user@d>\r\nRCPT TO:<user%d@x>\r\n"
                  "RCPT TO:<postmaster>\r\nRCPT TO:<a@[127.0.0.1]>\r\nRCPT TO: <a@[IPv6:::1]>\r\n");
  EXPECT_THAT(outcome.actions, ElementsAre("sender ", "rcpt user@d", "rcpt user%d@x", "rcpt postmaster",
                                           "rcpt a@[127.0.0.1]", "rcpt a@[IPv6:::1]"));
}

TEST(HostileCommands, A7Utf8AddressesNeedAnExtensionThatIsNotAnnounced) {
  EXPECT_THAT(play_anyhow(hello + "MAIL FROM:<j\xc3\xb6rg@b>\r\n").output, HasSubstr("553 5.6.7 "));
  EXPECT_THAT(play_anyhow(hello + "MAIL FROM:<a@b>\r\nRCPT TO:<j\xc3\xb6rg@b>\r\n").output,
              HasSubstr("553 5.6.7 "));
}

TEST(HostileCommands, A8ParametersThatWereNotAnnounced) {
  for (const auto* parameter : {"BODY=BINARYMIME", "BODY=FOO"})
    EXPECT_THAT(play_anyhow(hello + "MAIL FROM:<a@b> " + parameter + "\r\n").output, HasSubstr("501 5.5.4 "));
  for (const auto* parameter : {"X=1", "AUTH=<>", "RET=FULL"})
    EXPECT_THAT(play_anyhow(hello + "MAIL FROM:<a@b> " + parameter + "\r\n").output, HasSubstr("555 5.5.4 "));
}

TEST(HostileCommands, A9LongLinesAreRefusedOnceAndTheNextIsRead) {
  auto options = Dialogue::default_options();
  options.max_line_octets = 512;
  const auto command = [](std::size_t octets) { return "NOOP " + std::string(octets - 7, 'x') + "\r\n"; };
  EXPECT_EQ(play_anyhow(command(512) + "NOOP\r\n", options).output, "250 2.0.0 Ok\r\n250 2.0.0 Ok\r\n");
  for (const std::size_t octets : {513u, 2000u})
    EXPECT_EQ(play_anyhow(command(octets) + "NOOP\r\n", options).output,
              "500 5.5.6 Error: line too long\r\n250 2.0.0 Ok\r\n");
}

TEST(HostileCommands, A9EndlessLinesEndTheSession) {
  for (const std::size_t piece : {1u, 1000u, 4096u, 1u << 20}) {
    const auto outcome = play(std::string(1 << 20, 'x') + "\r\nNOOP\r\n", piece);
    EXPECT_EQ(outcome.output, "421 4.7.0 Error: endless line\r\n");
    EXPECT_THAT(outcome.actions, ElementsAre("close"));
  }
}

TEST(HostileCommands, A11HelloNames) {
  EXPECT_THAT(play_anyhow("EHLO\r\nEHLO  \r\nHELO\r\n").output, Not(HasSubstr("250")));
  EXPECT_EQ(play("EHLO " + std::string(10'000, 'a') + "\r\n", 1 << 20).output,
            "500 5.5.6 Error: line too long\r\n");
  EXPECT_EQ(play("EHLO " + std::string(1'000, 'a') + "\r\n", 1 << 20).output,
            "501 5.5.4 Syntax: EHLO or HELO hostname\r\n");
  for (const auto* name : {"localhost", "my_host", "[127.0.0.1]", "[IPv6:::1]", "DESKTOP-1"})
    EXPECT_THAT(play_anyhow("EHLO "s + name + "\r\n").output, HasSubstr("250-PIPELINING\r\n"));
}

TEST(HostileCommands, A12OtherProtocolsEndTheSessionAtOnce) {
  for (const auto* line :
       {"GET / HTTP/1.1\r\nHost: x", "POST / HTTP/1.0", "CONNECT x:25 HTTP/1.1", "Subject: x"}) {
    const auto outcome = play_anyhow(line + "\r\nMAIL FROM:<a@b>\r\n"s);
    EXPECT_EQ(outcome.output.substr(0, 4), "421 ");
    EXPECT_EQ(outcome.output.find('\n'), outcome.output.size() - 1) << "one reply";
    EXPECT_THAT(outcome.actions, ElementsAre("close"));
  }
}

// T5.
TEST(HostileCommands, ATlsHandshakeIsClosedWithoutAReply) {
  const auto outcome = play_anyhow("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\nNOOP\r\n"s);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.actions, ElementsAre("close"));
}

TEST(HostileCommands, ExtensionsThatWereNotAnnouncedAreNotImplemented) {
  EXPECT_EQ(play_anyhow("STARTTLS\r\nNOOP\r\nAUTH LOGIN\r\n").output,
            "502 5.5.1 Error: command not implemented\r\n250 2.0.0 Ok\r\n502 5.5.1 Error: command not "
            "implemented\r\n");
}

// P8.
TEST(HostileCommands, OctetsAfterBdatDoNotBecomeCommands) {
  for (const auto* command : {"BDAT x", "BDAT 999999999999999999999", "BDAT 5000000000 LAST"}) {
    const auto outcome = play_anyhow(hello + envelope_lines + command + "\r\nRCPT TO:<e@x>\r\nRSET\r\n");
    EXPECT_THAT(outcome.output, testing::ContainsRegex("(501 5.5.4|552 5.3.4) [^\n]*\n$"));
    EXPECT_THAT(outcome.actions, ElementsAre("sender a@b", "rcpt c@d", "abandon close from a@b", "close"));
  }
}

TEST(HostileCommands, TooManyErrorsEndTheSession) {
  auto options = Dialogue::default_options();
  options.max_errors = 3;
  const auto outcome =
      play_anyhow(hello + envelope_lines + "FOO\r\nMAIL FROM:<x@y>\r\nDATA x\r\nNOOP\r\n", options);
  EXPECT_THAT(outcome.output,
              EndsWith("500 5.5.1 Error: command not recognized\r\n503 5.5.1 Error: nested MAIL command\r\n"
                       "421 4.7.0 Error: too many errors\r\n"));
  EXPECT_THAT(outcome.actions, ElementsAre("sender a@b", "rcpt c@d", "abandon close from a@b", "close"));
}

TEST(HostileCommands, ADeliveredMessageForgivesEarlierErrors) {
  auto options = Dialogue::default_options();
  options.max_errors = 2;
  const auto message = envelope_lines + "DATA\r\nx\r\n.\r\n";
  EXPECT_THAT(play_anyhow(hello + "FOO\r\n" + message + "FOO\r\n" + message + "FOO\r\n", options).actions,
              Not(testing::Contains("close")));
}

TEST(HostileCommands, RecipientsTheUpstreamRefusesAreNoErrorsOfTheSession) {
  auto options = Dialogue::default_options();
  options.max_errors = 2;
  Dialogue dialogue(options);
  dialogue.say(hello);
  for (int i = 0; i < 5; ++i)
    dialogue.say("MAIL FROM:<a@b>\r\nRCPT TO:<no@d>\r\nDATA\r\n"), dialogue.say("RSET\r\n");
  EXPECT_FALSE(dialogue.closed);
}

// --- S: the body

class Smuggled : public testing::TestWithParam<std::string> {};

const std::string attack = "MAIL FROM:<x@evil>\r\nRCPT TO:<y@evil>\r\nDATA\r\nevil\r\n";

TEST_P(Smuggled, IsAnsweredOnceAfterTheTrueEndAndNothingIsForwarded) {
  const auto outcome =
      play_anyhow(hello + envelope_lines + "DATA\r\nline" + GetParam() + attack + "\r\n.\r\nNOOP\r\n");
  const auto replies = outcome.output.substr(outcome.output.find("354"));
  EXPECT_THAT(replies,
              testing::MatchesRegex("354[^\n]*\n550 5.5.2 Error: [^\n]* received\r\n250 2.0.0 Ok\r\n"));
  EXPECT_THAT(outcome.actions, ElementsAre("sender a@b", "rcpt c@d", "data", "abandon bad_data from a@b"));
}

INSTANTIATE_TEST_SUITE_P(S1toS15, Smuggled,
                         testing::Values("\n.\n", "\n.\r\n", "\r\n.\n", "\n.\r", "\r.\r", "\r.\n", "\r.\r\n",
                                         "\r\n.\r", "\n\n.\r\n", "\r\n\r.\r\n", "\r\n\0.\r\n"s,
                                         "\r\n.\0\r\n"s, "\r\n.\r\r\n", "\r\r\n.\r\r\n"));

TEST(HostileBody, S12S16LegalDotsAreText) {
  const auto outcome =
      play_anyhow(hello + envelope_lines + "DATA\r\na\r\n.\t\r\n. \r\n..\r\n" + attack + ".\r\n");
  EXPECT_EQ(outcome.actions.back(), "message to c@d: a\r\n\t\r\n \r\n.\r\n" + attack);
}

TEST(HostileBody, S17TheEmptyMessageIsLegal) {
  EXPECT_EQ(play_anyhow(hello + envelope_lines + "DATA\r\n.\r\n").actions.back(), "message to c@d: ");
}

TEST(HostileBody, S18TheEndMayArriveInFiveSegments) {
  Dialogue dialogue;
  dialogue.say(hello + envelope_lines + "DATA\r\n");
  for (const auto* segment : {"body", "\r", "\n", ".", "\r"}) EXPECT_EQ(dialogue.say(segment), "");
  EXPECT_EQ(dialogue.say("\n"), "250 2.0.0 queued\r\n");
  EXPECT_EQ(dialogue.outcome.actions.back(), "message to c@d: body\r\n");
}

// An early reply would turn the rest of the body into commands.
TEST(HostileBody, ARefusedBodyIsNotAnsweredEarly) {
  Dialogue dialogue;
  dialogue.say(hello + envelope_lines + "DATA\r\n");
  EXPECT_EQ(dialogue.say("bare\nlf and more\r\n"), "");
  EXPECT_EQ(dialogue.say(attack), "");
  EXPECT_EQ(dialogue.say(".\r\n"), "550 5.5.2 Error: bare <LF> received\r\n");
}

TEST(HostileBody, A10LongLinesPass) {
  auto options = Dialogue::default_options();
  options.max_message_octets = 1'000'000;
  const auto line = std::string(100'000, 'x') + "\r\n";
  EXPECT_EQ(play(hello + envelope_lines + "DATA\r\n" + line + ".\r\n", 4096, options).actions.back(),
            "message to c@d: " + line);
}

TEST(HostileBody, ADeclaredSizeOverTheLimitIsRefusedAtMail) {
  EXPECT_THAT(
      play_anyhow(hello + "MAIL FROM:<a@b> SIZE=1001\r\nMAIL FROM:<a@b> SIZE=99999999999999999999\r\n")
          .output,
      EndsWith("552 5.3.4 Error: message too large\r\n552 5.3.4 Error: message too large\r\n"));
}

TEST(HostileBody, AnUndeclaredSizeOverTheLimitIsRefusedAtTheTrueEnd) {
  const auto script = hello + envelope_lines + "DATA\r\n";
  const auto outcome = play_anyhow(script + std::string(999, 'x') + "\r\n.\r\nNOOP\r\n");
  EXPECT_THAT(
      outcome.output,
      EndsWith(
          "354 End data with <CR><LF>.<CR><LF>\r\n552 5.3.4 Error: message too large\r\n250 2.0.0 Ok\r\n"));
  EXPECT_THAT(outcome.actions, ElementsAre("sender a@b", "rcpt c@d", "data", "abandon too_large from a@b"));
  EXPECT_THAT(play_anyhow(script + std::string(998, 'x') + "\r\n.\r\n").output,
              EndsWith("250 2.0.0 queued\r\n"));
}

// --- bodies the shell refuses

TEST(HostileBody, ChunksStopAsSoonAsTheBodyCanNotBeTaken) {
  for (const std::string_view poison : {"bare\nlf", "full"}) {
    ServerMachine machine(Dialogue::default_options());
    const auto begin = hello + envelope_lines + "DATA\r\n";
    machine.receive(begin);
    machine.next();
    machine.announce({});
    machine.next();
    machine.answer_recipients(std::vector<Reply>{{250, "Ok"}});
    machine.next();
    ASSERT_TRUE(std::holds_alternative<NeedInput>(machine.next()));
    machine.output().clear();
    if (poison == "full") machine.refuse_data({452, "4.3.1 no space"});
    machine.receive(poison);
    ASSERT_TRUE(std::holds_alternative<NeedInput>(machine.next())) << "no chunk";
    machine.receive("much more\r\n");
    ASSERT_TRUE(std::holds_alternative<NeedInput>(machine.next())) << "no chunk";
    EXPECT_EQ(machine.output(), "");
    machine.receive(".\r\n");
    const auto action = machine.next();
    ASSERT_TRUE(std::holds_alternative<Abandon>(action));
    const bool full = poison == "full";
    EXPECT_EQ(std::get<Abandon>(action).why, full ? Abandon::Why::refused : Abandon::Why::bad_data);
    EXPECT_EQ(machine.output(), full ? "452 4.3.1 no space\r\n" : "550 5.5.2 Error: bare <LF> received\r\n");
    EXPECT_FALSE(machine.in_transaction());
    EXPECT_EQ(machine.envelope().recipients.size(), 1u) << "still there for the log";
    ASSERT_TRUE(std::holds_alternative<NeedInput>(machine.next()));
    EXPECT_EQ(machine.envelope().recipients.size(), 0u);
  }
}

}  // namespace
}  // namespace mailonce::smtp
