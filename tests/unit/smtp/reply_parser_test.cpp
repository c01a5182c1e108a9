#include "mailonce/smtp/reply_parser.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace mailonce::smtp {
namespace {

using Status = ReplyParser::Status;

// Every reply of a stream that arrives in pieces of `piece` octets; "malformed" ends the list when it is met.
std::vector<std::string> parse(std::string_view stream, std::size_t piece = std::string_view::npos) {
  ReplyParser parser;
  std::vector<std::string> replies;
  while (!stream.empty()) {
    auto input = stream.substr(0, piece);
    stream.remove_prefix(input.size());
    while (!input.empty()) {
      const auto status = parser.feed(input);
      if (status == Status::need_more) break;
      if (status == Status::malformed) {
        replies.push_back("malformed");
        return replies;
      }
      replies.push_back(parser.take().wire());
    }
  }
  return replies;
}

std::vector<std::string> parse_anyhow(std::string_view stream) {
  const auto whole = parse(stream);
  for (const std::size_t piece : {1u, 2u, 3u, 5u, 7u})
    EXPECT_EQ(parse(stream, piece), whole) << "in pieces of " << piece;
  return whole;
}

using Replies = std::vector<std::string>;

TEST(ReplyParser, ReadsSingleAndMultilineReplies) {
  EXPECT_EQ(parse_anyhow("220 mx ESMTP\r\n250-mx\r\n250-SIZE 1\r\n250 Ok\r\n354 go\r\n"),
            (Replies{"220 mx ESMTP\r\n", "250-mx\r\n250-SIZE 1\r\n250 Ok\r\n", "354 go\r\n"}));
}

TEST(ReplyParser, TextIsOptional) {
  EXPECT_EQ(parse_anyhow("250\r\n250 \r\n250-\r\n250-\r\n250\r\n"),
            (Replies{"250 \r\n", "250 \r\n", "250-\r\n250-\r\n250 \r\n"}));
}

TEST(ReplyParser, SpacesInTheTextAreKept) {
  EXPECT_EQ(parse_anyhow("354  Go ahead id - gsmtp\r\n"), Replies{"354  Go ahead id - gsmtp\r\n"});
}

TEST(ReplyParser, ControlOctetsAreRemovedFromTheText) {
  EXPECT_EQ(parse_anyhow("250 a\x01\x1b[31mb\tc\x7f\r\r\n"), Replies{"250 a[31mb\tc\r\n"});
  EXPECT_EQ(parse_anyhow("550 nicht m\xc3\xb6glich\r\n"), Replies{"550 nicht m\xc3\xb6glich\r\n"});
}

TEST(ReplyParser, WhatIsNoReplyIsMalformed) {
  using namespace std::string_literals;
  for (const std::string& stream : {"hello\r\n"s, "\r\n"s, "25\r\n"s, "2500 Ok\r\n"s, "250_Ok\r\n"s,
                                    "150 x\r\n"s, "650 x\r\n"s, "2a0 x\r\n"s, " 250 Ok\r\n"s, "250 Ok\n"s,
                                    "\n"s, "250 a\0b\r\n"s, "HTTP/1.1 400 Bad Request\r\n"s, "250:Ok\r\n"s}) {
    EXPECT_EQ(parse_anyhow(stream), Replies{"malformed"}) << stream;
  }
}

TEST(ReplyParser, ACodeThatChangesInsideAReplyIsMalformed) {
  EXPECT_EQ(parse_anyhow("250-a\r\n251 b\r\n"), Replies{"malformed"});
  EXPECT_EQ(parse_anyhow("250-a\r\nb\r\n"), Replies{"malformed"});
}

TEST(ReplyParser, TwoHundredLinesAreFine) {
  std::string stream;
  for (int i = 0; i < 199; ++i) stream += "250-line\r\n";
  stream += "250 end\r\n";
  EXPECT_EQ(parse_anyhow(stream), Replies{stream});
}

TEST(ReplyParser, LongLinesAndEndlessRepliesAreMalformed) {
  EXPECT_EQ(parse_anyhow("250 " + std::string(10'000, 'x') + "\r\n"), Replies{"malformed"});
  EXPECT_EQ(parse_anyhow(std::string(1'000'000, '2')), Replies{"malformed"});
  EXPECT_EQ(parse("250 " + std::string(4096 - 6, 'x') + "\r\n").front().size(), 4096u);
  std::string endless;
  while (endless.size() < 200'000) endless += "250-" + std::string(100, 'x') + "\r\n";
  EXPECT_EQ(parse_anyhow(endless), Replies{"malformed"});
}

TEST(ReplyParser, NothingIsReadAfterMalformed) {
  ReplyParser parser;
  std::string_view garbage = "garbage\r\n";
  ASSERT_EQ(parser.feed(garbage), Status::malformed);
  std::string_view fine = "250 Ok\r\n";
  EXPECT_EQ(parser.feed(fine), Status::malformed);
  EXPECT_EQ(fine.size(), 8u);
}

TEST(ReplyParser, StopsAtTheEndOfOneReply) {
  ReplyParser parser;
  std::string_view input = "250 one\r\n421 two\r\n";
  ASSERT_EQ(parser.feed(input), Status::complete);
  EXPECT_EQ(input, "421 two\r\n");
  EXPECT_EQ(parser.take(), (Reply{250, "one"}));
  EXPECT_TRUE(parser.empty());
  input = "4";
  EXPECT_EQ(parser.feed(input), Status::need_more);
  EXPECT_FALSE(parser.empty());
}

TEST(ReplyParser, APartOfAMultilineReplyIsNotEmpty) {
  ReplyParser parser;
  std::string_view input = "250-one\r\n";
  EXPECT_EQ(parser.feed(input), Status::need_more);
  EXPECT_FALSE(parser.empty());
}

}  // namespace
}  // namespace mailonce::smtp
