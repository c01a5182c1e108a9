// What a header field says: unfolded, encoded words decoded (RFC 2047) to UTF-8, runs of white space to one
// space.
#pragma once
#include <string>
#include <string_view>

#include "mailonce/message/canonical_sink.h"

namespace mailonce::message {

// `structured`: addresses and the like, where a comma or an angle bracket that comes out of an encoded word
// is text and not syntax; such text is then written as a quoted string.
enum class FieldSyntax { unstructured, structured };

struct HeaderValue {
  std::string text;
  Reading reading =
      Reading::decoded;  // raw: an encoded word or an 8-bit octet that can not be read with certainty
};

HeaderValue read_header_value(std::string_view raw, FieldSyntax syntax);

}  // namespace mailonce::message
