// Command lines out of what a client sends (RFC 5321 §2.3.8: CRLF and nothing else ends a line). Complete
// lines are views into the octets received; only a line that is not complete yet is copied, and memory is
// bounded by the line limit. Any split of the input gives the same events.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace mailonce::smtp {

class LineReader {
 public:
  enum class Event {
    need_more,  // everything received was taken over or dropped
    line,       // line() is complete
    too_long,   // a line over the limit has ended and was dropped
    bare_lf,    // an LF without CR; the rest up to the next CRLF is dropped
    endless     // more than endless_octets without a CRLF
  };
  static constexpr std::size_t endless_octets = 64 * 1024;

  explicit LineReader(std::size_t max_line_octets) : max_line_octets_(max_line_octets) {}

  // Only when octets() is empty. The octets must stay until octets() is empty again.
  void receive(std::string_view octets) noexcept { octets_ = octets; }
  // What comes next; the same again until consume().
  Event peek();
  std::string_view line() const noexcept { return line_; }  // without CRLF; until consume()
  void consume() noexcept;
  // Its first octets, up to four, whatever became of the line; until consume().
  std::string_view head() const noexcept { return {head_.data(), head_size_}; }

  // What was received and belongs to no line yet: where a body begins after DATA.
  std::string_view& octets() noexcept { return octets_; }
  // Nothing at all is waiting, not even a part of a line.
  bool empty() const noexcept {
    return event_ == Event::need_more && octets_.empty() && taken_ == 0 && !dropping_;
  }

 private:
  Event scan();
  Event end_line(std::string_view piece);
  void hold(std::string_view piece);
  void note_head(std::string_view piece) noexcept;

  std::size_t max_line_octets_;
  std::string_view octets_;
  std::string held_;       // the beginning of a line whose end is still to come
  std::size_t taken_ = 0;  // octets of the current line taken so far, held or dropped
  char last_ = '\0';       // the last of them
  std::array<char, 4> head_{};
  std::size_t head_size_ = 0;
  bool dropping_ = false;  // after a bare LF
  std::string_view line_;
  Event event_ = Event::need_more;
};

}  // namespace mailonce::smtp
