#include "mailonce/message/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "corpus.h"
#include "mailonce/message/description.h"

namespace mailonce::message {
namespace {

using test::multipart_message;
using test::text_message;
using testing::Contains;
using testing::ElementsAre;
using Verdict = Comparison::Verdict;

std::vector<std::string> sentences(const std::vector<Difference>& differences) {
  std::vector<std::string> out;
  for (const auto& difference : differences) out.push_back(difference.sentence());
  return out;
}

TEST(Comparison, SaysWhatDiffersInWordsOfAPerson) {
  const auto a = "Subject: Order 1001\r\nCc: a@b\r\n\r\none\r\ntwo\r\nthree\r\n";
  const auto b = "Subject: Order 1002\r\nReply-To: c@d\r\n\r\none\r\n2\r\nthree\r\n";
  const auto result = compare(a, b, "", {});
  EXPECT_EQ(result.verdict, Verdict::distinct);
  EXPECT_THAT(sentences(result.differences),
              ElementsAre("Cc: \"a@b\" / (absent)", "Subject: \"Order 1001\" / \"Order 1002\"",
                          "text, line 2: \"two\" / \"2\"", "Reply-To: (absent) / \"c@d\""));
}

TEST(Comparison, ListsWhatDoesNotCountApart) {
  const auto a = text_message("hi\r\n", "Date: Mon\r\nMessage-ID: <1@x>\r\n");
  const auto b = text_message("hi\r\n", "Date: Tue\r\nMessage-ID: <2@x>\r\n");
  const auto result = compare(a, b, "", {});
  EXPECT_EQ(result.verdict, Verdict::duplicate);
  EXPECT_TRUE(result.differences.empty());
  EXPECT_THAT(sentences(result.ignored),
              ElementsAre("Date: \"Mon\" / \"Tue\"", "Message-ID: \"<1@x>\" / \"<2@x>\""));
}

TEST(Comparison, NamesTheAttachmentThatDiffers) {
  const auto message = [](std::string_view bytes) {
    return multipart_message(
        "mixed", {"\r\nhi", "Content-Type: application/pdf; name=report.pdf\r\n\r\n" + std::string(bytes)});
  };
  const auto result = compare(message("one"), message("three"), "", {});
  ASSERT_EQ(result.differences.size(), 1U);
  EXPECT_EQ(result.differences[0].where, "attachment 1 report.pdf: content");
  EXPECT_TRUE(result.differences[0].a.starts_with("3 octets, sha256 ")) << result.differences[0].a;
  EXPECT_EQ(result.differences[0].sentence(), "attachment 1 report.pdf: content differs");
}

TEST(Comparison, AKeyReusedWithOtherContentIsNoDuplicate) {
  const auto a = text_message("one\r\n", "Idempotency-Key: k\r\n");
  const auto b = text_message("two\r\n", "Idempotency-Key: k\r\n");
  EXPECT_EQ(compare(a, b, "", {}).verdict, Verdict::other_content);
  EXPECT_EQ(compare(a, a, "", {}).verdict, Verdict::duplicate);
}

TEST(Comparison, WithoutAnIdentityThereIsNoDuplicate) {
  const auto message = text_message("one\r\n", "Idempotency-Key:\r\n");
  EXPECT_EQ(compare(message, message, "", {}).verdict, Verdict::no_identity);
}

TEST(Comparison, AStructureThatReadsAlikeIsStillADifference) {
  const auto a = multipart_message("mixed", {"\r\nhi"});
  auto b = a;
  b.resize(b.size() - 7);
  const auto result = compare(a, b, "", {});
  EXPECT_THAT(sentences(result.differences), ElementsAre("message: end: (absent) / \"missing\""));
  const auto order =
      compare("Resent-To: a@b\r\nResent-Cc: c@d\r\n\r\n", "Resent-Cc: c@d\r\nResent-To: a@b\r\n\r\n", "", {});
  EXPECT_EQ(order.verdict, Verdict::distinct);
  EXPECT_EQ(order.differences.size(), 1U);
}

// The list of differences and the fingerprints never contradict each other.
TEST(Comparison, AgreesWithTheFingerprintsOnTheWholeCorpus) {
  for (const auto& pair : test::corpus_pairs()) {
    const auto result = compare(test::corpus_message(pair.file1), test::corpus_message(pair.file2), "", {});
    EXPECT_EQ(result.differences.empty(), result.a->content == result.b->content)
        << pair.file1 << " " << pair.file2;
  }
}

TEST(Description, ShowsWhatCountsAndWhyTheRestDoesNot) {
  const auto items = describe(
      multipart_message("mixed", {"\r\nhi \x01", "Content-Type: image/png; name=a.png\r\n\r\nx"}), {});
  std::vector<std::string> lines;
  for (const auto& item : items)
    lines.push_back(std::string(item.counts ? "+" : "-") + item.where + "|" + item.what + "|" + item.value);
  EXPECT_THAT(
      lines,
      ElementsAre("+header|From|shop@example.com", "+header|To|jo@example.org", "+header|Subject|Order 1001",
                  "-header|Content-Type|multipart/mixed; boundary=\"b\"", "+message|multipart|mixed",
                  "-message|boundary|b", "+text|type|text/plain", "+text|text|hi \\x01",
                  "+attachment 1 a.png|type|image/png", "+attachment 1 a.png|file name|a.png",
                  "+attachment 1 a.png|content|1 octets, sha256 "
                  "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"));
}

}  // namespace
}  // namespace mailonce::message
