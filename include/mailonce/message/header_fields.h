// Header fields with the exact octets they stand on (RFC 5322 §2.2). Line ends are CRLF; LF alone is
// accepted, for messages read from files. One pass, no copy: the views point into the message.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace mailonce::message {

struct HeaderField {
  std::string_view name;   // as written, without white space before the colon
  std::string_view value;  // after the colon, folds included, without the last line end
  std::string_view raw;    // the whole field with its line ends
};

class HeaderScanner {
 public:
  explicit HeaderScanner(std::string_view message) : message_(message) {}

  // The next field; false after the last. Lines that are no field are skipped and remembered.
  bool next(HeaderField& field);
  // False once a line was neither a field, nor a fold of one, nor the empty line (mail programs then disagree
  // on where the header ends).
  bool well_formed() const noexcept { return well_formed_; }
  // After next() returned false: what follows the empty line.
  std::string_view body() const noexcept { return message_.substr(position_); }

 private:
  std::size_t line_end(std::size_t from) const noexcept;

  std::string_view message_;
  std::size_t position_ = 0;
  bool well_formed_ = true;
  bool ended_ = false;
};

struct HeaderBlock {
  std::vector<HeaderField> fields;
  std::string_view body;
  bool well_formed = true;  // also false beyond `limit` fields; the fields up to there are kept
};
HeaderBlock scan_fields(std::string_view message, std::size_t limit);

// Without folds: CRLF before white space removed; outer white space trimmed. A view into `value` when it has
// no folds, else into `scratch`.
std::string_view unfold(std::string_view value, std::string& scratch);
std::string_view trim(std::string_view text) noexcept;  // SP, HT, CR, LF

}  // namespace mailonce::message
