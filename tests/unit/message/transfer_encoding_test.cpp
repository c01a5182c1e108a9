#include "mailonce/message/transfer_encoding.h"

#include <gtest/gtest.h>

#include <string>

#include "builders.h"

namespace mailonce::message {
namespace {

std::string decoded(TransferEncoding encoding, std::string_view body) {
  std::string out;
  TransferDecoder decoder(encoding, body);
  for (std::string_view chunk; decoder.next(chunk);) out += chunk;
  return out;
}

TEST(TransferEncoding, NamesAreReadWithoutCase) {
  EXPECT_EQ(transfer_encoding(" Base64 "), TransferEncoding::base64);
  EXPECT_EQ(transfer_encoding("QUOTED-PRINTABLE"), TransferEncoding::quoted_printable);
  EXPECT_EQ(transfer_encoding("8BIT"), TransferEncoding::identity);
  EXPECT_EQ(transfer_encoding(""), TransferEncoding::identity);
  EXPECT_EQ(transfer_encoding("x-uuencode"), TransferEncoding::unknown);
}

// Every octet, at every length: whatever step of the decoder the end falls into.
TEST(TransferEncoding, DecodesWhatWasEncoded) {
  std::string bytes;
  for (std::size_t i = 0; i < 9000; ++i) bytes += static_cast<char>(i * 7 + i / 256);
  for (std::size_t size : {0, 1, 2, 3, 4, 255, 1365, 1366, 4095, 4096, 4097, 9000}) {
    const auto piece = bytes.substr(0, size);
    const auto base64 = test::base64_lines(piece);
    const auto printable = test::quoted_printable(piece);
    ASSERT_TRUE(follows(TransferEncoding::base64, base64));
    ASSERT_TRUE(follows(TransferEncoding::quoted_printable, printable));
    EXPECT_EQ(decoded(TransferEncoding::base64, base64), piece) << size;
    EXPECT_EQ(decoded(TransferEncoding::quoted_printable, printable), piece) << size;
    EXPECT_EQ(decoded(TransferEncoding::identity, piece), piece);
  }
}

TEST(TransferEncoding, ASoftLineBreakMayStandAtEveryPlace) {
  const std::string text = "a=C3=A4b";
  for (std::size_t at : {0, 1, 4, 7, 8}) {
    for (const std::string end : {"=\r\n", "=\n"}) {
      const auto body = text.substr(0, at) + end + text.substr(at);
      ASSERT_TRUE(follows(TransferEncoding::quoted_printable, body));
      EXPECT_EQ(decoded(TransferEncoding::quoted_printable, body), "aäb") << body;
    }
  }
  EXPECT_TRUE(follows(TransferEncoding::quoted_printable, "a="));
  EXPECT_EQ(decoded(TransferEncoding::quoted_printable, "a="), "a");
}

// The last octets of a step and the first of the next belong together.
TEST(TransferEncoding, EncodedOctetsMayStraddleTwoSteps) {
  for (std::size_t lead = 4090; lead <= 4100; ++lead) {
    const std::string text(lead, 'a');
    EXPECT_EQ(decoded(TransferEncoding::quoted_printable, text + "=C3=A4=\r\nz"), text + "äz") << lead;
  }
}

TEST(TransferEncoding, WhatLenientDecodersSkipDoesNotFollowIt) {
  for (const std::string_view body :
       {"QQ", "QQ=", "Q===", "QQ==QQ==", "QU!B", "QUFB=", "====", "QUFB=QUF", "Q-_A"})
    EXPECT_FALSE(follows(TransferEncoding::base64, body)) << body;
  for (const std::string_view body : {"=", "=4", "=G1", "=1G", "a= \r\nb", "==41", "=\rb"})
    EXPECT_EQ(follows(TransferEncoding::quoted_printable, body), body == "=") << body;
  for (const std::string_view body : {"", "QQ==", "QUE=", "QUFB\r\n", " Q U\tF\r\nB"})
    EXPECT_TRUE(follows(TransferEncoding::base64, body)) << body;
}

}  // namespace
}  // namespace mailonce::message
