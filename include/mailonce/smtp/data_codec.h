// Message data on the wire (RFC 5321 §4.5.2): the dot transparency and the end of data, in both directions.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

namespace mailonce::smtp {

// From the wire to the message. Only CRLF.CRLF ends the data; bare CR, bare LF and NUL are noted, and the
// data still ends only at its true end (reference: hostile input, S1 to S18). No copy: pieces are views into
// the input or into static text.
class DataDecoder {
 public:
  enum class Fault { none, bare_cr, bare_lf, nul };

  // Takes octets from `input` and returns a piece of the message; an empty piece means that more input is
  // needed or that ended() is true. Call until `input` is empty or ended().
  std::string_view next(std::string_view& input);
  bool ended() const noexcept { return ended_; }
  Fault fault() const noexcept { return fault_; }  // the first one met
  std::uint64_t octets() const noexcept { return octets_; }
  void reset() { *this = DataDecoder(); }

 private:
  std::string_view text_run(std::string_view& input);

  enum class At : std::uint8_t { line_start, dot, dot_cr, text, cr };
  At at_ = At::line_start;
  bool ended_ = false;
  Fault fault_ = Fault::none;
  std::uint64_t octets_ = 0;
};

// From the message to the wire: appends to `pieces` views that, written one after the other, are the
// dot-stuffed octets. finish() gives the end: ".\r\n", with a CRLF before it when the message did not end
// with one.
class DataEncoder {
 public:
  void encode(std::string_view octets, std::vector<std::string_view>& pieces);
  std::string_view finish() const noexcept;

 private:
  bool line_start_ = true;  // the next octet begins a line
  bool after_cr_ = false;
};

}  // namespace mailonce::smtp
