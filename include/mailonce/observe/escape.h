// Octets from anywhere as part of a log line: whatever a peer says, it can neither end the line, nor forge a
// field, nor move the reader's cursor. Control characters (C0, DEL, C1), line and paragraph separators and
// the characters that reorder text on a screen are escaped; valid UTF-8 otherwise stays readable.
#pragma once
#include <string>
#include <string_view>

namespace mailonce::observe {

// Appends `octets` as a JSON string with its quotes (RFC 8259 §7). Octets that are not UTF-8 become U+FFFD.
void append_json_string(std::string& out, std::string_view octets);

// Appends `octets` in double quotes; \" \\ \n \r \t \u2028 and, for octets that are no UTF-8 or control,
// \x1b.
void append_quoted(std::string& out, std::string_view octets);

// As append_quoted, but without quotes when the value is one plain word: no space, quote, backslash or '='.
void append_word(std::string& out, std::string_view octets);

}  // namespace mailonce::observe
