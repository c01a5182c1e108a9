// A cursor over octets in several pieces: what of them still has to be written.
#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

namespace mailonce::net {

class Gather {
 public:
  explicit Gather(std::span<const std::string_view> pieces) : pieces_(pieces) { skip_empty(); }

  bool done() const noexcept { return pieces_.empty(); }
  // The rest of the piece the cursor stands in; not empty unless done().
  std::string_view front() const { return done() ? std::string_view() : pieces_.front().substr(offset_); }
  // Calls take(view) for the rest of each piece until it returns false.
  template <class Take>
  void each(Take take) const {
    std::size_t offset = offset_;
    for (std::string_view piece : pieces_) {
      if (piece.size() > offset && !take(piece.substr(offset))) return;
      offset = 0;
    }
  }
  void advance(std::size_t octets) {
    while (octets > 0 && !done()) {
      const std::size_t part = std::min(octets, pieces_.front().size() - offset_);
      offset_ += part;
      octets -= part;
      skip_empty();
    }
  }

 private:
  void skip_empty() {
    while (!pieces_.empty() && offset_ == pieces_.front().size()) {
      pieces_ = pieces_.subspan(1);
      offset_ = 0;
    }
  }

  std::span<const std::string_view> pieces_;
  std::size_t offset_ = 0;
};

}  // namespace mailonce::net
