// What is made one in text before it is hashed (DESIGN.md §5): line ends and trailing blank lines; nothing
// else.
#pragma once
#include <string>
#include <string_view>

namespace mailonce::message {

// CRLF becomes LF. A view of `text` when it has none, else of `scratch`.
std::string_view with_lf_line_ends(std::string_view text, std::string& scratch);
// Without the empty lines, and the line end, at its end. White space is no empty line.
std::string_view without_trailing_blank_lines(std::string_view text) noexcept;
// text/calendar without its DTSTAMP lines and their folds (RFC 5545 §3.8.7.2, §3.1): the time of building.
// `text` has LF line ends.
std::string_view without_dtstamp(std::string_view text, std::string& scratch);

}  // namespace mailonce::message
