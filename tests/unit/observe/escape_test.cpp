#include "mailonce/observe/escape.h"

#include <gtest/gtest.h>

#include <cctype>
#include <random>

namespace mailonce::observe {
namespace {

std::string as_json(std::string_view octets) {
  std::string out;
  append_json_string(out, octets);
  return out;
}
std::string as_quoted(std::string_view octets) {
  std::string out;
  append_quoted(out, octets);
  return out;
}
std::string as_word(std::string_view octets) {
  std::string out;
  append_word(out, octets);
  return out;
}

TEST(Escape, LeavesReadableTextAsItIs) {
  EXPECT_EQ(as_json("Grüße, 世界 🙂"), "\"Grüße, 世界 🙂\"");
  EXPECT_EQ(as_quoted("Grüße, 世界 🙂"), "\"Grüße, 世界 🙂\"");
  EXPECT_EQ(as_word("bob@example.org"), "bob@example.org");
}

TEST(Escape, QuotesWhatIsNotOnePlainWord) {
  EXPECT_EQ(as_word(""), "\"\"");
  EXPECT_EQ(as_word("two words"), "\"two words\"");
  EXPECT_EQ(as_word("outcome=forwarded"), "\"outcome=forwarded\"");
  EXPECT_EQ(as_word("say \"hi\""), R"("say \"hi\"")");
}

TEST(Escape, NoControlCharacterReachesTheLine) {
  for (int octet = 0; octet < 0x80; ++octet) {
    const std::string input = std::string("a") + static_cast<char>(octet) + "b";
    for (const auto& out : {as_json(input), as_quoted(input), as_word(input)}) {
      for (const char c : out) EXPECT_FALSE(std::iscntrl(static_cast<unsigned char>(c))) << octet;
    }
  }
  EXPECT_EQ(as_json("a\nb\r\x1b[2J\x7f"), R"("a\nb\r\u001b[2J\u007f")");
  EXPECT_EQ(as_quoted("a\nb\r\x1b[2J\x7f"), R"("a\nb\r\x1b[2J\x7f")");
}

// C1 controls, line separators and bidirectional overrides are valid UTF-8, and terminals obey them.
TEST(Escape, CharactersThatActAreShownAsCodes) {
  EXPECT_EQ(as_json("\xc2\x9b"
                    "31m"),
            R"("\u009b31m")");
  EXPECT_EQ(as_quoted("a\xe2\x80\xa8"
                      "b"),
            R"("a\u2028b")");
  EXPECT_EQ(as_json("\xe2\x80\xae"
                    "gpj"),
            R"("\u202egpj")");
}

TEST(Escape, OctetsThatAreNotUtf8AreReplacedInJsonAndShownInText) {
  const std::string fffd = "\xef\xbf\xbd";
  EXPECT_EQ(as_json("a\xff"
                    "b"),
            "\"a" + fffd + "b\"");
  EXPECT_EQ(as_json("\xc0\xaf"), "\"" + fffd + fffd + "\"");                        // overlong slash
  EXPECT_EQ(as_json("\xed\xa0\x80"), "\"" + fffd + fffd + fffd + "\"");             // surrogate
  EXPECT_EQ(as_json("\xf4\x90\x80\x80"), "\"" + fffd + fffd + fffd + fffd + "\"");  // above U+10FFFF
  EXPECT_EQ(as_json("\xe4\xb8"), "\"" + fffd + "\"");                               // cut short
  EXPECT_EQ(as_json("\xe4\xb8\""), "\"" + fffd + "\\\"\"");  // does not swallow the quote
  EXPECT_EQ(as_quoted("\xff\xe4\xb8"), R"("\xff\xe4\xb8")");
}

// Undoes append_quoted, so that the escaping is seen to lose nothing a reader could be deceived by.
std::string unquote(std::string_view text) {
  std::string out;
  text.remove_prefix(1), text.remove_suffix(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
    } else if (const char kind = text[++i]; kind == 'x') {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += kind == 'n' ? '\n' : kind == 'r' ? '\r' : kind == 't' ? '\t' : kind;
    }
  }
  return out;
}

TEST(Escape, AnyOctetsCanBeReadBackFromTheirQuotedForm) {
  std::mt19937 random(20260101);
  for (int round = 0; round < 2000; ++round) {
    std::string octets(random() % 40, '\0');
    for (auto& c : octets) c = static_cast<char>(random() % 3 == 0 ? 0x5c + random() % 2 : random() % 0xc0);
    EXPECT_EQ(unquote(as_quoted(octets)), octets);
  }
}

}  // namespace
}  // namespace mailonce::observe
