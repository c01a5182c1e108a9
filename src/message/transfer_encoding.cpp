#include "mailonce/message/transfer_encoding.h"

#include <algorithm>

#include "mailonce/base/encoding.h"
#include "mailonce/message/header_fields.h"

namespace mailonce::message {
namespace {

// RFC 2045 §6.8, with white space anywhere: the alphabet in groups of four, padding only at the end.
bool is_base64(std::string_view body) noexcept {
  enum Kind : unsigned char { digit = 1, space = 2, foreign = 4 };
  static constexpr auto kinds = [] {
    std::array<unsigned char, 256> table{};
    for (auto& kind : table) kind = foreign;
    for (unsigned c = 'A'; c <= 'Z'; ++c) table[c] = digit;
    for (unsigned c = 'a'; c <= 'z'; ++c) table[c] = digit;
    for (unsigned c = '0'; c <= '9'; ++c) table[c] = digit;
    table['+'] = table['/'] = digit;
    for (const unsigned char c : {' ', '\t', '\r', '\n'}) table[c] = space;
    return table;
  }();
  const auto end = std::min(body.find('='), body.size());
  // No branch inside: attachments are long.
  std::size_t digits = 0;
  unsigned seen = 0;
  for (const char c : body.substr(0, end)) {
    const unsigned kind = kinds[static_cast<unsigned char>(c)];
    seen |= kind;
    digits += kind & digit;
  }
  std::size_t padding = 0;
  for (const char c : body.substr(end)) {
    if (c == '=') {
      ++padding;
    } else if (kinds[static_cast<unsigned char>(c)] != space) {
      return false;
    }
  }
  return (seen & foreign) == 0 && padding <= 2 && (digits + padding) % 4 == 0 &&
         (padding == 0 || digits % 4 != 0);
}

bool is_hex(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F') || (c >= 'a' && c <= 'f');
}

// RFC 2045 §6.7: "=" begins two hexadecimal digits or ends its line.
bool is_quoted_printable(std::string_view body) noexcept {
  for (std::size_t i = body.find('='); i != std::string_view::npos; i = body.find('=', i)) {
    const auto rest = body.substr(i + 1);
    if (rest.starts_with("\r\n")) {
      i += 3;
    } else if (rest.starts_with('\n')) {
      i += 2;
    } else if (rest.size() >= 2 && is_hex(rest[0]) && is_hex(rest[1])) {
      i += 3;
    } else {
      // A soft line break whose line end belongs to the boundary.
      return rest.empty();
    }
  }
  return true;
}

}  // namespace

TransferEncoding transfer_encoding(std::string_view field_value) noexcept {
  const auto name = trim(field_value);
  for (const std::string_view identity : {"", "7bit", "8bit", "binary"})
    if (equals_ignoring_case(name, identity)) return TransferEncoding::identity;
  if (equals_ignoring_case(name, "quoted-printable")) return TransferEncoding::quoted_printable;
  if (equals_ignoring_case(name, "base64")) return TransferEncoding::base64;
  return TransferEncoding::unknown;
}

bool follows(TransferEncoding encoding, std::string_view body) noexcept {
  switch (encoding) {
    case TransferEncoding::identity:
      return true;
    case TransferEncoding::quoted_printable:
      return is_quoted_printable(body);
    case TransferEncoding::base64:
      return is_base64(body);
    case TransferEncoding::unknown:
      break;
  }
  return false;
}

TransferDecoder::TransferDecoder(TransferEncoding encoding, std::string_view body)
    : encoding_(encoding), rest_(body) {
  if (encoding == TransferEncoding::base64) {
    g_mime_encoding_init_decode(&state_, GMIME_CONTENT_ENCODING_BASE64);
  } else if (encoding == TransferEncoding::quoted_printable) {
    g_mime_encoding_init_decode(&state_, GMIME_CONTENT_ENCODING_QUOTEDPRINTABLE);
    if (rest_.ends_with('=')) rest_.remove_suffix(1);
  }
}

bool TransferDecoder::next(std::string_view& chunk) {
  while (!rest_.empty()) {
    if (encoding_ == TransferEncoding::identity || encoding_ == TransferEncoding::unknown) {
      chunk = rest_;
      rest_ = {};
      return true;
    }
    const auto step = rest_.substr(0, step_octets);
    rest_.remove_prefix(step.size());
    const auto octets = g_mime_encoding_step(&state_, step.data(), step.size(), buffer_.data());
    if (octets == 0) continue;
    chunk = std::string_view(buffer_.data(), octets);
    return true;
  }
  return false;
}

}  // namespace mailonce::message
