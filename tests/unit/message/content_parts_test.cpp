// Content-IDs, calendars and line ends: what is made one before hashing.
#include <gtest/gtest.h>

#include "mailonce/message/content_ids.h"
#include "mailonce/message/text_content.h"

namespace mailonce::message {
namespace {

TEST(ContentIds, AreNumberedInOrderOfAppearance) {
  ContentIds ids;
  EXPECT_EQ(ids.add(" <one@x> "), 1U);
  EXPECT_EQ(ids.add("<two@x>"), 2U);
  EXPECT_EQ(ids.add("<one@x>"), 1U);
  EXPECT_EQ(ids.add(" "), 0U);
}

TEST(ContentIds, ReferencesCarryTheNumber) {
  ContentIds ids;
  ids.add("<one@x>");
  ids.add("<two%20+x@y>");
  ids.add("<a b@x>");
  std::string scratch;
  const auto numbered = [&](std::string_view html) {
    return std::string(ids.number_references(html, scratch));
  };
  EXPECT_EQ(numbered("<img src=\"cid:one@x\">"),
            "<img src=\"cid:\xff"
            "1\xff\">");
  EXPECT_EQ(numbered("<img src=CID:one%40x>"),
            "<img src=CID:\xff"
            "1\xff>");
  EXPECT_EQ(numbered("url('cid:a%20b@x')"),
            "url('cid:\xff"
            "3\xff')");
  EXPECT_EQ(numbered("cid:one@x cid:one@x"),
            "cid:\xff"
            "1\xff cid:\xff"
            "1\xff");
  for (const std::string_view text :
       {"cid:other@x", "cid:one@xx", "one@x", "cid:", "id:one@x", "cid:1", "cid"})
    EXPECT_EQ(numbered(text), text);
}

TEST(ContentIds, AFileNameThatRepeatsOneCarriesTheNumber) {
  ContentIds ids;
  ids.add("<7f.a@x>");
  ids.add("<logo.png>");
  EXPECT_EQ(ids.number_file_name("7f.a@x"),
            "\xff"
            "1\xff");
  EXPECT_EQ(ids.number_file_name("7f.a@x.png"),
            "\xff"
            "1\xff.png");
  EXPECT_EQ(ids.number_file_name("7f.a@xy.png"), "7f.a@xy.png");
  EXPECT_EQ(ids.number_file_name("logo.png"), "logo.png") << "a name that somebody chose";
}

TEST(TextContent, LineEndsBecomeOneAndOnlyEmptyLinesAtTheEndGo) {
  std::string scratch;
  EXPECT_EQ(with_lf_line_ends("a\r\nb\nc\rd\r\r\n", scratch), "a\nb\nc\rd\r\n");
  EXPECT_EQ(without_trailing_blank_lines("a \n \n\n\n"), "a \n ");
  EXPECT_EQ(without_trailing_blank_lines("\n\n"), "");
}

TEST(TextContent, DtstampGoesWithItsFoldsAndNothingElse) {
  std::string scratch;
  EXPECT_EQ(without_dtstamp("UID:1\nDTSTAMP:2026\n 1201\n\tT\nDTSTART:1\n", scratch), "UID:1\nDTSTART:1\n");
  EXPECT_EQ(without_dtstamp("dtstamp;TZID=x:1", scratch), "");
  EXPECT_EQ(without_dtstamp("A:1\n DTSTAMP:1\nDTSTAMPS:1\nXDTSTAMP:1\nDTSTAMP\n", scratch),
            "A:1\n DTSTAMP:1\nDTSTAMPS:1\nXDTSTAMP:1\nDTSTAMP\n");
}

}  // namespace
}  // namespace mailonce::message
