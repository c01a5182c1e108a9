#include "mailonce/message/hashing_sink.h"

#include <cstring>

namespace mailonce::message {

void HashingSink::flush() {
  if (staged_octets_ != 0) hasher_.update({staged_.data(), staged_octets_});
  staged_octets_ = 0;
}

void HashingSink::put(std::string_view octets) {
  if (octets.size() > staged_.size() - staged_octets_) flush();
  if (octets.size() > staged_.size() / 2) {
    flush();
    hasher_.update(octets);
    return;
  }
  if (!octets.empty()) std::memcpy(staged_.data() + staged_octets_, octets.data(), octets.size());
  staged_octets_ += octets.size();
}

void HashingSink::put(char octet) {
  put(std::string_view(&octet, 1));
}

void HashingSink::put_length(std::uint64_t length) {
  std::array<char, 8> octets{};
  for (std::size_t i = octets.size(); i-- > 0; length >>= 8) octets[i] = static_cast<char>(length & 0xff);
  put(std::string_view(octets.data(), octets.size()));
}

void HashingSink::put_framed(std::string_view octets) {
  put_length(octets.size());
  put(octets);
}

void HashingSink::put_leaf(const Leaf& leaf) {
  put_framed(leaf.type);
  put_framed(leaf.disposition);
  put_framed(leaf.file_name);
  put_length(leaf.content_id);
  put(static_cast<char>(leaf.reading));
  put_framed(leaf.label);
}

void HashingSink::header(std::string_view name, std::string_view value, Reading reading) {
  put('H');
  put_framed(name);
  put(static_cast<char>(reading));
  put_framed(value);
}

void HashingSink::open_message(const Leaf& leaf) {
  put('M');
  put_leaf(leaf);
}

void HashingSink::open_multipart(std::string_view subtype, std::size_t content_id) {
  put('P');
  put_framed(subtype);
  put_length(content_id);
}

void HashingSink::close(bool complete) {
  put('E');
  put(complete ? '1' : '0');
}

void HashingSink::open_leaf(const Leaf& leaf) {
  put('L');
  put_leaf(leaf);
  block_used_ = 0;
}

void HashingSink::content(std::string_view octets) {
  while (!octets.empty()) {
    if (block_used_ == 0 && octets.size() >= block_octets) {
      put_framed(octets.substr(0, block_octets));
      octets.remove_prefix(block_octets);
      continue;
    }
    const auto piece = octets.substr(0, block_octets - block_used_);
    std::memcpy(block_.data() + block_used_, piece.data(), piece.size());
    block_used_ += piece.size();
    octets.remove_prefix(piece.size());
    if (block_used_ == block_octets) end_block();
  }
}

void HashingSink::document_item(std::string_view name, const Digest& digest) {
  put('D');
  put_framed(name);
  put_framed({reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()});
}

void HashingSink::end_block() {
  put_framed({block_.data(), block_used_});
  block_used_ = 0;
}

void HashingSink::close_leaf() {
  end_block();
}

}  // namespace mailonce::message
