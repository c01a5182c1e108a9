#include "mailonce/smtp/data_codec.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

namespace mailonce::smtp {
namespace {

using Fault = DataDecoder::Fault;
using namespace std::string_literals;

struct Decoded {
  std::string message;
  Fault fault = Fault::none;
  bool ended = false;
  std::string rest;  // what follows the end of data
  std::uint64_t octets = 0;
  bool operator==(const Decoded&) const = default;
};

Decoded decode(const std::vector<std::string>& pieces) {
  DataDecoder decoder;
  Decoded result;
  for (const auto& piece : pieces) {
    std::string_view input = piece;
    while (!input.empty() && !decoder.ended()) result.message += decoder.next(input);
    result.rest += input;
  }
  result.fault = decoder.fault();
  result.ended = decoder.ended();
  result.octets = decoder.octets();
  return result;
}

// Decodes whole, cut in two at every octet, and octet by octet: always the same.
Decoded decode_anyhow(const std::string& wire) {
  const auto whole = decode({wire});
  std::vector<std::string> octets;
  for (std::size_t at = 0; at < wire.size(); ++at) {
    EXPECT_EQ(decode({wire.substr(0, at), wire.substr(at)}), whole) << "cut at " << at;
    octets.push_back(wire.substr(at, 1));
  }
  EXPECT_EQ(decode(octets), whole) << "octet by octet";
  EXPECT_EQ(whole.octets, whole.message.size());
  return whole;
}

const std::string smuggled = "MAIL FROM:<x@evil>\r\nRCPT TO:<y@evil>\r\nDATA\r\n";
const std::string true_end = "\r\n.\r\n";

struct Smuggling {
  const char* name;
  std::string bytes;
  Fault fault;
};

class SmugglingSequences : public testing::TestWithParam<Smuggling> {};

// CVE-2023-51764, -51765, -51766: whatever stands there, the message goes on up to CRLF.CRLF.
TEST_P(SmugglingSequences, DoNotEndTheData) {
  const auto& [name, bytes, fault] = GetParam();
  const auto result = decode_anyhow("line" + bytes + smuggled + true_end + "QUIT\r\n");
  EXPECT_TRUE(result.ended);
  EXPECT_EQ(result.fault, fault);
  EXPECT_EQ(result.rest, "QUIT\r\n");
  EXPECT_NE(result.message.find(smuggled), std::string::npos) << "the commands are text of the body";
}

INSTANTIATE_TEST_SUITE_P(
    Hostile, SmugglingSequences,
    testing::Values(
        Smuggling{"S1", "\n.\n", Fault::bare_lf}, Smuggling{"S2", "\n.\r\n", Fault::bare_lf},
        Smuggling{"S3", "\r\n.\n", Fault::bare_lf}, Smuggling{"S4", "\n.\r", Fault::bare_lf},
        Smuggling{"S5", "\r.\r", Fault::bare_cr}, Smuggling{"S6", "\r.\n", Fault::bare_cr},
        Smuggling{"S7", "\r.\r\n", Fault::bare_cr}, Smuggling{"S8", "\r\n.\r", Fault::bare_cr},
        Smuggling{"S9", "\n\n.\r\n", Fault::bare_lf}, Smuggling{"S10", "\r\n\r.\r\n", Fault::bare_cr},
        Smuggling{"S11", "\r\n\0.\r\n"s, Fault::nul}, Smuggling{"S12a", "\r\n.\t\r\n", Fault::none},
        Smuggling{"S12b", "\r\n. \r\n", Fault::none}, Smuggling{"S13", "\r\n.\0\r\n"s, Fault::nul},
        Smuggling{"S14", "\r\n.\r\r\n", Fault::bare_cr}, Smuggling{"S15", "\r\r\n.\r\r\n", Fault::bare_cr},
        Smuggling{"S16", "\r\n..\r\n", Fault::none}),
    [](const auto& sequence) { return sequence.param.name; });

TEST(DataDecoder, TheLineEndBeforeTheDotBelongsToTheMessage) {
  EXPECT_EQ(decode_anyhow("a\r\n.\r\n").message, "a\r\n");
}

TEST(DataDecoder, ADotOnTheFirstLineIsAnEmptyMessage) {
  const auto result = decode_anyhow(".\r\nNOOP\r\n");
  EXPECT_TRUE(result.ended);
  EXPECT_EQ(result.message, "");
  EXPECT_EQ(result.rest, "NOOP\r\n");
}

TEST(DataDecoder, OneLeadingDotIsDeleted) {
  EXPECT_EQ(decode_anyhow("..\r\n...x\r\na.b\r\n.y\r\n.\r\n").message, ".\r\n..x\r\na.b\r\ny\r\n");
  EXPECT_EQ(decode_anyhow("x\r\n.\t\r\n. \r\n.\r\n").message, "x\r\n\t\r\n \r\n");
}

TEST(DataDecoder, TheFirstFaultIsTheOneTold) {
  EXPECT_EQ(decode_anyhow("a\0b\nc\r\n.\r\n"s).fault, Fault::nul);
  EXPECT_EQ(decode_anyhow("a\nb\0c\r\n.\r\n"s).fault, Fault::bare_lf);
  EXPECT_EQ(decode_anyhow("a\rb\0c\n\r\n.\r\n"s).fault, Fault::bare_cr);
  EXPECT_EQ(decode_anyhow("a\r\0\r\n.\r\n"s).fault, Fault::bare_cr);
  EXPECT_EQ(decode_anyhow("\r\r\n.\r\n").fault, Fault::bare_cr);
  EXPECT_EQ(decode_anyhow("\n.\r\n.\r\n").fault, Fault::bare_lf);
}

TEST(DataDecoder, LongLinesPassUnwrapped) {
  const std::string line(100'000, 'x');
  const auto result = decode({line + "\r\n.\r\n"});
  EXPECT_EQ(result.message, line + "\r\n");
  EXPECT_EQ(result.fault, Fault::none);
}

TEST(DataDecoder, OrdinaryTextIsOnePieceThatViewsTheInput) {
  std::string wire;
  while (wire.size() < 64 * 1024) wire += "An ordinary line of text, as most are.\r\n";
  DataDecoder decoder;
  std::string_view input = wire;
  const auto piece = decoder.next(input);
  EXPECT_EQ(piece.data(), wire.data());
  EXPECT_EQ(piece.size(), wire.size());
}

// --- the encoder

std::string encode(const std::vector<std::string_view>& parts) {
  DataEncoder encoder;
  std::vector<std::string_view> pieces;
  for (const auto part : parts) encoder.encode(part, pieces);
  std::string wire;
  for (const auto piece : pieces) wire += piece;
  return wire.append(encoder.finish());
}

std::string encode_anyhow(const std::string& message) {
  const auto whole = encode({message});
  std::vector<std::string_view> octets;
  for (std::size_t at = 0; at < message.size(); ++at) {
    const std::string_view view = message;
    EXPECT_EQ(encode({view.substr(0, at), view.substr(at)}), whole) << "cut at " << at;
    octets.push_back(view.substr(at, 1));
  }
  EXPECT_EQ(encode(octets), whole) << "octet by octet";
  return whole;
}

TEST(DataEncoder, StuffsADotAtTheBeginningOfALineOnly) {
  EXPECT_EQ(encode_anyhow(".a\r\n..\r\nb.c\r\n"), "..a\r\n...\r\nb.c\r\n.\r\n");
}

TEST(DataEncoder, AMessageWithoutALastLineEndGetsOne) {
  EXPECT_EQ(encode_anyhow("a"), "a\r\n.\r\n");
  EXPECT_EQ(encode_anyhow("a\r\n"), "a\r\n.\r\n");
  EXPECT_EQ(encode_anyhow(""), ".\r\n");
}

// Every message of up to seven octets over the alphabet that framing is made of.
TEST(DataCodec, DecodingWhatWasEncodedIsTheIdentity) {
  const std::string_view alphabet = ".\r\nx";
  for (std::size_t length = 0, count = 1; length <= 7; ++length, count *= alphabet.size()) {
    for (std::size_t n = 0; n < count; ++n) {
      std::string message;
      for (std::size_t rest = n, i = 0; i < length; ++i, rest /= alphabet.size())
        message += alphabet[rest % alphabet.size()];
      const auto decoded = decode({encode({message})});
      ASSERT_TRUE(decoded.ended);
      ASSERT_EQ(decoded.rest, "");
      const bool whole_lines = message.empty() || message.ends_with("\r\n");
      ASSERT_EQ(decoded.message, whole_lines ? message : message + "\r\n");
    }
  }
}

// The reference for the decoder is RFC 5321 §4.5.2 written down octet by octet.
Decoded decode_slowly(std::string_view wire) {
  Decoded result;
  std::string line;
  const auto note = [&](Fault fault) { result.fault = result.fault == Fault::none ? fault : result.fault; };
  for (std::size_t i = 0; i < wire.size(); ++i) {
    line += wire[i];
    const bool after_cr = i > 0 && wire[i - 1] == '\r';
    if (after_cr && wire[i] != '\n') note(Fault::bare_cr);
    if (wire[i] == '\n' && !after_cr) note(Fault::bare_lf);
    if (wire[i] == '\0') note(Fault::nul);
    if (!line.ends_with("\r\n")) continue;
    if (line == ".\r\n") {
      result.ended = true;
      result.rest = wire.substr(i + 1);
      return result;
    }
    result.message += line.front() == '.' ? line.substr(1) : line;
    result.octets = result.message.size();
    line.clear();
  }
  return result;
}

TEST(DataDecoder, AgreesWithTheSlowReferenceOnEveryShortInput) {
  const std::string_view alphabet{".\r\nx\0", 5};
  for (std::size_t n = 0; n < 5 * 5 * 5 * 5 * 5 * 5; ++n) {
    std::string body;
    for (std::size_t rest = n, i = 0; i < 6; ++i, rest /= 5) body += alphabet[rest % 5];
    const auto wire = body + "\r\n.\r\n";
    const auto expected = decode_slowly(wire);
    ASSERT_EQ(decode({wire}), expected) << testing::PrintToString(wire);
    for (std::size_t at = 1; at < wire.size(); ++at)
      ASSERT_EQ(decode({wire.substr(0, at), wire.substr(at)}), expected)
          << testing::PrintToString(wire) << " at " << at;
  }
}

}  // namespace
}  // namespace mailonce::smtp
