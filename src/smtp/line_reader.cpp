#include "line_reader.h"

#include "octets.h"

namespace mailonce::smtp {

LineReader::Event LineReader::peek() {
  if (event_ == Event::need_more) event_ = scan();
  return event_;
}

void LineReader::consume() noexcept {
  event_ = Event::need_more;
  line_ = {};
  held_.clear();
  taken_ = 0;
  last_ = '\0';
  head_size_ = 0;
}

void LineReader::note_head(std::string_view piece) noexcept {
  while (head_size_ < head_.size() && !piece.empty()) {
    head_[head_size_++] = piece.front();
    piece.remove_prefix(1);
  }
}

LineReader::Event LineReader::scan() {
  while (!octets_.empty()) {
    const char* const begin = octets_.data();
    const char* const lf = find_octet(begin, begin + octets_.size(), '\n');
    const auto piece = lf ? octets_.substr(0, static_cast<std::size_t>(lf - begin) + 1) : octets_;
    octets_.remove_prefix(piece.size());
    note_head(piece);
    if (taken_ + piece.size() > endless_octets) return Event::endless;
    if (!lf) {
      hold(piece);
      return Event::need_more;
    }
    const char before_lf = piece.size() > 1 ? piece[piece.size() - 2] : last_;
    if (before_lf != '\r') {
      dropping_ = true;
      return Event::bare_lf;
    }
    if (!dropping_) return end_line(piece);
    dropping_ = false;
    consume();
  }
  return Event::need_more;
}

LineReader::Event LineReader::end_line(std::string_view piece) {
  if (taken_ + piece.size() > max_line_octets_) return Event::too_long;
  if (taken_ != 0) {
    held_.append(piece);
    piece = held_;
  }
  line_ = piece.substr(0, piece.size() - 2);
  return Event::line;
}

void LineReader::hold(std::string_view piece) {
  taken_ += piece.size();
  last_ = piece.back();
  if (dropping_ || taken_ > max_line_octets_) {
    held_.clear();
  } else {
    held_.append(piece);
  }
}

}  // namespace mailonce::smtp
