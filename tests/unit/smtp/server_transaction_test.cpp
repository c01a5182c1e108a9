// The order of commands and what becomes of a transaction (RFC 5321 §4.1.4; hostile input, P1 to P8).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dialogue.h"

namespace mailonce::smtp {
namespace {

using Phase = NeedInput::Phase;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::string ehlo_reply =
    "250-relay\r\n250-PIPELINING\r\n250-SIZE 1000\r\n250-8BITMIME\r\n250-CHUNKING\r\n"
    "250-LIMITS RCPTMAX=1000\r\n250 ENHANCEDSTATUSCODES\r\n";
const std::string envelope_replies = "250 2.1.0 Ok\r\n250 2.1.5 Ok\r\n";
const std::string go = "354 End data with <CR><LF>.<CR><LF>\r\n";

TEST(ServerMachine, GreetsWithItsName) {
  ServerMachine machine(Dialogue::default_options());
  machine.greet();
  EXPECT_EQ(machine.output(), "220 relay ESMTP mailonce\r\n");
}

TEST(ServerMachine, AnOrdinarySessionAnswersEachCommand) {
  const auto outcome = play_anyhow(hello + envelope_lines +
                                   "DATA\r\nSubject: x\r\n\r\n..dot\r\n.\r\nNOOP\r\nVRFY a\r\nQUIT\r\n");
  EXPECT_EQ(outcome.output, ehlo_reply + envelope_replies + go +
                                "250 2.0.0 queued\r\n250 2.0.0 Ok\r\n"
                                "252 2.5.0 Cannot VRFY user, but will accept message and attempt delivery\r\n"
                                "221 2.0.0 Bye\r\n");
  EXPECT_THAT(outcome.actions, ElementsAre("sender a@b", "rcpt c@d", "data",
                                           "message to c@d: Subject: x\r\n\r\n.dot\r\n", "close"));
}

TEST(ServerMachine, TheSmallerSizeAndOnlyWhatThePathHasIsAnnounced) {
  Capabilities path;
  path.size = true;
  path.max_size = 500;
  path.starttls = true;
  path.auth = {"PLAIN"};
  Dialogue dialogue(Dialogue::default_options(), path);
  EXPECT_EQ(dialogue.say(hello),
            "250-relay\r\n250-PIPELINING\r\n250-SIZE 500\r\n250-CHUNKING\r\n250 LIMITS RCPTMAX=1000\r\n");
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b> SIZE=501\r\n"), "552 5.3.4 Error: message too large\r\n");
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b> BODY=8BITMIME\r\n"), "555 5.5.4 Error: BODY was not announced\r\n");
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b> SIZE=500\r\n"), "250 2.1.0 Ok\r\n");
}

TEST(ServerMachine, HeloAnnouncesNothing) {
  Dialogue dialogue;
  EXPECT_EQ(dialogue.say("HELO c\r\n"), "250 relay\r\n");
  EXPECT_EQ(dialogue.machine.client_name(), "c");
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b> BODY=7BIT\r\n"), "555 5.5.4 Error: BODY was not announced\r\n");
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b>\r\n"), "250 2.1.0 Ok\r\n");
}

TEST(ServerMachine, HeloAfterEhloTakesBackWhatWasAnnounced) {
  Capabilities path;
  path.eight_bit_mime = path.size = true;
  path.max_size = 500;
  Dialogue dialogue(Dialogue::default_options(), path);
  dialogue.say(hello + "HELO c\r\n");
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b> BODY=8BITMIME\r\n"), "555 5.5.4 Error: BODY was not announced\r\n");
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b> SIZE=501\r\n"), "250 2.1.0 Ok\r\n");
}

TEST(ServerMachine, ThePhaseTellsWhichPatienceApplies) {
  Dialogue dialogue;
  EXPECT_EQ(dialogue.phase, Phase::command);
  dialogue.say(hello + "MAIL FROM:<a@b>\r\n");
  EXPECT_EQ(dialogue.phase, Phase::transaction);
  dialogue.say("RCPT TO:<c@d>\r\nDATA\r\n");
  EXPECT_EQ(dialogue.phase, Phase::data);
  dialogue.say("x\r\n.\r\n");
  EXPECT_EQ(dialogue.phase, Phase::command);
}

TEST(ServerMachine, IsIdleOnlyBetweenTransactionsWithNothingHalfRead) {
  Dialogue dialogue;
  EXPECT_TRUE(dialogue.machine.idle());
  dialogue.say("NO");
  EXPECT_FALSE(dialogue.machine.idle());
  dialogue.say("OP\r\nMAIL FROM:<");
  EXPECT_FALSE(dialogue.machine.idle());
  dialogue.say("a@b>\r\n" + hello);
  EXPECT_TRUE(dialogue.machine.idle());
  dialogue.say(envelope_lines);
  EXPECT_FALSE(dialogue.machine.idle());
  dialogue.say("DATA\r\n");
  EXPECT_FALSE(dialogue.machine.idle());
  dialogue.say(".\r\n");
  EXPECT_TRUE(dialogue.machine.idle());
}

TEST(ServerMachine, CommandsOutOfOrderAreRefused) {
  const auto outcome =
      play_anyhow("MAIL FROM:<a@b>\r\n" + hello + "RCPT TO:<c@d>\r\nMAIL FROM:<a@b>\r\nMAIL FROM:<x@y>\r\n");
  EXPECT_EQ(
      outcome.output,
      "503 5.5.1 Error: send EHLO or HELO first\r\n" + ehlo_reply +
          "503 5.5.1 Error: need MAIL command\r\n250 2.1.0 Ok\r\n503 5.5.1 Error: nested MAIL command\r\n");
  EXPECT_THAT(outcome.actions, IsEmpty());
}

// --- RCPT

// RFC 2920: one flight to the upstream.
TEST(ServerMachine, RecipientsThatArriveTogetherAreAskedAboutTogether) {
  Dialogue dialogue;
  dialogue.say(hello);
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b>\r\nRCPT TO:<1@d>\r\nrcpt to:<no@d>\r\nRCPT TO:<3@d>\r\nDATA\r\n"),
            "250 2.1.0 Ok\r\n250 2.1.5 Ok\r\n550 5.1.1 no such user\r\n250 2.1.5 Ok\r\n" + go);
  EXPECT_THAT(dialogue.batches, ElementsAre(3));
  dialogue.say("x\r\n.\r\n");
  EXPECT_EQ(dialogue.outcome.actions.back(), "message to 1@d 3@d: x\r\n");
}

TEST(ServerMachine, ABadRecipientAmongThemIsAnsweredInItsPlace) {
  const auto outcome =
      play_anyhow(hello + "MAIL FROM:<a@b>\r\nRCPT TO:<1@d>\r\nRCPT TO:<bad\r\nRCPT TO:<2@d>\r\n");
  EXPECT_EQ(
      outcome.output,
      ehlo_reply + "250 2.1.0 Ok\r\n250 2.1.5 Ok\r\n501 5.1.3 Error: bad address syntax\r\n250 2.1.5 Ok\r\n");
  EXPECT_THAT(outcome.actions, ElementsAre("sender a@b", "rcpt 1@d", "rcpt 2@d"));
}

TEST(ServerMachine, ARepeatedRecipientIsTheUpstreamsBusiness) {
  const auto outcome = play_anyhow(hello + envelope_lines + "RCPT TO:<c@d>\r\nDATA\r\n.\r\n");
  EXPECT_THAT(outcome.actions,
              ElementsAre("sender a@b", "rcpt c@d", "rcpt c@d", "data", "message to c@d c@d: "));
}

TEST(ServerMachine, AcceptedRecipientsAreLimitedAndRefusedOnesAreNotCounted) {
  auto options = Dialogue::default_options();
  options.max_recipients = 2;
  const auto outcome =
      play_anyhow(hello +
                      "MAIL FROM:<a@b>\r\nRCPT TO:<1@d>\r\nRCPT TO:<no@d>\r\nRCPT TO:<2@d>\r\n"
                      "RCPT TO:<3@d>\r\nRCPT TO:<4@d>\r\nDATA\r\n.\r\n",
                  options);
  EXPECT_THAT(
      outcome.output,
      HasSubstr("250 2.1.5 Ok\r\n550 5.1.1 no such user\r\n250 2.1.5 Ok\r\n"
                "452 4.5.3 Error: too many recipients\r\n452 4.5.3 Error: too many recipients\r\n354"));
  EXPECT_EQ(outcome.actions.back(), "message to 1@d 2@d: ");
}

// P3.
TEST(ServerMachine, AHundredRefusedRecipientsAndDataAreNeverGivenGoAhead) {
  std::string script = hello + "MAIL FROM:<a@b>\r\n";
  for (int i = 0; i < 100; ++i) script += "RCPT TO:<no" + std::to_string(i) + "@d>\r\n";
  const auto outcome = play(script + "DATA\r\n", script.size() + 6);
  EXPECT_THAT(outcome.output, Not(HasSubstr("354")));
  EXPECT_THAT(outcome.output, EndsWith("554 5.5.1 Error: no valid recipients\r\n"));
}

TEST(ServerMachine, DataWithoutValidRecipientsLeavesTheTransactionOpen) {
  Dialogue dialogue;
  dialogue.say(hello + "MAIL FROM:<a@b>\r\nRCPT TO:<no@d>\r\n");
  EXPECT_EQ(dialogue.say("DATA\r\n"), "554 5.5.1 Error: no valid recipients\r\n");
  EXPECT_EQ(dialogue.say("RCPT TO:<c@d>\r\nDATA\r\n"), "250 2.1.5 Ok\r\n" + go);
}

// --- P2: the body of a client that does not wait for 354

TEST(ServerMachine, ABodyBehindAnAcceptedDataIsTakenAsOne) {
  const auto outcome = play_anyhow(hello + envelope_lines + "DATA\r\nRCPT TO:<evil@x>\r\n.\r\nQUIT\r\n");
  EXPECT_THAT(outcome.actions,
              ElementsAre("sender a@b", "rcpt c@d", "data", "message to c@d: RCPT TO:<evil@x>\r\n", "close"));
}

TEST(ServerMachine, ABodyBehindARefusedDataIsNotRunAsCommands) {
  Dialogue dialogue;
  dialogue.say(hello);
  EXPECT_EQ(dialogue.say("MAIL FROM:<a@b>\r\nRCPT TO:<no@d>\r\nDATA\r\nRCPT TO:<evil@x>\r\n.\r\n"),
            "250 2.1.0 Ok\r\n550 5.1.1 no such user\r\n554 5.5.1 Error: no valid recipients\r\n");
  EXPECT_THAT(dialogue.outcome.actions,
              ElementsAre("sender a@b", "rcpt no@d", "abandon close from a@b", "close"));
}

TEST(ServerMachine, DataInvitedByNobodyEndsTheSessionWhenItsBodyStandsBehind) {
  Dialogue dialogue;
  dialogue.say(hello);
  EXPECT_EQ(dialogue.say("DATA\r\nhello\r\n.\r\n"), "503 5.5.1 Error: need MAIL command\r\n");
  EXPECT_TRUE(dialogue.closed);
}

TEST(ServerMachine, ABodyThatFollowsARefusedDataLaterEndsTheSessionToo) {
  for (const std::string first_line : {"Subject: x\r\n", "hello\r\n", "\r\n", ".\r\n", "Dear all\r\n"}) {
    Dialogue dialogue;
    dialogue.say(hello);
    dialogue.say("DATA\r\n");
    EXPECT_THAT(dialogue.say(first_line), StartsWith("421 ")) << first_line;
    EXPECT_TRUE(dialogue.closed);
  }
}

TEST(ServerMachine, AClientThatWaitedGoesOnAfterARefusedData) {
  Dialogue dialogue;
  dialogue.say(hello);
  dialogue.say("DATA\r\n");
  EXPECT_EQ(dialogue.say("RSET\r\n"), "250 2.0.0 Ok\r\n");
  EXPECT_EQ(dialogue.say("FOO\r\n"), "500 5.5.1 Error: command not recognized\r\n");
}

// P4.
TEST(ServerMachine, TheNextTransactionMayStandBehindTheTrueEnd) {
  const auto outcome = play_anyhow(
      hello + envelope_lines + "DATA\r\n1\r\n.\r\nMAIL FROM:<x@y>\r\nRCPT TO:<z@d>\r\nDATA\r\n2\r\n.\r\n");
  EXPECT_THAT(outcome.actions, ElementsAre("sender a@b", "rcpt c@d", "data", "message to c@d: 1\r\n",
                                           "sender x@y", "rcpt z@d", "data", "message to z@d: 2\r\n"));
}

// P1.
TEST(ServerMachine, CommandsBeforeTheBannerAreAnsweredAfterIt) {
  ServerMachine machine(Dialogue::default_options());
  machine.receive("NOOP\r\n");
  machine.greet();
  machine.next();
  EXPECT_EQ(machine.output(), "220 relay ESMTP mailonce\r\n250 2.0.0 Ok\r\n");
}

// --- P5: what clears a transaction

class Clearing : public testing::TestWithParam<const char*> {};

TEST_P(Clearing, ForgetsTheTransactionAndTellsTheShell) {
  const auto outcome =
      play_anyhow(hello + envelope_lines + GetParam() +
                  "\r\nRCPT TO:<late@d>\r\nMAIL FROM:<x@y>\r\nRCPT TO:<z@d>\r\nDATA\r\n.\r\n");
  EXPECT_THAT(outcome.output, HasSubstr("503 5.5.1 Error: need MAIL command"));
  EXPECT_THAT(outcome.actions, ElementsAre("sender a@b", "rcpt c@d", "abandon reset from a@b", "sender x@y",
                                           "rcpt z@d", "data", "message to z@d: "));
}

INSTANTIATE_TEST_SUITE_P(Commands, Clearing, testing::Values("RSET", "EHLO again", "HELO again"));

TEST(ServerMachine, NothingIsAbandonedBeforeARecipientWasAskedAbout) {
  EXPECT_THAT(
      play_anyhow(hello + "MAIL FROM:<a@b>\r\nRSET\r\nMAIL FROM:<a@b>\r\nEHLO c\r\nRSET\r\nQUIT\r\n").actions,
      ElementsAre("close"));
}

TEST(ServerMachine, ARefusedEhloChangesNothing) {
  EXPECT_THAT(play_anyhow(hello + envelope_lines + "EHLO\r\nDATA\r\n.\r\n").actions.back(),
              "message to c@d: ");
}

TEST(ServerMachine, QuitInATransactionAbandonsIt) {
  EXPECT_THAT(play_anyhow(hello + envelope_lines + "QUIT\r\nNOOP\r\n").actions,
              ElementsAre("sender a@b", "rcpt c@d", "abandon close from a@b", "close"));
}

// --- the upstream's answers

TEST(ServerMachine, TheFinalReplyIsSaidAsItIs) {
  Dialogue dialogue;
  dialogue.data_reply = {451, "4.4.2 first line\nsecond line"};
  dialogue.say(hello + envelope_lines + "DATA\r\n");
  EXPECT_EQ(dialogue.say("x\r\n.\r\n"), "451-4.4.2 first line\r\n451 second line\r\n");
  EXPECT_FALSE(dialogue.machine.in_transaction());
  EXPECT_EQ(dialogue.say(envelope_lines), envelope_replies);
}

// RFC 5321 §4.2.2.
TEST(ServerMachine, A421PassedOnIsKept) {
  Dialogue refused;
  EXPECT_EQ(refused.say(hello + "MAIL FROM:<a@b>\r\nRCPT TO:<gone@d>\r\nRCPT TO:<more@d>\r\nDATA\r\n"),
            ehlo_reply + "250 2.1.0 Ok\r\n421 4.3.2 gone\r\n");
  EXPECT_EQ(refused.outcome.actions.back(), "close");
  Dialogue dialogue;
  dialogue.data_reply = {421, "4.3.2 gone"};
  EXPECT_THAT(dialogue.say(hello + envelope_lines + "DATA\r\n.\r\nNOOP\r\n"), EndsWith("421 4.3.2 gone\r\n"));
  EXPECT_EQ(dialogue.outcome.actions.back(), "close");
}

// --- shut_down

TEST(ServerMachine, ShuttingDownIsSaidInEveryPhase) {
  const Reply reply{421, "4.3.2 shutting down"};
  for (const std::string& script : {std::string(), hello, hello + "MAIL FROM:<a@b>\r\n",
                                    hello + envelope_lines, hello + envelope_lines + "DATA\r\nhalf a bo"}) {
    Dialogue dialogue;
    dialogue.say(script);
    const bool asked = !dialogue.outcome.actions.empty();
    dialogue.outcome = {};
    dialogue.machine.shut_down(reply);
    dialogue.run();
    EXPECT_EQ(dialogue.outcome.output, "421 4.3.2 shutting down\r\n") << script;
    if (asked) {
      EXPECT_THAT(dialogue.outcome.actions, ElementsAre("abandon close from a@b", "close")) << script;
    } else {
      EXPECT_THAT(dialogue.outcome.actions, ElementsAre("close")) << script;
    }
  }
}

TEST(ServerMachine, ShuttingDownStandsForAnOwedAnswer) {
  ServerMachine machine(Dialogue::default_options());
  const auto script = hello + envelope_lines + "DATA\r\n.\r\n";
  machine.receive(script);
  ASSERT_TRUE(std::holds_alternative<AskCapabilities>(machine.next()));
  machine.announce({});
  ASSERT_TRUE(std::holds_alternative<AskRecipients>(machine.next()));
  machine.answer_recipients(std::vector<Reply>{{250, "Ok"}});
  ASSERT_TRUE(std::holds_alternative<DataBegins>(machine.next()));
  ASSERT_TRUE(std::holds_alternative<EndOfData>(machine.next()));
  machine.output().clear();
  machine.shut_down({421, "4.3.2 bye"});
  EXPECT_EQ(machine.output(), "421 4.3.2 bye\r\n");
  EXPECT_TRUE(std::holds_alternative<Close>(machine.next()))
      << "the message is the shell's: nothing to abandon";
}

TEST(ServerMachine, NothingIsSaidAfterTheSessionEnded) {
  Dialogue dialogue;
  dialogue.say("QUIT\r\n");
  dialogue.machine.shut_down({421, "4.3.2 bye"});
  EXPECT_EQ(dialogue.machine.output(), "");
}

}  // namespace
}  // namespace mailonce::smtp
