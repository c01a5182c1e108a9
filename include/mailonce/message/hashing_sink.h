// Hashes a canonical form. Each item is framed by its kind and lengths, so two different forms are never the
// same octets (docs/canonical-form.md has the layout).
#pragma once
#include <array>

#include "mailonce/base/digest.h"
#include "mailonce/message/canonical_sink.h"

namespace mailonce::message {

class HashingSink final : public CanonicalSink {
 public:
  // `hasher` outlives the sink. Call flush() before the hasher is used for anything else.
  explicit HashingSink(Hasher& hasher) : hasher_(hasher) {}
  void flush();

  void header(std::string_view name, std::string_view value, Reading reading) override;
  void open_message(const Leaf& leaf) override;
  void open_multipart(std::string_view subtype, std::size_t content_id) override;
  void close(bool complete) override;
  void open_leaf(const Leaf& leaf) override;
  void content(std::string_view octets) override;
  void document_item(std::string_view name, const Digest& digest) override;
  void close_leaf() override;

 private:
  void put(char octet);
  void put(std::string_view octets);
  void put_length(std::uint64_t length);
  void put_framed(std::string_view octets);
  void put_leaf(const Leaf& leaf);
  void end_block();

  Hasher& hasher_;
  // Small items are gathered here: one update of the hash costs more than copying a few octets.
  std::array<char, 4096> staged_;
  std::size_t staged_octets_ = 0;
  // Content goes in blocks of equal size whatever pieces it arrives in; only the last is shorter.
  static constexpr std::size_t block_octets = 4096;
  std::array<char, block_octets> block_;
  std::size_t block_used_ = 0;
};

}  // namespace mailonce::message
