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
  EXPECT_THAT(out(), HasSubstr("\nrule        default, mode enforce\nrecipients  ada@example.net\n"));
  // In reading order, each with its mark.
  EXPECT_THAT(out(), HasSubstr("\n  = From: Shop <shop@example.com>\n  = To: ada@example.net\n"
                               "  = Subject: Invoice 1001\n  - Message-ID: <1@app>  (made anew"));
  EXPECT_THAT(out(), HasSubstr("  = text: text: Your invoice is attached.\n"));
  EXPECT_THAT(out(), Not(HasSubstr("\x1b"))) << "no colours but on a terminal";
}

TEST_F(CommandLine, ExplainPaintsWhatCountsWhenAskedTo) {
  const auto a = write("a.eml", mail("Invoice 1001", "1"));
  mailonce({"explain", "--color", "always", a});
  EXPECT_THAT(out(), HasSubstr("\x1b[32m  = Subject: Invoice 1001\n\x1b[0m\x1b[2m  - Message-ID"));
  EXPECT_EQ(mailonce({"explain", "--color", "sometimes", a}), 2);
}

TEST_F(CommandLine, ExplainSaysWhichRuleDecidesForWhom) {
  const auto config = write("m.toml",
                            "[[rule]]\nname = \"invoices\"\nmatch = { sender = \"shop@*\", subject = "
                            "\"Invoice*\" }\nmode = \"observe\"\n[[rule]]\nname = \"bob\"\nmatch = { "
                            "recipient = \"bob@*\" }\nstrategy = [\"message-id\"]\n");
  const auto invoice = write("a.eml", mail("Invoice 1001", "1")), other = write("b.eml", mail("Hello", "2"));
  EXPECT_EQ(mailonce({"explain", "--config", config, invoice}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("rule        invoices, mode observe\n"));
  mailonce({"explain", "--config", config, "--sender", "x@example.com", invoice});
  EXPECT_THAT(out(), HasSubstr("rule        default"));
  mailonce({"explain", "--config", config, "--recipient", "ada@x.example", "--recipient", "bob@x.example", other});
  EXPECT_THAT(out(), HasSubstr("rule        default, mode enforce\nrecipients  ada@x.example\n\nfingerprint"));
  EXPECT_THAT(out(), HasSubstr("strategy    message-id\n"));
  EXPECT_THAT(out(), HasSubstr("rule        bob, mode enforce\nrecipients  bob@x.example\n"));
  EXPECT_EQ(mailonce({"explain", "--config", config, invoice, other}), 1);
  EXPECT_THAT(out(), StartsWith("distinct: different rules"));
  EXPECT_EQ(mailonce({"explain", "--recipient", "nobody", other}), 2);
  EXPECT_THAT(err(), HasSubstr("--recipient nobody: is not an address"));
  EXPECT_EQ(mailonce({"explain", "--config", write("bad.toml", "[[rule]]\nname = \"x\"\n"), other}), 2);
  EXPECT_THAT(err(), HasSubstr("rule[0].match: is missing"));
}

TEST_F(CommandLine, ExplainReadsMboxMaildirAndFolders) {
  const auto lf = [](std::string text) {
    text.erase(std::remove(text.begin(), text.end(), '\r'), text.end());
    return text;
  };
  // The second is the first, built again; a line of it looks like a separator, and one like a quoted one.
  const auto odd = mail("Invoice", "1") + "From here on\r\n\r\nFrom there\r\n>From both\r\n";
  auto quoted = lf(odd);
  for (const auto* line : {"\nFrom there", "\n>From both"}) quoted.insert(quoted.find(line) + 1, ">");
  auto rebuilt = quoted;
  rebuilt.replace(rebuilt.find("<1@app>"), 7, "<2@app>");
  const auto box = write("box", "From shop Thu Jan  1 00:00:00 2026\n" + quoted +
                                    "\nFrom shop Thu Jan  1 00:00:01 2026\n" + rebuilt +
                                    "\nFrom shop Thu Jan  1 00:00:02 2026\n" + lf(mail("Hello", "3")) + "\n");
  EXPECT_EQ(mailonce({"explain", box}), 0) << err();
  EXPECT_THAT(out(), HasSubstr("box#1: new, rule default, Invoice\n"));
  EXPECT_THAT(out(), HasSubstr("box#2: duplicate of "));
  EXPECT_THAT(out(), HasSubstr("box#3: new, rule default, Hello\n3 messages, 1 duplicates, 0 without identity\n"));
  EXPECT_EQ(mailonce({"explain", box, write("a.eml", odd)}), 0);
  EXPECT_THAT(out(), HasSubstr("a.eml: duplicate of ")) << "the separators' quotes were undone";

  namespace fs = std::filesystem;
  for (const auto* folder : {"maildir/cur", "maildir/new", "maildir/tmp"}) fs::create_directories(folder_ / folder);
  write("maildir/cur/1:2,S", mail("Hello", "1"));
  write("maildir/new/2", mail("Hello", "2"));
  write("maildir/tmp/3", mail("Half", "3"));
  EXPECT_EQ(mailonce({"explain", (folder_ / "maildir").string()}), 0);
  EXPECT_THAT(out(), StartsWith("duplicate: ")) << "two messages are compared";

  fs::create_directories(folder_ / "saved");
  EXPECT_EQ(mailonce({"explain", (folder_ / "saved").string()}), 2);
  EXPECT_THAT(err(), HasSubstr("holds no message"));
  write("saved/1.eml", mail("Hello", "1"));
  write("saved/notes.txt", "no mail");
  EXPECT_EQ(mailonce({"explain", (folder_ / "saved").string()}), 0);
  EXPECT_THAT(out(), StartsWith("fingerprint "));
}

TEST_F(CommandLine, ExplainSpeaksJson) {
  const auto a = write("a.eml", mail("Invoice \"1001\"", "1")), b = write("b.eml", mail("Invoice 1002", "2"));
  EXPECT_EQ(mailonce({"explain", "--json", a}), 0);
  EXPECT_THAT(out(), StartsWith("{\"name\":"));
  EXPECT_THAT(out(), HasSubstr("\"rule\":\"default\",\"mode\":\"enforce\",\"recipients\":[\"ada@example.net\"],"
                               "\"strategy\":\"content\",\"fingerprint\":\""));
  EXPECT_THAT(out(), HasSubstr("{\"counts\":true,\"where\":\"header\",\"what\":\"Subject\",\"value\":"
                               "\"Invoice \\\"1001\\\"\"}"));
  EXPECT_EQ(mailonce({"explain", "--json", a, b}), 1);
  EXPECT_THAT(out(), StartsWith("{\"duplicate\":false,\"verdict\":\"distinct: both are forwarded\","));
  EXPECT_EQ(mailonce({"explain", "--json", a, b, a}), 0);
  EXPECT_THAT(out(), HasSubstr("\"duplicate_of\":"));
  const auto text = out();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
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
