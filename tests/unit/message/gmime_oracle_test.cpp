// GMime's parser reads the corpus as we do: the same leaves, names and octets. It is lenient where we take
// bytes, so only well-formed mail is held against it.
#include <gmime/gmime.h>
#include <gtest/gtest.h>

#include <memory>

#include "corpus.h"
#include "mailonce/base/encoding.h"
#include "mailonce/message/header_value.h"
#include "mailonce/message/mime_tree.h"

namespace mailonce::message {
namespace {

struct Unref {
  template <class T>
  void operator()(T* object) const {
    g_object_unref(object);
  }
};
template <class T>
using Ref = std::unique_ptr<T, Unref>;

struct SeenLeaf {
  std::string type, file_name, octets;
  bool operator==(const SeenLeaf&) const = default;
};

std::ostream& operator<<(std::ostream& out, const SeenLeaf& leaf) {
  return out << leaf.type << " \"" << leaf.file_name << "\" " << leaf.octets.size() << " octets";
}

Ref<GMimeMessage> parse_with_gmime(const std::string& message) {
  g_mime_init();
  const Ref<GMimeStream> stream(g_mime_stream_mem_new_with_buffer(message.data(), message.size()));
  const Ref<GMimeParser> parser(g_mime_parser_new_with_stream(stream.get()));
  return Ref<GMimeMessage>(g_mime_parser_construct_message(parser.get(), nullptr));
}

void collect(GMimeObject* object, std::vector<SeenLeaf>& leaves) {
  if (GMIME_IS_MULTIPART(object)) {
    auto* multipart = GMIME_MULTIPART(object);
    for (int i = 0; i < g_mime_multipart_get_count(multipart); ++i)
      collect(g_mime_multipart_get_part(multipart, i), leaves);
  } else if (GMIME_IS_MESSAGE_PART(object)) {
    collect(g_mime_message_get_mime_part(g_mime_message_part_get_message(GMIME_MESSAGE_PART(object))),
            leaves);
  } else {
    auto* part = GMIME_PART(object);
    char* type = g_mime_content_type_get_mime_type(g_mime_object_get_content_type(object));
    const char* name = g_mime_part_get_filename(part);
    const Ref<GMimeStream> out(g_mime_stream_mem_new());
    g_mime_data_wrapper_write_to_stream(g_mime_part_get_content(part), out.get());
    const auto* array = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(out.get()));
    const auto octets =
        array->len == 0 ? std::string() : std::string(reinterpret_cast<const char*>(array->data), array->len);
    leaves.push_back({to_lower_ascii(type), name == nullptr ? "" : name, octets});
    g_free(type);
  }
}

void collect(const Part& part, std::vector<SeenLeaf>& leaves) {
  for (const auto& child : part.children) collect(child, leaves);
  if (!part.children.empty()) return;
  ASSERT_EQ(part.kind, Part::Kind::leaf) << part.raw_reason;
  ASSERT_TRUE(follows(part.transfer_encoding, part.body));
  std::string octets;
  TransferDecoder decoder(part.transfer_encoding, part.body);
  for (std::string_view chunk; decoder.next(chunk);) octets += chunk;
  leaves.push_back({part.type, part.file_name, octets});
}

TEST(GMimeOracle, FindsTheSameLeavesInEveryMailOfTheCorpus) {
  for (const auto& file : test::corpus_files()) {
    const auto message = test::corpus_message(file);
    const auto parsed = parse_with_gmime(message);
    ASSERT_TRUE(parsed) << file;
    std::vector<SeenLeaf> theirs;
    collect(g_mime_message_get_mime_part(parsed.get()), theirs);
    std::vector<SeenLeaf> ours;
    collect(parse_tree(message).root, ours);
    EXPECT_EQ(ours, theirs) << file;
  }
}

// GMime 3.2.13 loses what follows a padded base64 word (jstedfast/gmime#133): of such a subject we read more.
TEST(GMimeOracle, ReadsTheSameSubjects) {
  std::size_t longer = 0;
  for (const auto& file : test::corpus_files()) {
    const auto message = test::corpus_message(file);
    const auto parsed = parse_with_gmime(message);
    const char* subject = g_mime_message_get_subject(parsed.get());
    const std::string theirs = subject == nullptr ? "" : subject;
    for (const auto& field : scan_fields(message, 100).fields) {
      if (!equals_ignoring_case(field.name, "Subject")) continue;
      const auto ours = read_header_value(field.value, FieldSyntax::unstructured).text;
      const bool padded = field.value.find("=?= ") != std::string_view::npos ||
                          field.value.find("=?=\r\n") != std::string_view::npos;
      EXPECT_TRUE(ours == theirs || (padded && ours.starts_with(theirs)))
          << file << ": " << ours << " / " << theirs;
      longer += ours != theirs ? 1 : 0;
    }
  }
  EXPECT_LT(longer, 20U);
}

}  // namespace
}  // namespace mailonce::message
