#include "mailonce/message/header_value.h"

#include <gtest/gtest.h>

#include <vector>

namespace mailonce::message {
namespace {

constexpr auto unstructured = FieldSyntax::unstructured;
constexpr auto structured = FieldSyntax::structured;

struct Row {
  std::string_view raw;
  std::string_view text;
  FieldSyntax syntax = unstructured;
};

TEST(HeaderValue, ReadsAsAMailProgramShowsIt) {
  const std::vector<Row> rows = {
      {" plain ", "plain"},
      {" a\r\n  b\t\tc", "a b c"},
      {"=?utf-8?Q?=C3=A4?=", "ä"},
      {"=?UTF-8?b?w6Q=?=", "ä"},
      {"=?iso-8859-1?q?=E4_b?= c", "ä b c"},
      {"=?utf-8*de?Q?=C3=A4?=", "ä"},                 // RFC 2231 §5: language
      {"a =?utf-8?Q?b?= =?utf-8?Q?c?= d", "a bc d"},  // RFC 2047 §6.2
      {"=?utf-8?Q?b?=\r\n =?iso-8859-1?Q?=E4?=", "bä"},
      {"=?utf-8?Q?=C3?= =?utf-8?Q?=A4?=", "ä"},  // a character split between words
      {"x=?utf-8?Q?b?=", "x=?utf-8?Q?b?="},      // stands not apart: text
      {"=?utf-8?Q?b?=x", "=?utf-8?Q?b?=x"},
      {"=?utf-8?Q? b?=", "=?utf-8?Q? b?="},  // a blank inside: text
      {"=?utf-8?X?b?=", "=?utf-8?X?b?="},    // no such encoding: text
      {"=?utf-8?Q?a__b?=", "a b"},
      {"gr\xc3\xbc\xc3\x9f", "grüß"},  // RFC 6532
      {"=?utf-8?Q?J=C3=B6?= <jo@example.org>", "Jö <jo@example.org>", structured},
      {"=?utf-8?Q?J=C3=B6?=<jo@example.org>", "Jö<jo@example.org>", structured},
      {"a@b (=?utf-8?Q?=C3=A4?=)", "a@b (ä)", structured},
      {"=?utf-8?Q?a=2Cb?= <c@d>", "\"a,b\" <c@d>", structured},
      {"\"a =?utf-8?Q?b?= c\" <c@d>", "\"a =?utf-8?Q?b?= c\" <c@d>",
       structured},  // RFC 2047 §5: not in quotes
      {"\"a\\\" =?utf-8?Q?b?=\" =?utf-8?Q?c?=", "\"a\\\" =?utf-8?Q?b?=\" c", structured},
      {"=?", "=?"},
      {"=?utf-8?Q?", "=?utf-8?Q?"},
      {"", ""},
  };
  for (const auto& row : rows) {
    const auto value = read_header_value(row.raw, row.syntax);
    EXPECT_EQ(value.text, row.text) << row.raw;
    EXPECT_EQ(value.reading, Reading::decoded) << row.raw;
  }
}

TEST(HeaderValue, WhatCanNotBeReadWithCertaintyStaysAsItStands) {
  for (const std::string_view raw :
       {"=?x-unknown?Q?=E4?=", "=?utf-8?Q?=E4?=", "=?us-ascii?Q?=E4?=", "=?utf-8?Q?=G4?=", "=?utf-8?B?w6?=",
        "=?utf-8?B?w!Q=?=", "caf\xe9", "=?utf-8//IGNORE?Q?a?="}) {
    const auto value = read_header_value(raw, unstructured);
    EXPECT_EQ(value.text, raw);
    EXPECT_EQ(value.reading, Reading::raw) << raw;
  }
}

// An encoded comma is part of a name; a bare one separates two addresses.
TEST(HeaderValue, AnEncodedWordNeverBecomesSyntax) {
  EXPECT_NE(read_header_value("=?utf-8?Q?a=40b=2C?= <c@d>", structured).text,
            read_header_value("a@b, <c@d>", structured).text);
}

}  // namespace
}  // namespace mailonce::message
