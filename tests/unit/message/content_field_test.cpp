#include "mailonce/message/content_field.h"

#include <gtest/gtest.h>

#include <vector>

namespace mailonce::message {
namespace {

TEST(ContentField, ReadsValueAndParameters) {
  const auto field =
      parse_content_field(" Text/HTML (a comment); Charset=UTF-8;\r\n name=\"a \\\"b\\\".html\" ;");
  ASSERT_TRUE(field);
  EXPECT_EQ(field->value, "text/html");
  EXPECT_EQ(field->parameter("charset"), "UTF-8");
  EXPECT_EQ(field->parameter("name"), "a \"b\".html");
  EXPECT_EQ(field->parameter("boundary"), "");
}

TEST(ContentField, ReadsFileNamesInEveryNotation) {
  struct Row {
    std::string_view raw;
    std::string_view name;
  };
  const std::vector<Row> rows = {
      {"attachment; filename=a.pdf", "a.pdf"},
      {"attachment; filename=\"\xc3\xa4.pdf\"", "ä.pdf"},
      {"attachment; filename*=utf-8''%C3%A4.pdf", "ä.pdf"},
      {"attachment; filename*=iso-8859-1'de'%E4.pdf", "ä.pdf"},
      {"attachment; filename*0=a; filename*1=\"b c\"; filename*2=.pdf", "ab c.pdf"},
      {"attachment; filename*1*=%A4; filename*0*=utf-8''%C3; filename*2=.pdf", "ä.pdf"},
      {"attachment; filename=\"=?utf-8?Q?=C3=A4=2Epdf?=\"", "ä.pdf"},
      {"attachment; filename=a.pdf; filename*=utf-8''%C3%A4.pdf", "ä.pdf"},
  };
  for (const auto& row : rows) {
    const auto field = parse_content_field(row.raw);
    ASSERT_TRUE(field) << row.raw;
    EXPECT_EQ(field->parameter("filename"), row.name) << row.raw;
  }
}

TEST(ContentField, WhatMailProgramsReadDifferentlyIsRefused) {
  for (const std::string_view raw :
       {"", ";", "attachment filename=a", "attachment; filename=a b.pdf", "attachment; filename",
        "attachment; filename=", "attachment; filename=\"a", "attachment; filename=a; filename=b",
        "attachment; filename*0=a; filename*2=b", "attachment; filename*0=a; filename*0=b",
        "attachment; filename*=utf-8''%E4", "attachment; filename*=%41", "attachment; filename*=utf-8''%4",
        "attachment; filename*x=a", "attachment; filename=\"\xe4\"",
        "attachment; filename=\"=?x-unknown?Q?a?=\"", "attachment; =a", "text/plain (open",
        "attachment; a=b (x"}) {
    EXPECT_FALSE(parse_content_field(raw)) << raw;
  }
}

}  // namespace
}  // namespace mailonce::message
