// The message on its way out, dot-stuffed, as views: slices to write ahead, and the end that stays for the
// final write. Pure. The octets must stay until take_end() was written.
#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "mailonce/smtp/data_codec.h"

namespace mailonce::upstream {

class Body {
 public:
  // Kept for the final write, so that a small message and its dot are one system call.
  static constexpr std::size_t end_octets = 64 * 1024;
  // Written under one Timeouts::data_block.
  static constexpr std::size_t slice_octets = 256 * 1024;

  void begin(std::span<const std::string_view> message);
  // The next slice to write ahead, into `slice`; false: only the end is left.
  bool take_slice(std::vector<std::string_view>& slice);
  // What is left, with the end of data; returns its octets.
  std::size_t take_end(std::vector<std::string_view>& end);

 private:
  void move_front(std::size_t octets, std::vector<std::string_view>& to);

  smtp::DataEncoder encoder_;
  std::vector<std::string_view> pieces_;
  std::size_t next_ = 0;  // in pieces_
  std::size_t left_ = 0;  // octets of pieces_ from next_ on
};

}  // namespace mailonce::upstream
