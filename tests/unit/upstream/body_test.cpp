#include "body.h"

#include <gtest/gtest.h>

#include <string>

namespace mailonce::upstream {
namespace {

struct Written {
  std::string ahead;
  std::string end;
  std::size_t slices = 0;
  std::size_t largest = 0;
};

Written write(std::span<const std::string_view> message) {
  Body body;
  body.begin(message);
  Written written;
  std::vector<std::string_view> pieces;
  while (body.take_slice(pieces)) {
    std::size_t octets = 0;
    for (const auto piece : pieces) octets += piece.size(), written.ahead += piece;
    written.largest = std::max(written.largest, octets);
    ++written.slices;
  }
  const std::size_t counted = body.take_end(pieces);
  for (const auto piece : pieces) written.end += piece;
  EXPECT_EQ(counted, written.end.size());
  return written;
}

TEST(Body, of_a_small_message_is_one_write) {
  const std::vector<std::string_view> message{"Subject: x\r\n\r\n.dot\r\n..\r\n"};
  const auto written = write(message);
  EXPECT_EQ(written.slices, 0U);
  EXPECT_EQ(written.end, "Subject: x\r\n\r\n..dot\r\n...\r\n.\r\n");
}

TEST(Body, is_the_same_wherever_the_message_is_cut) {
  const std::string message = "A: b\r\n\r\n.\r\n..\r\nend\r\n.";
  for (std::size_t cut = 0; cut <= message.size(); ++cut) {
    const std::vector<std::string_view> pieces{std::string_view(message).substr(0, cut),
                                               std::string_view(message).substr(cut)};
    EXPECT_EQ(write(pieces).end, "A: b\r\n\r\n..\r\n...\r\nend\r\n..\r\n.\r\n") << cut;
  }
}

TEST(Body, without_a_last_line_end_gets_one) {
  const std::vector<std::string_view> message{"A: b\r\n\r\nend"};
  EXPECT_EQ(write(message).end, "A: b\r\n\r\nend\r\n.\r\n");
}

TEST(Body, of_nothing_is_the_dot) {
  EXPECT_EQ(write({}).end, ".\r\n");
}

// Whatever is written ahead, the upstream has nothing complete: the end is kept back.
TEST(Body, of_a_large_message_is_written_ahead_but_for_its_end) {
  for (const std::size_t octets : {Body::end_octets - 2, Body::end_octets, Body::end_octets + 1,
                                   Body::end_octets + Body::slice_octets, 3 * Body::slice_octets + 7}) {
    std::string line(78, 'x');
    std::string text;
    while (text.size() < octets) text += line + "\r\n";
    text.resize(octets - 2);
    text += "\r\n";
    const std::vector<std::string_view> message{std::string_view(text).substr(0, 1000),
                                                std::string_view(text).substr(1000)};
    const auto written = write(message);
    EXPECT_TRUE(written.ahead + written.end == text + ".\r\n") << octets;
    EXPECT_EQ(written.end.size(), std::min(octets, Body::end_octets) + 3);
    EXPECT_LE(written.largest, Body::slice_octets);
  }
}

TEST(Body, can_be_begun_again) {
  Body body;
  std::vector<std::string_view> pieces;
  const std::vector<std::string_view> first{"A: b\r\n\r\nunfinished"};
  body.begin(first);
  const std::vector<std::string_view> second{"C: d\r\n"};
  body.begin(second);
  EXPECT_EQ(body.take_end(pieces), 9U);
}

}  // namespace
}  // namespace mailonce::upstream
