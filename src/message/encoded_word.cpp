#include "mailonce/message/encoded_word.h"

#include "mailonce/base/encoding.h"

namespace mailonce::message {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// RFC 2047 §4.2.
std::optional<std::string> from_q(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '_') {
      bytes += ' ';
    } else if (text[i] != '=') {
      bytes += text[i];
    } else {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      bytes += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return bytes;
}

bool has_space(std::string_view text) {
  return text.find_first_of(" \t\r\n") != std::string_view::npos;
}

}  // namespace

EncodedWordResult parse_encoded_word(std::string_view text) {
  const auto charset_end = text.find('?', 2);
  if (charset_end == std::string_view::npos || charset_end + 2 >= text.size() || text[charset_end + 2] != '?')
    return {};
  const auto begin = charset_end + 3;
  const auto end = text.find('?', begin);
  if (end == std::string_view::npos || end + 1 >= text.size() || text[end + 1] != '=') return {};
  const auto charset = text.substr(2, charset_end - 2);
  const auto encoded = text.substr(begin, end - begin);
  const char encoding = to_lower_ascii(text[charset_end + 1]);
  if (charset.empty() || has_space(charset) || has_space(encoded) || (encoding != 'b' && encoding != 'q'))
    return {};

  EncodedWordResult result;
  result.is_word = true;
  auto bytes = encoding == 'q' ? from_q(encoded) : from_base64(encoded);
  if (bytes) result.word = EncodedWord{charset.substr(0, charset.find('*')), std::move(*bytes), end + 2};
  return result;
}

}  // namespace mailonce::message
