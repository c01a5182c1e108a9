// The PROXY protocol's header, both versions: what is taken, what is malformed, and that no octet behind it
// is lost.
#include "mailonce/net/proxy_header.h"

#include <gtest/gtest.h>

#include <string>

namespace mailonce::net {
namespace {

using namespace std::string_literals;
using State = ProxyHeader::State;

const std::string signature = "\r\n\r\n\0\r\nQUIT\n"s;
const std::string behind = "EHLO c\r\n";

struct Outcome {
  State state;
  std::string source;  // empty: none
  std::string left;
  bool operator==(const Outcome&) const = default;
};

// gtest's words for a difference.
std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  return out << static_cast<int>(outcome.state) << " '" << outcome.source << "' left '" << outcome.left
             << "'";
}

Outcome play(const std::string& octets, std::size_t piece) {
  ProxyHeader header;
  Outcome out{State::need_more, {}, {}};
  for (std::size_t at = 0; at < octets.size(); at += piece) {
    const auto block = octets.substr(at, piece);
    std::string_view view = block;
    if (out.state == State::need_more) out.state = header.receive(view);
    out.left += view;
  }
  if (header.source())
    out.source = header.source()->address().to_string() + " " + std::to_string(header.source()->port());
  if (out.state == State::malformed) out.left.clear();
  EXPECT_EQ(out.state == State::malformed, !header.reason().empty());
  return out;
}

Outcome play_anyhow(const std::string& octets) {
  const auto whole = play(octets, octets.size());
  for (std::size_t piece = 1; piece < octets.size(); ++piece) EXPECT_EQ(play(octets, piece), whole) << piece;
  return whole;
}

std::string binary(char command, char family, const std::string& block) {
  const auto length = block.size();
  return signature + command + family + static_cast<char>(length >> 8) + static_cast<char>(length & 255) +
         block;
}

const std::string v4_block = "\x0a\x01\x02\x03\x7f\x00\x00\x01\xc0\x00\x00\x19"s;
const std::string v6_block =
    "\x20\x01\x0d\xb8"s + std::string(11, '\0') + "\x07"s + std::string(15, '\0') + "\x01\xff\xff\x00\x19"s;

TEST(ProxyHeaderLine, NamesTheClient) {
  EXPECT_EQ(play_anyhow("PROXY TCP4 10.1.2.3 127.0.0.1 49152 25\r\n" + behind),
            (Outcome{State::complete, "10.1.2.3 49152", behind}));
  EXPECT_EQ(play_anyhow("PROXY TCP6 2001:db8::7 ::1 65535 25\r\n" + behind),
            (Outcome{State::complete, "2001:db8::7 65535", behind}));
  EXPECT_EQ(play_anyhow("PROXY TCP6 ::ffff:10.1.2.3 ::ffff:127.0.0.1 0 25\r\n"),
            (Outcome{State::complete, "10.1.2.3 0", ""}))
      << "one client has one address, whatever the proxy listens on";
}

TEST(ProxyHeaderLine, UnknownLeavesTheAddressToTheConnection) {
  const Outcome none{State::complete, "", behind};
  EXPECT_EQ(play_anyhow("PROXY UNKNOWN\r\n" + behind), none);
  EXPECT_EQ(play_anyhow("PROXY UNKNOWN ffff::ff what ever 1\r\n" + behind), none);
}

TEST(ProxyHeaderLine, OfTheGreatestLengthIsTakenAndOneOctetMoreIsNot) {
  const std::string start = "PROXY UNKNOWN ";
  EXPECT_EQ(play_anyhow(start + std::string(107 - 2 - start.size(), 'x') + "\r\n" + behind),
            (Outcome{State::complete, "", behind}));
  EXPECT_EQ(play_anyhow(start + std::string(108 - 2 - start.size(), 'x') + "\r\n").state, State::malformed);
  EXPECT_EQ(play("PROXY UNKNOWN " + std::string(200, 'x'), 1).state, State::malformed) << "no CRLF";
}

TEST(ProxyHeaderLine, MalformedIsNotTaken) {
  for (const auto* line : {"PROXY TCP4 10.1.2.3 127.0.0.1 49152 25\n",
                           "PROXY TCP4 10.1.2.3 127.0.0.1 49152\r\n",
                           "PROXY TCP4 10.1.2.3 127.0.0.1 49152 25 \r\n",
                           "PROXY TCP4  10.1.2.3 127.0.0.1 49152 25\r\n",
                           "PROXY TCP4 10.1.2.3 127.0.0.1 49152 25 26\r\n",
                           "PROXY TCP4 10.1.2.3 127.0.0.1 65536 25\r\n",
                           "PROXY TCP4 10.1.2.3 127.0.0.1 -1 25\r\n",
                           "PROXY TCP4 10.1.2.3 127.0.0.1 01 25\r\n",
                           "PROXY TCP4 10.1.2 127.0.0.1 1 25\r\n",
                           "PROXY TCP4 2001:db8::7 ::1 1 25\r\n",
                           "PROXY TCP6 10.1.2.3 ::1 1 25\r\n",
                           "PROXY TCP6 fe80::1%lo ::1 1 25\r\n",
                           "PROXY TCP5 1 2 3 4\r\n",
                           "PROXY \r\n",
                           "PROXY\r\n",
                           "PROXY",
                           "proxy UNKNOWN\r\n",
                           "EHLO c\r\n",
                           "P EHLO\r\n",
                           "PROXY TCP4 10.1.2.3\r 127.0.0.1 1 25\r\n"})
    if (line != "PROXY"s) {
      EXPECT_EQ(play_anyhow(line).state, State::malformed) << line;
    } else {
      EXPECT_EQ(play_anyhow(line).state, State::need_more);
    }
}

// A client that speaks SMTP is not kept until a deadline.
TEST(ProxyHeaderLine, IsMalformedAtTheFirstOctetThatCanNotBelongToIt) {
  EXPECT_EQ(play("E", 1).state, State::malformed);
  EXPECT_EQ(play("PROXX", 1).state, State::malformed);
  EXPECT_EQ(play("\r\n\r\n\r", 1).state, State::malformed);
}

TEST(ProxyHeaderBinary, NamesTheClient) {
  EXPECT_EQ(play_anyhow(binary(0x21, 0x11, v4_block) + behind),
            (Outcome{State::complete, "10.1.2.3 49152", behind}));
  EXPECT_EQ(play_anyhow(binary(0x21, 0x21, v6_block) + behind),
            (Outcome{State::complete, "2001:db8::7 65535", behind}));
}

TEST(ProxyHeaderBinary, SkipsWhatStandsBehindTheAddresses) {
  const auto tlv = "\x04\x00\x03xyz"s;
  EXPECT_EQ(play_anyhow(binary(0x21, 0x11, v4_block + tlv) + behind),
            (Outcome{State::complete, "10.1.2.3 49152", behind}));
  EXPECT_EQ(play(binary(0x21, 0x21, v6_block + std::string(16 * 1024 - 36, 't')) + behind, 1000),
            (Outcome{State::complete, "2001:db8::7 65535", behind}));
}

TEST(ProxyHeaderBinary, LocalAndFamiliesWithoutAnIpAddressLeaveItToTheConnection) {
  const Outcome none{State::complete, "", behind};
  EXPECT_EQ(play_anyhow(binary(0x20, 0x00, "") + behind), none);
  EXPECT_EQ(play_anyhow(binary(0x20, 0x11, v4_block) + behind), none) << "LOCAL: the addresses are ignored";
  EXPECT_EQ(play_anyhow(binary(0x20, 0x7f, "x") + behind), none) << "LOCAL: the family is ignored";
  EXPECT_EQ(play_anyhow(binary(0x21, 0x00, "tlv") + behind), none) << "UNSPEC";
  EXPECT_EQ(play_anyhow(binary(0x21, 0x31, std::string(216, 'u')) + behind), none) << "Unix socket";
  EXPECT_EQ(play_anyhow(binary(0x21, 0x12, v4_block) + behind), none) << "UDP";
}

TEST(ProxyHeaderBinary, MalformedIsNotTaken) {
  EXPECT_EQ(play_anyhow(binary(0x11, 0x11, v4_block)).state, State::malformed) << "version";
  EXPECT_EQ(play_anyhow(binary(0x22, 0x11, v4_block)).state, State::malformed) << "command";
  EXPECT_EQ(play_anyhow(binary(0x21, 0x41, v4_block)).state, State::malformed) << "family";
  EXPECT_EQ(play_anyhow(binary(0x21, 0x13, v4_block)).state, State::malformed) << "transport";
  EXPECT_EQ(play_anyhow(binary(0x21, 0x11, v4_block.substr(1))).state, State::malformed) << "too short";
  EXPECT_EQ(play_anyhow(binary(0x21, 0x21, v4_block)).state, State::malformed) << "too short";
  EXPECT_EQ(play(signature + "\x21\x11\xff\xff", 1).state, State::malformed) << "65535 octets";
  EXPECT_EQ(play(signature + "\x21\x11\x40\x01", 1).state, State::malformed) << "16385 octets";
}

// It may be the client's: SMTP, or a second header, which is SMTP that nobody understands.
TEST(ProxyHeaderBinary, EndsWhereItEnds) {
  const auto header = binary(0x21, 0x11, v4_block);
  EXPECT_EQ(play_anyhow(header + header), (Outcome{State::complete, "10.1.2.3 49152", header}));
}

}  // namespace
}  // namespace mailonce::net
