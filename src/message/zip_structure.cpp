#include "mailonce/message/zip_structure.h"

#include <unordered_set>

#include "mailonce/message/document.h"

namespace mailonce::message {
namespace {

// APPNOTE.TXT §4.3.7, §4.3.9, §4.3.12, §4.3.16.
constexpr std::string_view local_signature = "PK\x03\x04";
constexpr std::string_view descriptor_signature = "PK\x07\x08";
constexpr std::string_view central_signature = "PK\x01\x02";
constexpr std::string_view end_signature = "PK\x05\x06";
constexpr std::size_t end_octets = 22;
constexpr std::size_t longest_comment = 0xffff;

// §4.4.4: level of compression, sizes behind the data, names in UTF-8. Any other (encryption, patches) is
// unknown.
constexpr std::uint16_t descriptor_flag = 1U << 3U;
constexpr std::uint16_t known_flags = 0x6U | descriptor_flag | 1U << 11U;

// Takes little-endian fields from the front; `good` turns false for ever when they are too few.
class Fields {
 public:
  explicit Fields(std::string_view octets) : rest_(octets) {}

  std::string_view take(std::size_t count) {
    if (count > rest_.size()) {
      good_ = false;
      rest_ = {};
      return {};
    }
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::uint32_t number(std::size_t count) {
    std::uint32_t value = 0;
    const auto octets = take(count);
    for (std::size_t i = octets.size(); i-- > 0;) value = value << 8U | static_cast<unsigned char>(octets[i]);
    return value;
  }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() { return number(4); }
  void expect(bool holds) { good_ = good_ && holds; }
  bool good() const { return good_; }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool good_ = true;
};

struct End {
  std::size_t offset = 0;
  std::uint32_t entries = 0;
  std::uint32_t directory_octets = 0;
  std::uint32_t directory_offset = 0;
  std::string_view comment;
};

std::optional<End> read_end(std::string_view file) {
  const auto offset = file.rfind(end_signature);
  if (offset == std::string_view::npos || file.size() - offset > end_octets + longest_comment)
    return std::nullopt;
  End end;
  end.offset = offset;
  Fields fields(file.substr(offset + end_signature.size()));
  fields.expect(fields.u16() == 0);  // this disk
  fields.expect(fields.u16() == 0);  // the directory's disk
  const auto entries_here = fields.u16();
  end.entries = fields.u16();
  end.directory_octets = fields.u32();
  end.directory_offset = fields.u32();
  end.comment = fields.take(fields.u16());
  fields.expect(entries_here == end.entries && end.entries <= DocumentLimits::entries);
  // What follows the record, or a comment another reader could take for a record.
  fields.expect(fields.rest().empty() && end.comment.find("PK") == std::string_view::npos);
  fields.expect(std::uint64_t{end.directory_offset} + end.directory_octets == offset);
  return fields.good() ? std::optional(end) : std::nullopt;
}

// What both headers of an entry say.
struct Sizes {
  std::uint32_t crc = 0;
  std::uint32_t stored = 0;
  std::uint32_t inflated = 0;
  bool operator==(const Sizes&) const = default;
};

Sizes take_sizes(Fields& fields) {
  Sizes sizes;
  sizes.crc = fields.u32();
  sizes.stored = fields.u32();
  sizes.inflated = fields.u32();
  return sizes;
}

struct CentralHeader {
  ZipEntry entry;
  Sizes sizes;
  std::uint32_t offset = 0;
};

bool take_central_header(Fields& fields, CentralHeader& header) {
  auto& entry = header.entry;
  fields.expect(fields.take(central_signature.size()) == central_signature);
  entry.made_by = fields.u16();
  fields.take(2);  // version needed: follows from the method
  entry.flags = fields.u16();
  const auto method = fields.u16();
  fields.expect(method == 0 || method == 8);
  entry.method = static_cast<ZipEntry::Method>(method);
  fields.take(4);  // time and date
  header.sizes = take_sizes(fields);
  const auto name_octets = fields.u16();
  const auto extra_octets = fields.u16();
  const auto comment_octets = fields.u16();
  fields.expect(fields.u16() == 0);  // disk
  entry.internal_attributes = fields.u16();
  entry.external_attributes = fields.u32();
  header.offset = fields.u32();
  entry.name = fields.take(name_octets);
  entry.central_extra = fields.take(extra_octets);
  entry.comment = fields.take(comment_octets);
  entry.crc = header.sizes.crc;
  entry.octets = header.sizes.inflated;
  fields.expect((entry.flags & ~known_flags) == 0);
  return fields.good();
}

// The entry whose local header is at the front; its descriptor, if any, must end where the next one begins.
bool take_local_entry(Fields& fields, CentralHeader& header, std::size_t entry_octets) {
  auto& entry = header.entry;
  const auto before = fields.rest().size();
  fields.expect(fields.take(local_signature.size()) == local_signature);
  fields.take(2);  // version needed
  fields.expect(fields.u16() == entry.flags);
  fields.expect(fields.u16() == static_cast<std::uint16_t>(entry.method));
  fields.take(4);  // time and date
  const auto sizes = take_sizes(fields);
  const auto name_octets = fields.u16();
  const auto extra_octets = fields.u16();
  fields.expect(fields.take(name_octets) == entry.name);
  entry.local_extra = fields.take(extra_octets);
  entry.data = fields.take(header.sizes.stored);
  const bool described = (entry.flags & descriptor_flag) != 0;
  fields.expect(sizes == header.sizes || (described && sizes == Sizes{}));
  if (described) {
    const auto used = before - fields.rest().size();
    if (entry_octets - used == 16) fields.expect(fields.take(4) == descriptor_signature);
    fields.expect(take_sizes(fields) == header.sizes);
  }
  fields.expect(before - fields.rest().size() == entry_octets);
  return fields.good();
}

}  // namespace

std::optional<ZipStructure> read_zip_structure(std::string_view file) {
  const auto end = read_end(file);
  if (!end) return std::nullopt;
  std::vector<CentralHeader> headers(end->entries);
  Fields directory(file.substr(end->directory_offset, end->directory_octets));
  for (auto& header : headers)
    if (!take_central_header(directory, header)) return std::nullopt;
  if (!directory.rest().empty()) return std::nullopt;

  ZipStructure structure;
  structure.comment = end->comment;
  structure.entries.reserve(headers.size());
  std::unordered_set<std::string_view> names;
  Fields entries(file.substr(0, end->directory_offset));
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const std::size_t next = i + 1 < headers.size() ? headers[i + 1].offset : end->directory_offset;
    const std::size_t here = end->directory_offset - entries.rest().size();
    if (headers[i].offset != here || next < here || !names.insert(headers[i].entry.name).second)
      return std::nullopt;
    if (!take_local_entry(entries, headers[i], next - here)) return std::nullopt;
    structure.entries.push_back(headers[i].entry);
  }
  return entries.rest().empty() ? std::optional(std::move(structure)) : std::nullopt;
}

}  // namespace mailonce::message
