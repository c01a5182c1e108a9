// ZIP files that are not exactly their entries compare by octets; all that a reader can see counts.
#include "mailonce/message/zip_document.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <set>

#include "builders.h"
#include "corpus.h"

namespace mailonce::message {
namespace {

using test::changed_at;
using test::content_attached;
using test::corpus_message;

std::string little(std::uint64_t value, std::size_t octets) {
  std::string out;
  for (; octets > 0; --octets, value >>= 8U) out.push_back(static_cast<char>(value & 0xffU));
  return out;
}

std::string deflated(const std::string& data) {
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, data.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

// Everything a ZIP file can get wrong, right by default.
struct Entry {
  std::string name = "a.txt";
  std::string content = "hello";
  std::string comment;
  std::string local_extra;
  std::string central_extra;
  std::string local_name;  // when it differs
  std::string behind_data;
  std::string gap;
  std::uint16_t method = 8;
  std::uint16_t flags = 0;
  std::uint16_t local_flags = 0;
  std::uint32_t time = 0x5c645000;
  std::uint32_t external = 0;
  std::uint32_t crc_error = 0;
  std::uint32_t size_error = 0;
  int descriptor = 0;  // 0 none, 1 without signature, 2 with
};

Entry entry_of(const std::string& name, const std::string& content) {
  Entry entry;
  entry.name = name;
  entry.content = content;
  return entry;
}

struct Archive {
  std::vector<Entry> entries = {Entry()};
  std::string prefix;
  std::string before_directory;
  std::string comment;
  std::string behind;

  std::string bytes() const {
    std::string out = prefix;
    std::string directory;
    for (const auto& entry : entries) {
      const auto data = (entry.method == 8 ? deflated(entry.content) : entry.content) + entry.behind_data;
      const auto crc = crc32_z(0, reinterpret_cast<const Bytef*>(entry.content.data()), entry.content.size());
      const auto sizes = little(crc + entry.crc_error, 4) + little(data.size(), 4) +
                         little(entry.content.size() + entry.size_error, 4);
      const auto flags = static_cast<std::uint16_t>(entry.flags | (entry.descriptor != 0 ? 8U : 0U));
      const auto common = [&](unsigned more, const std::string& shown_sizes) {
        return little(20, 2) + little(flags | more, 2) + little(entry.method, 2) + little(entry.time, 4) +
               shown_sizes;
      };
      directory += "PK\x01\x02" + little(0x031e, 2) + common(0, sizes) + little(entry.name.size(), 2) +
                   little(entry.central_extra.size(), 2) + little(entry.comment.size(), 2) + little(0, 4) +
                   little(entry.external, 4) + little(out.size(), 4) + entry.name + entry.central_extra +
                   entry.comment;
      const auto& name = entry.local_name.empty() ? entry.name : entry.local_name;
      out += "PK\x03\x04" + common(entry.local_flags, entry.descriptor != 0 ? std::string(12, '\0') : sizes) +
             little(name.size(), 2) + little(entry.local_extra.size(), 2) + name + entry.local_extra + data;
      if (entry.descriptor != 0) out += (entry.descriptor == 2 ? "PK\x07\x08" : "") + sizes;
      out += entry.gap;
    }
    out += before_directory;
    const auto at = out.size();
    return out + directory + "PK\x05\x06" + little(0, 4) + little(entries.size(), 2) +
           little(entries.size(), 2) + little(directory.size(), 4) + little(at, 4) +
           little(comment.size(), 2) + comment + behind;
  }
};

using Change = void (*)(Archive&);

std::string changed(Change change) {
  Archive archive;
  archive.entries.push_back(entry_of("b.txt", "world"));
  change(archive);
  return archive.bytes();
}

bool is_document(Change change) {
  return read_zip(changed(change)).has_value();
}
Digest content_of(Change change) {
  return content_attached(changed(change));
}
void nothing(Archive& /*archive*/) {}

std::string office(const std::string& part, const std::string& xml,
                   const std::string& marker = "[Content_Types].xml") {
  Archive archive;
  archive.entries = {entry_of(marker, "<Types/>"), entry_of(part, xml)};
  return archive.bytes();
}

std::string open_document(const std::string& part, const std::string& content) {
  Archive archive;
  archive.entries = {entry_of("mimetype", "application/vnd.oasis.opendocument.text"),
                     entry_of(part, content)};
  archive.entries[0].method = 0;
  return archive.bytes();
}

std::string unix_times(std::uint32_t time) {
  return "UT" + little(5, 2) + "\x03" + little(time, 4);
}

TEST(ZipDocument, HowAndWhenItWasPackedDoesNotCount) {
  ASSERT_TRUE(is_document(nothing));
  const auto plain = content_of(nothing);
  EXPECT_EQ(content_of([](Archive& a) { a.entries[0].time = 0x5c655000; }), plain);
  EXPECT_EQ(content_of([](Archive& a) { a.entries[0].method = 0; }), plain);
  EXPECT_EQ(content_of([](Archive& a) { a.entries[0].flags = a.entries[0].local_flags = 4; }), plain);
  EXPECT_EQ(content_of([](Archive& a) { a.entries[0].descriptor = 1; }), plain);
  EXPECT_EQ(content_of([](Archive& a) { a.entries[1].descriptor = 2; }), plain);
}

TEST(ZipDocument, TimesInExtraFieldsDoNotCountAndOthersDo) {
  const auto with = [](const std::string& extra) {
    Archive archive;
    archive.entries[0].local_extra = archive.entries[0].central_extra = extra;
    return content_attached(archive.bytes());
  };
  const auto ntfs = [](char octet) {
    return std::string("\x0a\0", 2) + little(32, 2) + little(0, 4) + little(1, 2) + little(24, 2) +
           std::string(24, octet);
  };
  const auto owner = [](std::uint32_t id) {
    return "ux" + little(11, 2) + "\x01\x04" + little(id, 4) + "\x04" + little(0, 4);
  };
  EXPECT_EQ(with(unix_times(1)), with(unix_times(2)));
  EXPECT_EQ(with(unix_times(1) + owner(7)), with(unix_times(2) + owner(7)));
  EXPECT_EQ(with(ntfs('a')), with(ntfs('b')));
  EXPECT_EQ(with("UX" + little(8, 2) + "12345678"), with("UX" + little(8, 2) + "abcdefgh"));
  EXPECT_NE(with(owner(7)), with(owner(8)));
  EXPECT_NE(with(unix_times(1)), with(""));
  EXPECT_NE(with("UX" + little(12, 2) + "12345678abcd"), with("UX" + little(12, 2) + "12345678abce"));
  EXPECT_NE(with("xy" + little(1, 2) + "a"), with("xy" + little(1, 2) + "b"));
  EXPECT_NE(with("UT" + little(200, 2) + "a"), with("UT" + little(200, 2) + "b"));
  EXPECT_NE(with("ab"), with("ac"));
}

TEST(ZipDocument, WhatAReaderCanSeeCounts) {
  const std::vector<Change> changes = {
      nothing,
      [](Archive& a) { a.entries[0].content = "hellp"; },
      [](Archive& a) { a.entries[0].name = "c.txt"; },
      [](Archive& a) { a.entries[0].comment = "c"; },
      [](Archive& a) { a.entries[0].external = 0x81a40000; },
      [](Archive& a) { a.entries[0].flags = a.entries[0].local_flags = 0x800; },
      [](Archive& a) { a.comment = "c"; },
      [](Archive& a) { std::swap(a.entries[0], a.entries[1]); },
      [](Archive& a) { a.entries.pop_back(); },
      [](Archive& a) { a.entries.push_back(entry_of("c.txt", "")); },
      [](Archive& a) { std::swap(a.entries[0].content, a.entries[1].content); },
  };
  std::set<Digest> seen;
  for (const auto change : changes) {
    EXPECT_TRUE(is_document(change)) << seen.size();
    EXPECT_TRUE(seen.insert(content_of(change)).second) << seen.size();
  }
}

TEST(ZipDocument, WhatReadersDisagreeOnComparesByOctets) {
  const std::vector<Change> changes = {
      [](Archive& a) { a.prefix = "PK\x03\x04 more"; },
      [](Archive& a) { a.entries[0].gap = "x"; },
      [](Archive& a) { a.entries[1].gap = "x"; },
      [](Archive& a) { a.before_directory = "x"; },
      [](Archive& a) { a.behind = "x"; },
      [](Archive& a) { a.comment = "PK\x05\x06"; },
      [](Archive& a) { a.entries[0].behind_data = "x"; },
      [](Archive& a) { a.entries[0].local_name = "b.pdf"; },
      [](Archive& a) { a.entries[0].local_flags = 1U << 11U; },
      [](Archive& a) { a.entries[0].crc_error = 1; },
      [](Archive& a) { a.entries[0].size_error = 1; },
      [](Archive& a) { a.entries[0].size_error = static_cast<std::uint32_t>(-1); },
      [](Archive& a) { a.entries[0].flags = a.entries[0].local_flags = 1; },  // encrypted
      [](Archive& a) { a.entries[1].name = "a.txt"; },
      [](Archive& a) { a.entries[0].method = 12; },
      [](Archive& a) { a.entries[0].name = "_xmlsignatures/sig1.xml"; },
      [](Archive& a) { a.entries[0].name = "META-INF/documentsignatures.xml"; },
      [](Archive& a) { a.entries[0].name = "META-INF/X.RSA"; },
      [](Archive& a) { a.entries[0].name = "meta-inf/x.sf"; },
      [](Archive& a) { a.entries[0].name = "META-INF/encryption.xml"; },
  };
  std::size_t number = 0;
  for (const auto change : changes) EXPECT_FALSE(is_document(change)) << number++;
}

// It could show the times that are left out.
TEST(ZipDocument, ADocumentWithMacrosComparesByOctets) {
  for (const std::string name :
       {"word/vbaProject.bin", "xl/VBAPROJECT.BIN", "vbaproject.bin", "a\\b.vbaProject.bin"})
    EXPECT_FALSE(read_zip(office(name, "macro"))) << name;
  EXPECT_TRUE(read_zip(office("word/vbaProject.bin.xml", "")));
  EXPECT_TRUE(read_zip(office("word/project.bin", "")));
  for (const std::string name : {"Basic/Standard/Module1.xml", "Scripts/python/a.py"}) {
    EXPECT_FALSE(read_zip(open_document(name, "macro"))) << name;
    EXPECT_TRUE(read_zip(office(name, "macro"))) << name << " in another format";
  }
}

// APPNOTE.TXT says nothing of what unpacks to a thousand times its size.
TEST(ZipDocument, BombsCompareByOctets) {
  Archive archive;
  archive.entries[0].content.assign(32U << 20, 'x');
  for (int i = 0; i < 4; ++i) {
    archive.entries.push_back(archive.entries[0]);
    archive.entries.back().name += std::to_string(i);
  }
  EXPECT_FALSE(read_zip(archive.bytes()));
  // It says that it unpacks to less than it does.
  Archive liar;
  liar.entries[0].content.assign(64U << 20, 'x');
  liar.entries[0].size_error = -(63U << 20);
  EXPECT_FALSE(read_zip(liar.bytes()));
}

TEST(ZipDocument, OnlyTimesOfMakingAreLeftOutOfProperties) {
  const auto core = [](const std::string& xml) {
    return test::content(
        test::attachment(office("docProps/core.xml", "<p><dc:title>t</dc:title>" + xml + "</p>")));
  };
  const auto created = [](const std::string& text) {
    return "<dcterms:created xsi:type=\"x\">" + text + "</dcterms:created>";
  };
  EXPECT_EQ(core(created("2026-12-02T10:00:00Z")), core(created("2026-12-03T10:00:00.5+01:00")));
  EXPECT_EQ(core("<cp:lastPrinted>2026-12-02T10:00:00Z</cp:lastPrinted>"),
            core("<cp:lastPrinted>2026-12-02T10:00:01Z</cp:lastPrinted>"));
  EXPECT_NE(core(created("2026-12-02T10:00:00Z")), core(created("")));
  EXPECT_NE(core(created("2026-12-02")), core(created("2026-12-03")));
  EXPECT_NE(core(created("tomorrow")), core(created("today")));
  EXPECT_NE(core("<dc:title>2026-12-02T10:00:00Z</dc:title>"),
            core("<dc:title>2026-12-02T10:00:01Z</dc:title>"));
  const auto hidden = [&](const std::string& begin, const std::string& end) {
    EXPECT_NE(core(begin + created("2026-12-02T10:00:00Z") + end),
              core(begin + created("2026-12-02T10:00:01Z") + end))
        << begin;
  };
  hidden("<![CDATA[", "]]>");
  hidden("<!--", "-->");
  hidden("<a b='<'>", "</a>");
  hidden("<a b=>", "</a>");
  hidden("\xff", "");
  EXPECT_NE(core(created("2026-12-02T10:00:00Z")), core(created("\xff")));
}

TEST(ZipDocument, ATimeElsewhereCounts) {
  const std::string a = "<p><dcterms:created>2026-12-02T10:00:00Z</dcterms:created></p>";
  const std::string b = "<p><dcterms:created>2026-12-02T10:00:01Z</dcterms:created></p>";
  EXPECT_NE(content_attached(office("word/document.xml", a)),
            content_attached(office("word/document.xml", b)));
  EXPECT_NE(content_attached(office("docProps/core.xml", a, "other.xml")),
            content_attached(office("docProps/core.xml", b, "other.xml")));
}

// A field in the text is filled with the time of the properties: it is content then.
TEST(ZipDocument, ADocumentThatShowsItsTimesComparesByOctets) {
  const auto with = [](const std::string& text) {
    return read_zip(office("word/document.xml", text)).has_value();
  };
  std::string filler;
  for (int i = 0; i < 20000; ++i) filler += std::to_string(i * 7919);
  EXPECT_TRUE(with(filler));
  for (std::size_t shift = 0; shift < 20; ++shift)
    EXPECT_FALSE(with(filler.substr(0, 16384 - shift) + "<w:instrText> SaveDate </w:instrText>" + filler))
        << shift;
  EXPECT_FALSE(read_zip(open_document("content.xml", "<text:modification-date>1</text:modification-date>")));
}

TEST(ZipDocument, SessionNumbersOfOpenDocumentSettingsDoNotCount) {
  const auto settings = [](const std::string& name, const std::string& value) {
    return content_attached(open_document("settings.xml", "<s><config:config-item config:name=\"" + name +
                                                              "\" config:type=\"int\">" + value +
                                                              "</config:config-item></s>"));
  };
  EXPECT_EQ(settings("Rsid", "1"), settings("Rsid", "22"));
  EXPECT_NE(settings("Rsid", "1"), settings("Rsid", "x"));
  EXPECT_NE(settings("Rsid", "1"), settings("RsidRoot", "1"));
  EXPECT_NE(settings("ViewTop", "1"), settings("ViewTop", "2"));
}

TEST(ZipDocument, EncryptedOpenDocumentComparesByOctets) {
  EXPECT_FALSE(read_zip(open_document("META-INF/manifest.xml", "<manifest:encryption-data/>")));
}

// Every octet is accounted for: one that is changed either stands in a time or in how the file is packed, or
// the file is another one.
TEST(ZipDocument, AChangedOctetOfAnEntryMakesAnotherFile) {
  for (const std::string file : {"zip-times.a.zip", "openpyxl.a.xlsx"}) {
    const auto octets = corpus_message("documents/" + file);
    const auto whole = content_attached(octets);
    const auto directory = octets.find("PK\x01\x02");
    std::size_t unseen = 0;
    for (std::size_t i = 0; i < octets.size(); i += i < directory ? 3 : 1)
      if (content_attached(changed_at(octets, i, 0x10)) == whole) ++unseen;
    // Version needed, time and date, twice an entry: at most sixteen octets, and the extra field's times.
    const auto entries = read_zip(octets)->items.size() - 1;
    EXPECT_LE(unseen, entries * 28) << file;
  }
}

}  // namespace
}  // namespace mailonce::message
