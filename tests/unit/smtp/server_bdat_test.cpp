// CHUNKING (RFC 3030): chunks are one message, what DATA could not carry is refused, and no octet of a chunk
// is ever a command.
#include <gmock/gmock.h>

#include "dialogue.h"

namespace mailonce::smtp {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using namespace std::string_literals;

std::string chunk(const std::string& octets, bool last = false) {
  return "BDAT " + std::to_string(octets.size()) + (last ? " LAST\r\n" : "\r\n") + octets;
}

const std::string begun = hello + envelope_lines;

// What is said after the accepted RCPT.
std::string replies(const Outcome& outcome) {
  return outcome.output.substr(outcome.output.rfind("250 2.1.5 Ok\r\n") + 14);
}

TEST(Bdat, ChunksAreOneMessage) {
  const auto outcome =
      play_anyhow(begun + chunk("Subject: x\r\n\r") + chunk("\nhello") + chunk("\r\n", true));
  EXPECT_EQ(replies(outcome),
            "250 2.0.0 13 octets received\r\n250 2.0.0 6 octets received\r\n250 2.0.0 queued\r\n");
  EXPECT_THAT(outcome.actions,
              ElementsAre("sender a@b", "rcpt c@d", "data", "message to c@d: Subject: x\r\n\r\nhello\r\n"));
}

// How long the chunk is can not be known then.
TEST(Bdat, ALineThatIsNoneEndsTheSessionBeforeItsChunkIsRead) {
  for (const auto& line :
       {"BDAT 20 LAST\t\r\n"s, "BDAT 20 LAST\n"s, "bdat 20"s + std::string(9000, ' ') + "\r\n", "BDAT x\r\n"s,
        "BDAT 99999999999999999999 LAST\r\n"s}) {
    const auto outcome = play_anyhow(begun + line + "NOOP\r\nVRFY root\r\n");
    EXPECT_THAT(replies(outcome), testing::MatchesRegex("50[01] [^\n]*\n")) << line;
  }
}

TEST(Bdat, IsAnnounced) {
  EXPECT_THAT(play(hello, 100).output, HasSubstr("CHUNKING\r\n"));
  EXPECT_THAT(play(hello, 100).output, Not(HasSubstr("BINARYMIME")));
}

TEST(Bdat, OneLastChunkIsAWholeMessageAndTheNextTransactionFollows) {
  const auto outcome = play_anyhow(begun + chunk("one\r\n", true) + envelope_lines + chunk("two\r\n", true) +
                                   envelope_lines + "DATA\r\nthree\r\n.\r\nQUIT\r\n");
  EXPECT_THAT(outcome.actions,
              ElementsAre("sender a@b", "rcpt c@d", "data", "message to c@d: one\r\n", "sender a@b",
                          "rcpt c@d", "data", "message to c@d: two\r\n", "sender a@b", "rcpt c@d", "data",
                          "message to c@d: three\r\n", "close"));
}

TEST(Bdat, AnEmptyLastChunkEndsTheMessage) {
  EXPECT_THAT(play_anyhow(begun + chunk("x\r\n") + "BDAT 0 LAST\r\n").actions,
              testing::Contains("message to c@d: x\r\n"));
  EXPECT_THAT(play_anyhow(begun + "BDAT 0\r\nBDAT 0 LAST\r\n").actions,
              testing::Contains("message to c@d: "));
}

// RFC 5321 §4.1.1.4, as after DATA.
TEST(Bdat, AMessageWithoutALastLineEndGetsOne) {
  EXPECT_THAT(play_anyhow(begun + chunk("hello", true)).actions,
              testing::Contains("message to c@d: hello\r\n"));
}

// Nothing is stuffed in a chunk, and nothing in it ends it.
TEST(Bdat, DotsAreText) {
  const auto text = ".\r\n..\r\n.x\r\n\r\n.\r\nMAIL FROM:<evil@x>\r\n"s;
  const auto outcome = play_anyhow(begun + chunk(text, true));
  EXPECT_THAT(outcome.actions, ElementsAre("sender a@b", "rcpt c@d", "data", "message to c@d: " + text));
}

// It would be smuggling, or another message, behind DATA (CVE-2023-51764).
TEST(Bdat, WhatDataCanNotCarryIsRefusedAtTheLastChunk) {
  const struct {
    std::vector<std::string> chunks;
    const char* reply;
  } rows[] = {
      {{"a\nb\r\n"}, "550 5.5.2 Error: bare <LF> received"},
      {{"a\rb\r\n"}, "550 5.5.2 Error: bare <CR> received"},
      {{"a\r", "b\r\n"}, "550 5.5.2 Error: bare <CR> received"},
      {{"a", "\nb\r\n"}, "550 5.5.2 Error: bare <LF> received"},
      {{"a\r\r\n"}, "550 5.5.2 Error: bare <CR> received"},
      {{"a\r\n", "\n.\r\n"}, "550 5.5.2 Error: bare <LF> received"},
      {{"a\r"}, "550 5.5.2 Error: bare <CR> received"},
      {{"a\r", ""}, "550 5.5.2 Error: bare <CR> received"},
      {{"a\0b\r\n"s}, "550 5.5.2 Error: NUL received"},
      {{"ok\r\n", "\0"s}, "550 5.5.2 Error: NUL received"},
  };
  for (const auto& row : rows) {
    std::string script = begun;
    for (std::size_t i = 0; i < row.chunks.size(); ++i)
      script += chunk(row.chunks[i], i + 1 == row.chunks.size());
    const auto outcome = play_anyhow(script + "NOOP\r\n");
    EXPECT_THAT(outcome.output, EndsWith(std::string(row.reply) + "\r\n250 2.0.0 Ok\r\n"));
    EXPECT_EQ(outcome.actions.back(), "abandon bad_data from a@b");
  }
}

TEST(Bdat, ChunksWithoutARecipientAreReadAndAreNoCommands) {
  const auto evil = "MAIL FROM:<evil@x>\r\nRCPT TO:<e@x>\r\n"s;
  const auto without_mail = play_anyhow(hello + chunk(evil) + chunk(evil, true) + "NOOP\r\n");
  EXPECT_THAT(without_mail.output, EndsWith("\r\n503 5.5.1 Error: need MAIL command\r\n"
                                            "503 5.5.1 Error: need MAIL command\r\n250 2.0.0 Ok\r\n"));
  EXPECT_THAT(without_mail.actions, IsEmpty());
  EXPECT_THAT(play_anyhow(chunk(evil, true) + "NOOP\r\n").actions, IsEmpty()) << "before EHLO";

  const auto refused =
      play_anyhow(hello + "MAIL FROM:<a@b>\r\nRCPT TO:<no@d>\r\n" + chunk(evil, true) + "RSET\r\n");
  EXPECT_THAT(refused.output, EndsWith("550 5.1.1 no such user\r\n554 5.5.1 Error: no valid recipients\r\n"
                                       "250 2.0.0 Ok\r\n"));
  EXPECT_THAT(refused.actions, ElementsAre("sender a@b", "rcpt no@d", "abandon reset from a@b"));
}

TEST(Bdat, TooLargeIsSaidAtItsChunkAndTheRestIsReadAndRefused) {
  const auto outcome =
      play_anyhow(begun + chunk(std::string(600, 'x')) + chunk(std::string(600, 'y')) + chunk("z\r\n") +
                  chunk("MAIL FROM:<evil@x>\r\n", true) + envelope_lines + chunk("next\r\n", true));
  EXPECT_THAT(outcome.output,
              HasSubstr("250 2.0.0 600 octets received\r\n552 5.3.4 Error: message too large\r\n"
                        "503 5.5.1 Error: the BDAT before was refused\r\n"
                        "503 5.5.1 Error: the BDAT before was refused\r\n250 2.1.0 Ok\r\n"));
  EXPECT_THAT(outcome.actions, ElementsAre("sender a@b", "rcpt c@d", "data", "abandon too_large from a@b",
                                           "sender a@b", "rcpt c@d", "data", "message to c@d: next\r\n"));
}

// What is too large is not kept while it is read.
TEST(Bdat, OctetsBeyondTheLimitAreNotHandedOn) {
  ServerMachine machine(Dialogue::default_options());
  const auto script = begun + chunk(std::string(5000, 'x'), true);
  machine.receive(script);
  for (bool ended = false; !ended;) {
    const auto action = machine.next();
    EXPECT_FALSE(std::holds_alternative<DataChunk>(action));
    if (std::holds_alternative<AskCapabilities>(action)) machine.announce({});
    const std::vector<Reply> yes{{250, "Ok"}};
    if (std::holds_alternative<AskRecipients>(action)) machine.answer_recipients(yes);
    ended = std::holds_alternative<NeedInput>(action);
  }
  EXPECT_THAT(machine.output(), EndsWith("552 5.3.4 Error: message too large\r\n"));
}

// Twenty chunks behind one that was refused are one mistake.
TEST(Bdat, ChunksBehindARefusedOneAreNoErrorsOfTheirOwn) {
  auto script = begun + chunk(std::string(2000, 'x'));
  for (int i = 0; i < 30; ++i) script += chunk("y");
  EXPECT_THAT(play_anyhow(script + "NOOP\r\n").output, EndsWith("250 2.0.0 Ok\r\n"));
  script = hello;
  for (int i = 0; i < 30; ++i) script += chunk("y");
  EXPECT_THAT(play(script, 1000).output, EndsWith("421 4.7.0 Error: too many errors\r\n"));
}

TEST(Bdat, RsetBetweenChunksAbandons) {
  const auto outcome = play_anyhow(begun + chunk("x") + "RSET\r\n" + envelope_lines + chunk("y\r\n", true));
  EXPECT_THAT(outcome.actions, ElementsAre("sender a@b", "rcpt c@d", "data", "abandon reset from a@b",
                                           "sender a@b", "rcpt c@d", "data", "message to c@d: y\r\n"));
}

TEST(Bdat, OtherCommandsBetweenChunks) {
  const auto outcome =
      play_anyhow(begun + chunk("x") + "NOOP\r\nRCPT TO:<e@f>\r\nMAIL FROM:<x@y>\r\n" + chunk("y\r\n", true));
  EXPECT_EQ(replies(outcome),
            "250 2.0.0 1 octets received\r\n250 2.0.0 Ok\r\n"
            "503 5.5.1 Error: RCPT is not permitted after BDAT\r\n503 5.5.1 Error: nested MAIL command\r\n"
            "250 2.0.0 queued\r\n");
  EXPECT_EQ(outcome.actions.back(), "message to c@d: xy\r\n");
  EXPECT_EQ(play_anyhow(begun + chunk("x") + "QUIT\r\n").actions.back(), "close");
}

TEST(Bdat, AndDataAreNotMixed) {
  Dialogue dialogue;
  dialogue.say(begun + chunk("x"));
  EXPECT_EQ(dialogue.say("DATA\r\n"), "503 5.5.1 Error: the message comes by BDAT\r\n");
  EXPECT_EQ(dialogue.say(chunk("y\r\n", true)), "250 2.0.0 queued\r\n");
  const auto pushed = play(begun + chunk("x") + "DATA\r\nMAIL FROM:<evil@x>\r\n.\r\n", 1000);
  EXPECT_THAT(pushed.actions,
              ElementsAre("sender a@b", "rcpt c@d", "data", "abandon close from a@b", "close"));
}

TEST(Bdat, ARefusalOfTheShellIsSaidAtTheChunkThatIsBeingRead) {
  Dialogue dialogue;
  dialogue.say(begun + "BDAT 10\r\nhello");
  dialogue.machine.refuse_data({452, "4.3.1 full"});
  EXPECT_EQ(dialogue.say("world" + chunk("more", true)),
            "452 4.3.1 full\r\n503 5.5.1 Error: the BDAT before was refused\r\n");
  EXPECT_EQ(dialogue.outcome.actions.back(), "abandon refused from a@b");
}

TEST(Bdat, TheDeadlineIsTheBodysFromTheFirstChunkToTheLast) {
  Dialogue dialogue;
  dialogue.say(begun);
  EXPECT_EQ(dialogue.phase, NeedInput::Phase::transaction);
  dialogue.say("BDAT 5\r\nhe");
  EXPECT_EQ(dialogue.phase, NeedInput::Phase::data);
  dialogue.say("llo");
  EXPECT_EQ(dialogue.phase, NeedInput::Phase::data) << "between two chunks";
  EXPECT_FALSE(dialogue.machine.idle());
  dialogue.say("BDAT 0 LAST\r\n");
  EXPECT_EQ(dialogue.phase, NeedInput::Phase::command);
  dialogue.say("BDAT 5\r\nhe");
  EXPECT_EQ(dialogue.phase, NeedInput::Phase::data) << "of no transaction";
  EXPECT_FALSE(dialogue.machine.idle());
}

TEST(Bdat, ThousandsOfTinyChunksAreCommandsAndFewLargeOnesAreNot) {
  auto options = Dialogue::default_options();
  options.max_commands = 20;
  options.max_message_octets = 1 << 20;
  std::string tiny = begun, large = begun;
  for (int i = 0; i < 30; ++i) {
    tiny += chunk("x");
    large += chunk(std::string(1024, 'x'));
  }
  EXPECT_THAT(play(tiny, 100, options).output,
              EndsWith("421 4.7.0 Error: too many commands and no message\r\n"));
  EXPECT_THAT(play(large + chunk("\r\n", true), 1000, options).output, EndsWith("250 2.0.0 queued\r\n"));
  auto refused = begun + chunk(std::string(1 << 21, 'x'));
  for (int i = 0; i < 30; ++i) refused += "BDAT 0 LAST\r\n";
  EXPECT_THAT(play(refused, 1000, options).output,
              EndsWith("421 4.7.0 Error: too many commands and no message\r\n"));
}

}  // namespace
}  // namespace mailonce::smtp
