// What of a PDF counts; what any reader could show otherwise compares by octets.
#include "mailonce/message/pdf_document.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <thread>

#include "builders.h"
#include "corpus.h"
#include "pdf_builder.h"

namespace mailonce::message {
namespace {

using test::changed_at;
using test::content_attached;
using test::pdf_stream;
using test::PdfFile;
using test::zlib_data;

using Change = void (*)(PdfFile&);

PdfFile changed(Change change) {
  PdfFile file;
  change(file);
  return file;
}
bool is_document(Change change) {
  return read_pdf(changed(change).bytes()).has_value();
}
Digest content_read(const PdfFile& file) {
  EXPECT_TRUE(read_pdf(file.bytes()));
  return content_attached(file.bytes());
}
void nothing(PdfFile& /*file*/) {}

void replace(std::string& text, std::string_view what, std::string_view with) {
  text.replace(text.find(what), what.size(), with);
}

TEST(PdfDocument, WhenAndHowItWasWrittenDoesNotCount) {
  const auto plain = content_attached(PdfFile().bytes());
  ASSERT_TRUE(read_pdf(PdfFile().bytes()));
  const std::vector<Change> changes = {
      [](PdfFile& f) { replace(f.objects[5], "20261202100000Z", "20261203111111+01'00'"); },
      [](PdfFile& f) { f.trailer = "/ID[<03><04>]/Info @6/Root @1"; },
      [](PdfFile& f) { f.trailer += "/DocChecksum /78D7F6BBCA1245D4E13E57709ACB9F4E"; },
      [](PdfFile& f) { f.order = {5, 3, 2, 4, 0, 1}; },
      [](PdfFile& f) { f.objects[4] = "<< /BaseFont /Helvetica /Subtype /Type1 % comment\n/Type /Font >>"; },
      [](PdfFile& f) { f.before_end = "% comment\n"; },
      // The length of a stream as an object of its own.
      [](PdfFile& f) {
        replace(f.objects[3], "/Length 29", "/Length @7");
        f.objects.emplace_back("29");
      },
  };
  std::size_t number = 0;
  for (const auto change : changes) EXPECT_EQ(content_attached(changed(change).bytes()), plain) << number++;
  // In object streams too; the version in its first line is another one.
  const auto packed = PdfFile().packed();
  ASSERT_TRUE(read_pdf(packed));
  EXPECT_EQ(content_attached(packed), content_attached(changed(changes[0]).packed()));
  EXPECT_EQ(content_attached(packed), content_attached(changed(changes[3]).packed()));
}

TEST(PdfDocument, WhatItShowsCounts) {
  const std::vector<Change> changes = {
      nothing,
      [](PdfFile& f) { replace(f.objects[3], "1234", "1235"); },
      [](PdfFile& f) { replace(f.objects[4], "Helvetica", "Courier"); },
      [](PdfFile& f) { replace(f.objects[2], "200 200", "200 201"); },
      [](PdfFile& f) { replace(f.objects[5], "(p)", "(q)"); },
      [](PdfFile& f) { replace(f.objects[5], "D:20261202100000Z", "yesterday"); },
      [](PdfFile& f) { replace(f.objects[5], "CreationDate", "CreationData"); },
      [](PdfFile& f) { replace(f.objects[5], "/CreationDate(D:20261202100000Z)", ""); },
      [](PdfFile& f) { replace(f.objects[4], "/Type1", "/Type1/M(D:20261202100000Z)"); },
      [](PdfFile& f) { replace(f.objects[4], "/Type1", "/Type1/M(D:20261202100001Z)"); },
      [](PdfFile& f) { replace(f.objects[4], "/Type1", "/Type1/CreationDate(D:20261202100001Z)"); },
      [](PdfFile& f) { replace(f.objects[0], "/Pages", "/Lang(en)/Pages"); },
      [](PdfFile& f) { f.objects.emplace_back("<</Never(seen)>>"); },
      [](PdfFile& f) { f.objects.emplace_back("<</Never(sawn)>>"); },
      [](PdfFile& f) { f.trailer += "/More 1"; },
      [](PdfFile& f) { replace(f.objects[2], "/Contents @4", "/Contents[@4]"); },
      [](PdfFile& f) { replace(f.objects[2], "/Contents @4", "/Contents[@4 @4]"); },
      [](PdfFile& f) { replace(f.objects[2], "/Contents @4", ""); },
      [](PdfFile& f) { f.trailer = "/Root @1"; },
  };
  std::set<Digest> seen;
  for (const auto change : changes) {
    EXPECT_TRUE(is_document(change)) << seen.size();
    EXPECT_TRUE(seen.insert(content_attached(changed(change).bytes())).second) << seen.size();
    EXPECT_TRUE(seen.insert(content_attached(changed(change).packed())).second) << seen.size();
  }
}

TEST(PdfDocument, PagesInAnotherOrderAreAnotherDocument) {
  PdfFile file;
  file.objects[1] = "<</Type/Pages/Kids[@3 @7]/Count 2>>";
  file.objects.emplace_back("<</Type/Page/Parent @2/MediaBox[0 0 200 200]/Contents @8/Resources<<>>>>");
  file.objects.push_back(pdf_stream("q Q"));
  ASSERT_TRUE(read_pdf(file.bytes()));
  EXPECT_EQ(read_pdf(file.bytes())->items[3].name, "page 2 content");
  const auto plain = content_attached(file.bytes());
  replace(file.objects[1], "@3 @7", "@7 @3");
  EXPECT_NE(content_attached(file.bytes()), plain);
}

TEST(PdfDocument, WhatReadersDisagreeOnComparesByOctets) {
  const std::vector<Change> changes = {
      [](PdfFile& f) { f.trailer += "/Prev 9"; },
      [](PdfFile& f) { f.trailer += "/XRefStm 9"; },
      [](PdfFile& f) { f.trailer += "/Encrypt<</Filter/Standard/V 1/R 2/O(a)/U(b)/P -1>>"; },
      [](PdfFile& f) { replace(f.objects[2], "@4", "9 0 R"); },
      [](PdfFile& f) { replace(f.objects[2], "@4", "4 1 R"); },
      [](PdfFile& f) { replace(f.objects[2], "/MediaBox", "/MediaBox[0 0 9 9]/MediaBox"); },
      [](PdfFile& f) { replace(f.objects[3], "/Length 29", "/Length 28"); },
      [](PdfFile& f) { replace(f.objects[3], "/Length 29", "/Length 290"); },
      [](PdfFile& f) { replace(f.objects[3], "<<", "<</F(other.bin)"); },
      [](PdfFile& f) { replace(f.objects[1], "[@3]", "[@3 @3]"); },
      [](PdfFile& f) { replace(f.objects[1], "[@3]", "[@2]"); },
      [](PdfFile& f) { replace(f.objects[1], "[@3]", "[<</Type/Page>>]"); },
      [](PdfFile& f) {
        replace(f.objects[0], "@2", "@6");
        f.objects[5] = "(x)";
      },
      [](PdfFile& f) { replace(f.objects[0], "/Pages", "/Perms<<>>/Pages"); },
      [](PdfFile& f) { replace(f.objects[0], "/Pages", "/AcroForm<</Fields[<</FT/Sig/V @5>>]>>/Pages"); },
      [](PdfFile& f) { replace(f.objects[0], "/Pages", "/X<</Type/Sig>>/Pages"); },
      [](PdfFile& f) { replace(f.objects[0], "/Pages", "/X<</ByteRange[0 1]>>/Pages"); },
      [](PdfFile& f) { replace(f.objects[0], "/Pages", "/OpenAction<</S/JavaScript/JS(x)>>/Pages"); },
      // What a program that repairs files could take for the font.
      [](PdfFile& f) { f.before_end = "5 0 obj\n<<>>\nendobj\n"; },
      [](PdfFile& f) { f.objects[4] += "\nendobj\n5\n0\nobj\n<<>>"; },
      [](PdfFile& f) { f.objects[4] = "<</Type/Font"; },
      [](PdfFile& f) { f.objects[4] = std::string(5000, '[') + std::string(5000, ']'); },
      [](PdfFile& f) {
        f.before_end = "startxref\n9\n%%EOF\n";
        f.trailer = "/Root @9";
      },
  };
  std::size_t number = 0;
  for (const auto change : changes) EXPECT_FALSE(is_document(change)) << number++;
}

TEST(PdfDocument, ObjectStreamsHoldEachObjectOnce) {
  const PdfFile file;
  ASSERT_TRUE(read_pdf(file.packed()));
  // Offsets that overlap, run backwards, or name an object twice.
  for (const char* offsets :
       {"1 0 2 1 3 2 5 3 6 4 ", "1 90 2 60 3 30 5 10 6 0 ", "1 0 1 27 3 60 5 90 6 120 ", "1 0 "})
    EXPECT_FALSE(read_pdf(file.packed("", offsets))) << offsets;
  EXPECT_TRUE(read_pdf(file.packed(" ")));
}

TEST(PdfDocument, TimesOfMetadataDoNotCountInflatedOrNot) {
  const auto with = [](const std::string& xml, bool inflate) {
    PdfFile file;
    replace(file.objects[0], "/Pages", "/Metadata @7/Pages");
    const std::string keys = "/Type/Metadata/Subtype/XML";
    file.objects.push_back(inflate ? pdf_stream(zlib_data(xml), keys + "/Filter/FlateDecode")
                                   : pdf_stream(xml, keys));
    EXPECT_TRUE(read_pdf(file.packed()));
    return content_read(file);
  };
  const auto xmp = [](const std::string& time, const std::string& uuid, const std::string& title) {
    return "<?xpacket begin=''?><x:xmpmeta><rdf:Description rdf:about='uuid:" + uuid + "' xmp:ModifyDate=\"" +
           time + "\"><xmp:CreateDate>" + time + "</xmp:CreateDate><xmpMM:DocumentID>uuid:" + uuid +
           "</xmpMM:DocumentID><dc:title>" + title +
           "</dc:title></rdf:Description></x:xmpmeta><?xpacket end='w'?>";
  };
  const std::string one = "00112233-4455-6677-8899-aabbccddeeff";
  const std::string two = "10112233-4455-6677-8899-aabbccddeeff";
  const auto plain = with(xmp("2026-12-02T10:00:00Z", one, "t"), false);
  EXPECT_EQ(with(xmp("2026-12-03T10:00:00+01:00", two, "t"), false), plain);
  EXPECT_EQ(with(xmp("2026-12-03T10:00:00Z", two, "t"), true), plain);
  EXPECT_NE(with(xmp("2026-12-02T10:00:00Z", one, "u"), false), plain);
  EXPECT_NE(with(xmp("yesterday", one, "t"), false), plain);
  EXPECT_NE(with(xmp("2026-12-02T10:00:00Z", "mine", "t"), false), plain);
}

TEST(PdfDocument, TheTimeOfALinkDoesNotCountAndThatOfACommentDoes) {
  const auto with = [](const std::string& annotation, const std::string& time) {
    PdfFile file;
    replace(file.objects[2], "/MediaBox",
            "/LastModified(" + time + ")/Annots[<</Subtype" + annotation + "/M(" + time + ")>>]/MediaBox");
    return content_read(file);
  };
  EXPECT_EQ(with("/Link", "D:20261202100000"), with("/Link", "D:20261203100000"));
  EXPECT_NE(with("/Text", "D:20261202100000"), with("/Text", "D:20261203100000"));
  EXPECT_NE(with("/Link", "D:20261202100000"), with("/Link", "today"));
}

// What is embedded is bytes, whatever it is; when its file was written is no more than a ZIP entry's time.
TEST(PdfDocument, EmbeddedFilesCountWithoutTheirTimes) {
  const auto with = [](const std::string& data, const std::string& time) {
    PdfFile file;
    replace(file.objects[0], "/Pages", "/AF[<</Type/Filespec/UF(a)/EF<</F @7>>>>]/Pages");
    file.objects.push_back(pdf_stream(data, "/Type/EmbeddedFile/Params<</ModDate(" + time + ")>>"));
    return content_read(file);
  };
  EXPECT_EQ(with("a", "D:20261202100000"), with("a", "D:20261203100000"));
  EXPECT_NE(with("a", "D:20261202100000"), with("b", "D:20261202100000"));
  // A document in a document: its times count.
  auto inner = PdfFile().bytes();
  replace(inner, "%%EOF", "");
  for (auto at = inner.find(" obj"); at != std::string::npos; at = inner.find(" obj")) inner[at] = '-';
  const auto plain = with(inner, "D:20261202100000");
  replace(inner, "D:20261202", "D:20261203");
  EXPECT_NE(with(inner, "D:20261202100000"), plain);
}

TEST(PdfDocument, BombsCompareByOctetsSoon) {
  const auto begin = std::chrono::steady_clock::now();
  const PdfFile file;
  EXPECT_FALSE(read_pdf(file.packed(std::string(64U << 20, ' '))));
  // Many unclosed strings, each read to the end.
  std::string offsets;
  for (int i = 0; i < 200000; ++i) offsets += std::to_string(i + 1) + " " + std::to_string(2 * i) + " ";
  std::string open;
  for (int i = 0; i < 200000; ++i) open += "( ";
  EXPECT_FALSE(read_pdf(file.packed(open, offsets)));
  // Streams inside streams.
  PdfFile nested;
  for (int i = 0; i < 3; ++i)
    nested.objects.push_back(pdf_stream(zlib_data(zlib_data(std::string(1U << 20, 'x')))));
  EXPECT_TRUE(read_pdf(nested.bytes()));
  // More values than memory should hold.
  PdfFile values;
  values.objects[4] = "[";
  for (int i = 0; i < 1'500'000; ++i) values.objects[4] += "1 ";
  values.objects[4] += "]";
  EXPECT_FALSE(read_pdf(values.bytes()));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(PdfDocument, ManyThreadsReadAtOnce) {
  std::vector<Digest> seen(4);
  std::vector<std::thread> threads;
  for (auto& digest : seen) {
    threads.emplace_back([&digest] {
      for (const std::string file : {"qpdf-packed.a.pdf", "qpdf-packed.b.pdf"})
        digest = content_attached(test::corpus_message("documents/" + file));
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(std::set<Digest>(seen.begin(), seen.end()).size(), 1U);
}

// One octet of a page, a font or a picture is another document, whatever stands beside it.
TEST(PdfDocument, AChangedOctetOfAStreamMakesAnotherDocument) {
  for (const std::string file : {"reportlab.a.pdf", "pdflatex.a.pdf", "libreoffice-pdfa.a.pdf"}) {
    const auto octets = test::corpus_message("documents/" + file);
    const auto whole = content_attached(octets);
    ASSERT_TRUE(read_pdf(octets)) << file;
    for (auto at = octets.find("stream"); at != std::string::npos; at = octets.find("stream", at + 1)) {
      if (octets.compare(at - 3, 3, "end") == 0) continue;
      const auto end = octets.find("endstream", at);
      const auto step = (end - at) / 12 + 1;
      for (std::size_t i = at + 8; i + 2 < end; i += step)
        EXPECT_NE(content_attached(changed_at(octets, i, 0x04)), whole) << file << " at " << i;
    }
  }
}

// Few octets may change without another form: those of times, the identifier, comments, white space.
TEST(PdfDocument, AChangedOctetAnywhereIsSeldomUnseen) {
  const auto octets = test::corpus_message("documents/reportlab.a.pdf");
  const auto whole = content_attached(octets);
  std::size_t unseen = 0;
  for (std::size_t i = 0; i < octets.size(); ++i)
    if (content_attached(changed_at(octets, i, 0x01)) == whole) ++unseen;
  EXPECT_LT(unseen, 500U) << "of " << octets.size();
}

}  // namespace
}  // namespace mailonce::message
