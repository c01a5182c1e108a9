#include "body.h"

#include <algorithm>

namespace mailonce::upstream {

void Body::begin(std::span<const std::string_view> message) {
  encoder_ = {};
  pieces_.clear();
  next_ = 0;
  left_ = 0;
  for (const std::string_view octets : message) encoder_.encode(octets, pieces_);
  for (const std::string_view piece : pieces_) left_ += piece.size();
}

void Body::move_front(std::size_t octets, std::vector<std::string_view>& to) {
  left_ -= octets;
  while (octets > 0) {
    std::string_view& piece = pieces_[next_];
    const std::size_t part = std::min(octets, piece.size());
    to.push_back(piece.substr(0, part));
    piece.remove_prefix(part);
    octets -= part;
    if (piece.empty()) ++next_;
  }
}

bool Body::take_slice(std::vector<std::string_view>& slice) {
  slice.clear();
  if (left_ <= end_octets) return false;
  move_front(std::min(left_ - end_octets, slice_octets), slice);
  return true;
}

std::size_t Body::take_end(std::vector<std::string_view>& end) {
  end.clear();
  const std::string_view end_of_data = encoder_.finish();
  const std::size_t octets = left_ + end_of_data.size();
  move_front(left_, end);
  end.push_back(end_of_data);
  return octets;
}

}  // namespace mailonce::upstream
