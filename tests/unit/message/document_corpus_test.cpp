// Documents made twice by real generators (tests/corpus/documents), as attachments of a mail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "builders.h"
#include "corpus.h"
#include "mailonce/message/comparison.h"
#include "mailonce/message/document.h"

namespace mailonce::message::test {
namespace {

using testing::HasSubstr;

struct DocumentPair {
  std::string a;
  std::string b;
};

std::vector<DocumentPair> document_pairs(const std::set<std::string>& expected) {
  std::vector<DocumentPair> pairs;
  for (const auto& row : corpus_table("documents/manifest.tsv"))
    if (expected.contains(row.at(2))) pairs.push_back({row.at(0), row.at(1)});
  return pairs;
}

std::string mail_with(const std::string& file) {
  return attachment(corpus_message("documents/" + file));
}

TEST(DocumentCorpus, ADocumentMadeAgainIsADuplicate) {
  const auto pairs = document_pairs({"duplicate"});
  for (const auto& pair : pairs) {
    const auto a = mail_with(pair.a);
    const auto b = mail_with(pair.b);
    EXPECT_NE(a, b) << pair.a << ": the generator makes the same octets, so this proves nothing";
    EXPECT_EQ(content(a), content(b)) << pair.a << " " << pair.b;
    EXPECT_TRUE(read_document(corpus_message("documents/" + pair.a))) << pair.a;
  }
  EXPECT_GT(pairs.size(), 20U);
}

TEST(DocumentCorpus, OneDigitMakesAnotherDocument) {
  const auto pairs = document_pairs({"distinct"});
  for (const auto& pair : pairs) {
    EXPECT_NE(content(mail_with(pair.a)), content(mail_with(pair.b))) << pair.a << " " << pair.b;
  }
  EXPECT_GT(pairs.size(), 20U);
}

TEST(DocumentCorpus, WithoutTheOptionOctetsCount) {
  IdentityOptions options;
  options.documents = false;
  for (const auto& pair : document_pairs({"duplicate", "distinct"})) {
    EXPECT_NE(identify(mail_with(pair.a), "", options)->content,
              identify(mail_with(pair.b), "", options)->content);
    EXPECT_NE(identify(mail_with(pair.a), "", options)->content, content(mail_with(pair.a)));
  }
}

TEST(DocumentCorpus, APersonIsToldWhereTwoDocumentsDiffer) {
  const auto pdf = compare(mail_with("reportlab.a.pdf"), mail_with("reportlab.near.pdf"), "", {});
  ASSERT_EQ(pdf.differences.size(), 1U);
  EXPECT_EQ(pdf.differences[0].where, "attachment 1 report: page 1 content");
  EXPECT_FALSE(pdf.ignored.empty());
  const auto sheet = compare(mail_with("openpyxl.a.xlsx"), mail_with("openpyxl.near.xlsx"), "", {});
  ASSERT_EQ(sheet.differences.size(), 1U);
  EXPECT_THAT(sheet.differences[0].where, HasSubstr("report: xl/worksheets/sheet1.xml"));
  const auto again = compare(mail_with("openpyxl.a.xlsx"), mail_with("openpyxl.b.xlsx"), "", {});
  EXPECT_EQ(again.verdict, Comparison::Verdict::duplicate);
  EXPECT_TRUE(again.differences.empty());
  EXPECT_THAT(again.ignored.at(0).where, HasSubstr("dcterms:"));
}

// A mail is cut off, or a program stops writing: whatever is left is another document.
TEST(DocumentCorpus, ADocumentThatIsCutOffIsAnother) {
  for (const auto& pair : document_pairs({"duplicate", "distinct"})) {
    const auto whole = corpus_message("documents/" + pair.a);
    const auto digest = content_attached(whole);
    const auto step = whole.size() / 16 + 1;
    for (std::size_t cut = 1; cut < whole.size(); cut += step)
      EXPECT_NE(content_attached(whole.substr(0, cut)), digest) << pair.a << " at " << cut;
    EXPECT_NE(content_attached(whole.substr(0, whole.size() - 8)), digest) << pair.a;
  }
}

TEST(DocumentCorpus, ItMattersThatADocumentIsOne) {
  const auto pdf = corpus_message("documents/reportlab.a.pdf");
  for (const std::string_view more : {"x", "%%EOF 2", "PK\x05\x06"})
    EXPECT_FALSE(read_document(pdf + std::string(more)));
  EXPECT_FALSE(read_document("x" + pdf));
  EXPECT_TRUE(read_document(pdf + "\r\n"));
  EXPECT_FALSE(read_document(pdf + corpus_message("documents/reportlab.b.pdf")));
  EXPECT_FALSE(read_document(""));
}

}  // namespace
}  // namespace mailonce::message::test
