#include "mailonce/smtp/command.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace mailonce::smtp {
namespace {

template <class T>
T expect(std::string_view line) {
  auto parsed = parse_command(line);
  auto* command = std::get_if<Command>(&parsed);
  if (command && std::holds_alternative<T>(*command)) return std::get<T>(std::move(*command));
  throw std::runtime_error("not parsed: " + std::string(line));
}

Refusal refusal(std::string_view line) {
  const auto parsed = parse_command(line);
  if (const auto* refused = std::get_if<Refusal>(&parsed)) return *refused;
  return Refusal{Reply{250, "parsed"}};
}

// "501 5.5.4": code and enhanced code of the refusal.
std::string refused(std::string_view line) {
  const auto reply = refusal(line).reply;
  return std::to_string(reply.code) + " " + reply.text.substr(0, reply.text.find(' '));
}

TEST(Command, VerbsAreReadInAnyCase) {
  EXPECT_EQ(expect<Ehlo>("EHLO localhost").name.text(), "localhost");
  EXPECT_EQ(expect<Helo>("hElO [127.0.0.1]").name.text(), "[127.0.0.1]");
  EXPECT_EQ(expect<Mail>("mail from:<a@b>").sender.address.text(), "a@b");
  EXPECT_EQ(expect<Rcpt>("Rcpt To:<a@b>").recipient.address.text(), "a@b");
  expect<Data>("data");
  expect<Rset>("RSET");
  expect<Noop>("noop anything");
  expect<Vrfy>("VRFY somebody");
  expect<Quit>("QUIT");
}

TEST(Command, TrailingSpacesAndSpacesBeforeAPathAreTolerated) {
  expect<Data>("DATA  ");
  EXPECT_EQ(expect<Mail>("MAIL FROM: <a@b> ").sender.address.text(), "a@b");
  EXPECT_EQ(expect<Rcpt>("RCPT TO:   <a@b>").recipient.address.text(), "a@b");
  EXPECT_EQ(expect<Ehlo>("EHLO  host ").name.text(), "host");
}

TEST(Command, MailTakesSizeAndBody) {
  const auto sender = expect<Mail>("MAIL FROM:<a@b> SIZE=1000 BODY=8BITMIME").sender;
  EXPECT_EQ(sender.size, 1000u);
  EXPECT_EQ(sender.body, BodyType::eight_bit_mime);
  EXPECT_EQ(expect<Mail>("MAIL FROM:<> body=7bit").sender.body, BodyType::seven_bit);
  EXPECT_EQ(expect<Mail>("MAIL FROM:<a@b>").sender.size, std::nullopt);
}

TEST(Command, ASizeBeyond64BitsIsTheLargestThereIs) {
  EXPECT_EQ(expect<Mail>("MAIL FROM:<a@b> SIZE=99999999999999999999").sender.size,
            std::numeric_limits<std::uint64_t>::max());
}

TEST(Command, BadParametersAreRefused) {
  for (const auto* parameters :
       {"SIZE", "SIZE=", "SIZE=-1", "SIZE=1k", "SIZE=+1", "SIZE=123456789012345678901", "SIZE=1 SIZE=1",
        "BODY", "BODY=", "BODY=FOO", "BODY=BINARYMIME", "BODY=7BIT BODY=7BIT", "AUTH=", "AUTH=<> AUTH=<>"})
    EXPECT_EQ(refused(std::string("MAIL FROM:<a@b> ") + parameters), "501 5.5.4") << parameters;
  for (const auto* parameters : {"X=1", "=1", "SIZE1=1", "\xff=1"})
    EXPECT_EQ(refused(std::string("MAIL FROM:<a@b> ") + parameters), "555 5.5.4") << parameters;
  EXPECT_EQ(refused("RCPT TO:<a@b> X=NEVER"), "555 5.5.4");
}

TEST(Command, BadSyntaxIsRefusedWithTheFormThatIsRight) {
  for (const auto* line : {"MAIL", "MAIL FROM", "MAIL FROM <a@b>", "MAIL TO:<a@b>", "RCPT", "RCPT FROM:<a@b>",
                           "MAIL FROM:<a@b>SIZE=1", "RCPT TO:<a@b>x", "DATA now", "RSET x", "QUIT x", "EHLO",
                           "HELO", "EHLO a b", "EHLO h\xc3\xb6st", "VRFY"})
    EXPECT_EQ(refused(line), "501 5.5.4") << line;
  EXPECT_EQ(refused("EHLO " + std::string(256, 'a')), "501 5.5.4");
}

TEST(Command, BadAddressesAreRefusedByTheirSide) {
  EXPECT_EQ(refused("MAIL FROM:a@b"), "501 5.1.7");
  EXPECT_EQ(refused("MAIL FROM:<a"), "501 5.1.7");
  EXPECT_EQ(refused("RCPT TO:a@b"), "501 5.1.3");
  EXPECT_EQ(refused("RCPT TO:<>"), "501 5.1.3");
  EXPECT_EQ(refused("MAIL FROM:<" + std::string(300, 'a') + "@b>"), "501 5.1.7");
  EXPECT_EQ(refused("RCPT TO:<j\xc3rg@b>"), "553 5.6.7");
  EXPECT_EQ(refused("MAIL FROM:<j\xc3rg@b>"), "553 5.6.7");
}

TEST(Command, AQuotedBracketDoesNotEndThePath) {
  EXPECT_EQ(expect<Mail>(R"(MAIL FROM:<"a> SIZE=1"@b> SIZE=2)").sender.size, 2u);
  EXPECT_EQ(expect<Rcpt>(R"(RCPT TO:<"a\"> b"@c>)").recipient.address.text(), R"("a\"> b"@c)");
}

TEST(Command, ControlCharactersAreRefusedAnywhere) {
  for (const char control : std::string("\0\x01\t\r\x1f\x7f", 6)) {
    EXPECT_EQ(refused(std::string("EHLO a") + control), "501 5.5.2");
    EXPECT_EQ(refused(std::string("RCPT TO:<a@b>") + control + "RCPT TO:<evil@x>"), "501 5.5.2");
    EXPECT_EQ(refused(std::string("MAIL FROM:<a@b> SIZE=1") + control), "501 5.5.2");
  }
}

TEST(Command, WhatIsNotAnnouncedIsNotImplemented) {
  for (const auto* line : {"EXPN list", "HELP", "ETRN x", "TURN"}) {
    EXPECT_EQ(refused(line), "502 5.5.1") << line;
    EXPECT_FALSE(refusal(line).close) << line;
  }
  for (const auto* line : {"FOO", "MAILFROM", "PROXY TCP4 1.2.3.4 1.2.3.4 1 2", "RCPTX"}) {
    EXPECT_EQ(refused(line), "500 5.5.1") << line;
    EXPECT_FALSE(refusal(line).close) << line;
  }
  EXPECT_EQ(refused(""), "500 5.5.2");
  EXPECT_EQ(refused("  "), "500 5.5.2");
}

TEST(Command, BdatSaysHowManyOctetsFollow) {
  const auto bdat = [](const char* line) { return std::get<Bdat>(std::get<Command>(parse_command(line))); };
  EXPECT_EQ(bdat("BDAT 0 LAST").octets, 0u);
  EXPECT_TRUE(bdat("bdat 17  last").last);
  EXPECT_EQ(bdat("BDAT 18446744073709551615").octets, ~0ULL);
  EXPECT_FALSE(bdat("BDAT 17 ").last);
}

// The octets after BDAT are not commands (RFC 3030 §2), and nobody knows where they end.
TEST(Command, BdatWithoutASizeEndsTheSession) {
  for (const auto* line : {"BDAT x", "BDAT 18446744073709551616", "bdat", "BDAT LAST", "BDAT -1", "BDAT 5x",
                           "BDAT +5", "BDAT 0x5", "BDAT 5 LAST LAST", "BDAT 5 NEXT"}) {
    EXPECT_EQ(refused(line), "501 5.5.4") << line;
    EXPECT_TRUE(refusal(line).close) << line;
  }
}

TEST(Command, OtherProtocolsAndTextEndTheSession) {
  for (const auto* line :
       {"GET / HTTP/1.1", "POST /x", "CONNECT a:25 HTTP/1.1", "PRI * HTTP/2.0", "Subject: x", "Host:x",
        "X-Custom: y", ".", "<html>", "--boundary", " EHLO x", "\x80\x81", "MAILFROM:<a@b>"}) {
    EXPECT_EQ(refusal(line).reply.code, 421) << line;
    EXPECT_TRUE(refusal(line).close) << line;
  }
}

TEST(Command, RefusalsDoNotEchoTheClient) {
  for (const auto* line :
       {"FOO zzzz", "MAIL FROM:<zzzz", "RCPT TO:<zzzz> zzzz=1", "EHLO zzzz zzzz", "AUTH PLAIN zzzz"})
    EXPECT_EQ(refusal(line).reply.text.find("zzzz"), std::string::npos) << line;
}

}  // namespace
}  // namespace mailonce::smtp
