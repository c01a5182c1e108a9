// Whether a text that comes in pieces can go through DATA unchanged: every line ends with CRLF, and there is
// no NUL (RFC 5321 §2.3.8). For a body that came by BDAT, where any octet may stand; state is kept from piece
// to piece.
#pragma once
#include <cstdint>
#include <string_view>

#include "mailonce/smtp/data_codec.h"

namespace mailonce::smtp {

class LineEnds {
 public:
  using Fault = DataDecoder::Fault;

  void take(std::string_view piece);
  void finish();                                   // a CR with nothing behind it is bare
  Fault fault() const noexcept { return fault_; }  // of the first piece that has one
  std::uint64_t octets() const noexcept { return octets_; }
  bool line_ended() const noexcept { return line_ended_; }  // or there is no text

 private:
  void note(Fault fault) noexcept {
    if (fault_ == Fault::none) fault_ = fault;
  }

  bool after_cr_ = false;
  bool line_ended_ = true;
  Fault fault_ = Fault::none;
  std::uint64_t octets_ = 0;
};

}  // namespace mailonce::smtp
