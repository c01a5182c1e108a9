// libzip reads the same entries out of the corpus as our own parser.
#include <gtest/gtest.h>
#include <zip.h>

#include <memory>

#include "corpus.h"
#include "mailonce/base/digest.h"
#include "mailonce/message/inflated_entry.h"
#include "mailonce/message/zip_structure.h"

namespace mailonce::message::test {
namespace {

struct Closer {
  void operator()(zip_t* zip) const { zip_discard(zip); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

std::string read_by_libzip(zip_t* zip, std::size_t index) {
  const std::unique_ptr<zip_file_t, Closer> file(zip_fopen_index(zip, index, 0));
  std::string content;
  char buffer[4096];
  for (zip_int64_t octets = 0; file && (octets = zip_fread(file.get(), buffer, sizeof buffer)) > 0;)
    content.append(buffer, static_cast<std::size_t>(octets));
  return content;
}

TEST(ZipOracle, LibzipReadsTheSame) {
  for (const std::string file :
       {"zip.a.zip", "zip-times.a.zip", "openpyxl.a.xlsx", "python-docx.a.docx", "libreoffice-odt.a.odt",
        "libreoffice-ods.a.ods", "pandoc-epub.a.epub", "ebooklib.a.epub"}) {
    const auto octets = corpus_message("documents/" + file);
    const auto structure = read_zip_structure(octets);
    ASSERT_TRUE(structure) << file;
    zip_error_t error;
    zip_error_init(&error);
    auto* source = zip_source_buffer_create(octets.data(), octets.size(), 0, &error);
    const std::unique_ptr<zip_t, Closer> zip(
        zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error));
    ASSERT_TRUE(zip) << file;
    ASSERT_EQ(static_cast<std::size_t>(zip_get_num_entries(zip.get(), 0)), structure->entries.size()) << file;
    for (std::size_t i = 0; i < structure->entries.size(); ++i) {
      const auto& entry = structure->entries[i];
      EXPECT_EQ(zip_get_name(zip.get(), i, ZIP_FL_ENC_RAW), std::string(entry.name)) << file;
      std::string content;
      InflatedEntry inflated(entry);
      for (std::string_view chunk; inflated.next(chunk);) content += chunk;
      EXPECT_TRUE(inflated.intact()) << file;
      EXPECT_TRUE(content == read_by_libzip(zip.get(), i)) << file << " " << entry.name;
    }
  }
}

}  // namespace
}  // namespace mailonce::message::test
