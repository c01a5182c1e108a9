#include <gmock/gmock.h>

#include "fixture.h"

namespace mailonce::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string mail(const std::string& subject, const std::string& id, const std::string& more = "") {
  return "From: Shop <shop@example.com>\r\nTo: ada@example.net\r\nSubject: " + subject + "\r\nMessage-ID: <" +
         id + "@app>\r\nDate: Thu, 1 Jan 2026 00:00:00 +0000\r\n" + more +
         "\r\nYour invoice is attached.\r\n";
}

TEST_F(CommandLine, ExplainShowsWhatCountsAndTheFingerprint) {
  EXPECT_EQ(mailonce({"explain", write("a.eml", mail("Invoice 1001", "1"))}), 0) << err();
  EXPECT_THAT(out(), StartsWith("fingerprint "));
  EXPECT_THAT(out(), HasSubstr("\nstrategy    content\n"));
  const auto ignored = out().find("does not count");
  ASSERT_NE(ignored, std::string::npos);
  EXPECT_LT(out().find("Invoice 1001"), ignored);
  EXPECT_LT(out().find("Your invoice is attached."), ignored);
  EXPECT_GT(out().find("<1@app>"), ignored);
}

TEST_F(CommandLine, ExplainReadsStandardInputOnce) {
  EXPECT_EQ(mailonce({"explain", "-"}, mail("Invoice 1001", "1")), 0);
  const auto of_input = out();
  EXPECT_EQ(mailonce({"explain", write("a.eml", mail("Invoice 1001", "1"))}), 0);
  EXPECT_EQ(out(), of_input);
  EXPECT_EQ(mailonce({"explain", "-", "-"}, mail("Invoice 1001", "1")), 2);
  EXPECT_THAT(err(), HasSubstr("once"));
}

TEST_F(CommandLine, TheSameMailBuiltTwiceIsADuplicate) {
  EXPECT_EQ(mailonce({"explain", write("a.eml", mail("Invoice 1001", "1")), "-"}, mail("Invoice 1001", "2")),
            0);
  EXPECT_THAT(out(), StartsWith("duplicate: "));
  EXPECT_THAT(out(), HasSubstr("differs and does not count"));
  EXPECT_THAT(out(), Not(HasSubstr("differs and counts")));
}

TEST_F(CommandLine, AnotherSubjectMakesAnotherMail) {
  EXPECT_EQ(mailonce({"explain", write("a.eml", mail("Invoice 1001", "1")),
                      write("b.eml", mail("Invoice 1002", "2"))}),
            1);
  EXPECT_THAT(out(), StartsWith("distinct: "));
  EXPECT_THAT(out(), HasSubstr("differs and counts\n  "));
  EXPECT_THAT(out(), HasSubstr("Invoice 1002"));
}

// Editors save LF; a client would have sent CRLF.
TEST_F(CommandLine, AMailSavedWithOtherLineEndsIsTheSame) {
  auto saved = mail("Invoice 1001", "1");
  saved.erase(std::remove(saved.begin(), saved.end(), '\r'), saved.end());
  EXPECT_EQ(mailonce({"explain", write("a.eml", mail("Invoice 1001", "1")), write("b.eml", saved)}), 0);
}

TEST_F(CommandLine, OtherContentUnderOneKeyIsJudgedByThePolicy) {
  const auto a = write("a.eml", mail("Invoice 1001", "1", "Idempotency-Key: k1\r\n"));
  const auto b = write("b.eml", mail("Invoice 1002", "2", "Idempotency-Key: k1\r\n"));
  EXPECT_EQ(mailonce({"explain", a, b}), 1);
  EXPECT_THAT(out(), HasSubstr("554 5.6.0"));
  const auto drop = write("m.toml", "[policy]\nconflict = \"duplicate\"\n");
  EXPECT_EQ(mailonce({"explain", "--config", drop, a, b}), 0);
  EXPECT_THAT(out(), HasSubstr("conflict = \"duplicate\""));
}

TEST_F(CommandLine, ExplainTakesTheStrategyOfTheConfiguration) {
  // What only the relay's own user can read, and what is missing for serving, is no hindrance.
  const auto config = write("m.toml",
                            "[[upstream]]\nurl = \"smtps://u@host\"\npassword_file = \"/nonexistent\"\n"
                            "[policy]\nstrategy = [\"message-id\"]\n");
  const auto a = write("a.eml", mail("Invoice 1001", "1")), b = write("b.eml", mail("Invoice 1001", "2"));
  EXPECT_EQ(mailonce({"explain", "--config", config, a, b}), 1) << err();
  EXPECT_THAT(out(), HasSubstr("strategy    message-id"));
}

TEST_F(CommandLine, AMessageWithoutIdentityIsAlwaysForwarded) {
  const auto config = write("m.toml", "[policy]\nstrategy = [\"key\"]\n");
  const auto a = write("a.eml", mail("Invoice 1001", "1"));
  EXPECT_EQ(mailonce({"explain", "--config", config, a}), 1);
  EXPECT_THAT(out(), StartsWith("no identity"));
  EXPECT_EQ(mailonce({"explain", "--config", config, a, a}), 1);
}

TEST_F(CommandLine, ExplainEndsWithTwoWhenItCanNotTell) {
  const auto a = write("a.eml", mail("Invoice 1001", "1"));
  EXPECT_EQ(mailonce({"explain", a, "/nonexistent.eml"}), 2);
  EXPECT_THAT(err(), HasSubstr("/nonexistent.eml: can not be read: No such file or directory"));
  EXPECT_EQ(mailonce({"explain", folder_.string()}), 2);
  EXPECT_EQ(mailonce({"explain", write("empty.eml", "")}), 2);
  EXPECT_EQ(mailonce({"explain", "--config", "/nonexistent.toml", a}), 2);
  EXPECT_EQ(mailonce({"explain", "--config", write("m.toml", "[policy]\nconflict = 1\n"), a}), 2);
  EXPECT_THAT(err(), HasSubstr("policy.conflict"));
}

// What a mail holds must not move the cursor of whoever looks at it.
TEST_F(CommandLine, ExplainPrintsNoControlCharacters) {
  const auto text = mail("=?utf-8?q?a=1B[2J=00b?=", "1", "X-Other: \x1b[31m\r\n") + "body \x1b[2J\x07\r\n";
  mailonce({"explain", "-"}, text);
  for (const char c : out())
    EXPECT_TRUE(c == '\n' || c == '\t' || static_cast<unsigned char>(c) >= 0x20) << int{c};
}

TEST_F(CommandLine, RealMailsBuiltTwiceAreDuplicates) {
  const std::string corpus = CORPUS;
  EXPECT_EQ(mailonce({"explain", corpus + "/django/alt.a.eml", corpus + "/django/alt.b.eml"}), 0)
      << out() << err();
  EXPECT_EQ(mailonce({"explain", corpus + "/django/alt.a.eml", corpus + "/django/alt.near-text.eml"}), 1)
      << out();
}

}  // namespace
}  // namespace mailonce::cli
