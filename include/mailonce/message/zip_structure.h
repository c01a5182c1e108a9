// The structure of a ZIP file (PKWARE APPNOTE.TXT), read so that every octet is accounted for: readers
// disagree on files with octets between the entries, or whose two directories differ, and each of two such
// files may show something else.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace mailonce::message {

struct ZipEntry {
  enum class Method : std::uint16_t { stored = 0, deflated = 8 } method = Method::stored;
  std::string_view name;
  std::string_view comment;
  std::string_view local_extra;
  std::string_view central_extra;
  std::string_view data;  // as it stands in the file
  std::uint16_t made_by = 0;
  std::uint16_t flags = 0;
  std::uint16_t internal_attributes = 0;
  std::uint32_t external_attributes = 0;
  std::uint32_t crc = 0;
  std::uint32_t octets = 0;  // of its content
};

struct ZipStructure {
  std::vector<ZipEntry> entries;  // in the order of the file, which is that of the directory
  std::string_view comment;
};

// Nothing when `file` is anything but entries one after the other, their directory and its end: no octet
// before, between or behind, no name twice, no encryption, no ZIP64, both headers of each entry equal. Views
// into `file`.
std::optional<ZipStructure> read_zip_structure(std::string_view file);

}  // namespace mailonce::message
