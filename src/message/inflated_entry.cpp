#include "mailonce/message/inflated_entry.h"

#include <new>

namespace mailonce::message {

InflatedEntry::InflatedEntry(const ZipEntry& entry) : entry_(entry) {
  if (entry.method != ZipEntry::Method::deflated) return;
  // zlib takes no const pointer but does not write. A ZIP entry has no zlib header: negative window bits.
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(entry.data.data()));
  stream_.avail_in = static_cast<uInt>(entry.data.size());
  if (inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
}

InflatedEntry::~InflatedEntry() {
  if (entry_.method == ZipEntry::Method::deflated) inflateEnd(&stream_);
}

bool InflatedEntry::next(std::string_view& chunk) {
  if (ended_) return false;
  if (entry_.method == ZipEntry::Method::stored) {
    chunk = entry_.data;
    ended_ = true;
  } else if (!next_inflated(chunk)) {
    return false;
  }
  octets_ += chunk.size();
  crc_ = crc32_z(crc_, reinterpret_cast<const Bytef*>(chunk.data()), chunk.size());
  return octets_ <= entry_.octets;
}

bool InflatedEntry::next_inflated(std::string_view& chunk) {
  stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
  stream_.avail_out = static_cast<uInt>(buffer_.size());
  const auto result = inflate(&stream_, Z_NO_FLUSH);
  ended_ = result == Z_STREAM_END;
  chunk = std::string_view(buffer_.data(), buffer_.size() - stream_.avail_out);
  return result == Z_STREAM_END || (result == Z_OK && !chunk.empty());
}

bool InflatedEntry::intact() const {
  return ended_ && stream_.avail_in == 0 && octets_ == entry_.octets && crc_ == entry_.crc;
}

}  // namespace mailonce::message
