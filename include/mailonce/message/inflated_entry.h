// The content of a ZIP entry, piece by piece, over zlib. libzip does not tell of octets that stand behind the
// end of the compressed data, so they would not count.
#pragma once
#include <zlib.h>

#include <array>
#include <string_view>

#include "mailonce/message/zip_structure.h"

namespace mailonce::message {

class InflatedEntry {
 public:
  explicit InflatedEntry(const ZipEntry& entry);
  ~InflatedEntry();
  InflatedEntry(const InflatedEntry&) = delete;
  InflatedEntry& operator=(const InflatedEntry&) = delete;

  // False at the end, and when the data is not what the header says. The chunk is valid until the next call.
  bool next(std::string_view& chunk);
  // After next() returned false: the whole was there, of the size and checksum that were announced, and no
  // octet more.
  bool intact() const;

 private:
  bool next_inflated(std::string_view& chunk);

  const ZipEntry& entry_;
  std::size_t octets_ = 0;
  uLong crc_ = 0;
  bool ended_ = false;
  z_stream stream_{};
  std::array<char, 16384> buffer_;
};

}  // namespace mailonce::message
