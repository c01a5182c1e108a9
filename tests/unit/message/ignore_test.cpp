// Patterns that take what an application writes anew out of Subject and texts.
#include <gtest/gtest.h>

#include "mailonce/message/identity.h"

namespace mailonce::message {
namespace {

Digest content_of(const std::string& message, const std::vector<std::string>& ignore) {
  IdentityOptions options;
  for (const auto& expression : ignore) options.ignore.push_back(*Pattern::regex(expression));
  return identify(message, "default", options)->content;
}

std::string mail(const std::string& subject, const std::string& type, const std::string& body) {
  return "From: a@example.com\r\nSubject: " + subject + "\r\nContent-Type: " + type + "\r\n\r\n" + body +
         "\r\n";
}

TEST(Ignore, TakesMatchesOutOfTexts) {
  const std::string plain = "text/plain; charset=utf-8";
  const auto a = mail("Report", plain, "Made at 10:15:01.\r\n42 orders.");
  const auto b = mail("Report", plain, "Made at 10:16:59.\r\n42 orders.");
  const auto other = mail("Report", plain, "Made at 10:16:59.\r\n43 orders.");
  EXPECT_NE(content_of(a, {}), content_of(b, {}));
  const std::vector<std::string> time = {"[0-9]{2}:[0-9]{2}:[0-9]{2}"};
  EXPECT_EQ(content_of(a, time), content_of(b, time));
  EXPECT_NE(content_of(a, time), content_of(other, time));
}

TEST(Ignore, WorksOnTheDecodedTextOfEveryEncoding) {
  const std::vector<std::string> token = {"token=[0-9a-f]+"};
  const auto quoted = [](const std::string& id) {
    return "From: a@example.com\r\nContent-Type: text/html; charset=iso-8859-1\r\nContent-Transfer-Encoding: "
           "quoted-printable\r\n\r\n<a href=3D\"https://x.example/f=FCr?tok=\r\nen=3D" +
           id + "\">x</a>\r\n";
  };
  EXPECT_EQ(content_of(quoted("12ab"), token), content_of(quoted("99ff00"), token));
  EXPECT_NE(content_of(quoted("12ab"), {}), content_of(quoted("99ff00"), {}));
}

TEST(Ignore, CoversTheSubjectAndNoOtherField) {
  const std::vector<std::string> number = {"#[0-9]+"};
  const auto a = mail("=?utf-8?q?Run_=231001?=", "text/plain", "x"), b = mail("Run #1002", "text/plain", "x");
  EXPECT_EQ(content_of(a, number), content_of(b, number));
  const auto with = [](const std::string& name) {
    return "From: \"" + name + "\" <a@example.com>\r\n\r\nx\r\n";
  };
  EXPECT_NE(content_of(with("#1"), number), content_of(with("#2"), number));
}

TEST(Ignore, LeavesAttachmentsAndWhatIsTakenAsBytesAlone) {
  const std::vector<std::string> digits = {"[0-9]+"};
  EXPECT_NE(content_of(mail("x", "application/octet-stream", "1"), digits),
            content_of(mail("x", "application/octet-stream", "2"), digits));
  EXPECT_NE(content_of(mail("x", "text/plain; charset=x-unknown", "1"), digits),
            content_of(mail("x", "text/plain; charset=x-unknown", "2"), digits));
}

TEST(Ignore, WorksAroundBrokenOctets) {
  const std::vector<std::string> time = {"[0-9]{2}:[0-9]{2}", "id=[^ ]+"};
  for (const std::string type : {"text/plain", "text/plain; charset=utf-8"}) {
    const auto made_at = [&](const std::string& time_of_day, const std::string& broken = "\xfc") {
      return content_of(mail("Gr" + broken + "n " + time_of_day, type, "f" + broken + "r " + time_of_day),
                        time);
    };
    EXPECT_EQ(made_at("10:15"), made_at("11:16"));
    EXPECT_NE(made_at("10:15"), made_at("10:1x"));
    EXPECT_NE(made_at("10:15"), made_at("10:15", "\xe4"));
    EXPECT_EQ(made_at("id=\xfc"), made_at("id=\xe4"));
    EXPECT_NE(made_at("id=\xfc x"), made_at("id=\xfc y"));
  }
}

// A pattern is for what people read: digits of an encoding are something else.
TEST(Ignore, LeavesEncodedWordsThatCanNotBeReadAlone) {
  const std::vector<std::string> digits = {"[0-9]+"};
  for (const std::string rest : {"", " \xfc"})
    EXPECT_NE(content_of(mail("=?x-unknown?q?a1?=" + rest, "text/plain", "x"), digits),
              content_of(mail("=?x-unknown?q?a2?=" + rest, "text/plain", "x"), digits));
}

TEST(Ignore, LineAnchorsAreTheExpressionsOwn) {
  const std::string plain = "text/plain";
  const std::vector<std::string> line = {"(?m)^Request-Id: .*$"};
  EXPECT_EQ(content_of(mail("x", plain, "Hello\r\nRequest-Id: 1\r\nBye"), line),
            content_of(mail("x", plain, "Hello\r\nRequest-Id: 22\r\nBye"), line));
}

}  // namespace
}  // namespace mailonce::message
