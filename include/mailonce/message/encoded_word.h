// One encoded word of RFC 2047: =?charset?B or Q?text?=
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace mailonce::message {

struct EncodedWord {
  std::string_view charset;  // without a language suffix (RFC 2231 §5)
  std::string bytes;         // B or Q undone, still in that charset
  std::size_t length = 0;    // of the whole word in the text
};

struct EncodedWordResult {
  bool is_word = false;             // it has the shape of an encoded word
  std::optional<EncodedWord> word;  // nothing when its encoding is broken
};

// `text` begins with "=?".
EncodedWordResult parse_encoded_word(std::string_view text);

}  // namespace mailonce::message
