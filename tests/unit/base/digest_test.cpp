#include "mailonce/base/digest.h"

#include <gtest/gtest.h>

#include "mailonce/base/encoding.h"

namespace mailonce {
namespace {

// FIPS 180-4's own example.
TEST(Digest, IsSha256) {
  EXPECT_EQ(sha256("abc").hex(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// RFC 4231, test cases 2 and 6 (a key longer than the block).
TEST(Digest, WithAKeyIsHmac) {
  Hasher jefe("Jefe");
  jefe.update("what do ya want for nothing?");
  EXPECT_EQ(jefe.finish().hex(), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  Hasher longer(std::string(131, '\xaa'));
  longer.update("Test Using Larger Than Block-Size Key - Hash Key First");
  EXPECT_EQ(longer.finish().hex(), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Digest, DoesNotDependOnHowTheInputIsSplit) {
  const std::string text = "Thursday, 10.00 EUR";
  for (std::size_t i = 0; i <= text.size(); ++i) {
    Hasher hasher;
    hasher.update(text.substr(0, i));
    hasher.update(text.substr(i));
    EXPECT_EQ(hasher.finish(), sha256(text));
  }
}

TEST(Digest, FramesWhatWouldOtherwiseRunTogether) {
  Hasher one;
  one.update_framed("ab");
  one.update_framed("c");
  Hasher other;
  other.update_framed("a");
  other.update_framed("bc");
  EXPECT_NE(one.finish(), other.finish());
}

TEST(Encoding, KnowsRfc4648sVectors) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(from_base64("Zm9vYg=="), "foob");
  EXPECT_EQ(from_base64("Zm9vYmE="), "fooba");
}

TEST(Encoding, RefusesWhatIsNotBase64) {
  for (const char* text : {"Zg=", "Zg", "Z===", "Zm9v\r\n", "Zg==Zg==", "Zh==", "Z g="}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

}  // namespace
}  // namespace mailonce
