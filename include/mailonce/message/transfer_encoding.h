// Content-Transfer-Encoding (RFC 2045 §6): whether a body keeps to it, and its octets, piece by piece.
#pragma once
#include <gmime/gmime-encodings.h>

#include <array>
#include <string_view>

namespace mailonce::message {

enum class TransferEncoding { identity, quoted_printable, base64, unknown };

// Of the field's value; an empty one is 7bit.
TransferEncoding transfer_encoding(std::string_view field_value) noexcept;

// True when every decoder reads the same out of `body`. A lenient one skips what it does not know, and two
// different bodies would become one.
bool follows(TransferEncoding encoding, std::string_view body) noexcept;

// Decodes a body that follows its encoding, without a copy of the whole.
class TransferDecoder {
 public:
  TransferDecoder(TransferEncoding encoding, std::string_view body);

  // False at the end. The chunk is valid until the next call.
  bool next(std::string_view& chunk);

 private:
  static constexpr std::size_t step_octets = 4096;

  TransferEncoding encoding_;
  std::string_view rest_;
  GMimeEncoding state_;
  std::array<char, step_octets + 64> buffer_;
};

}  // namespace mailonce::message
