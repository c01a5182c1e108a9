// Content-Type and Content-Disposition (RFC 2045 §5.1, RFC 2183) with their parameters (RFC 2231, and encoded
// words in them, which many libraries write).
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mailonce::message {

struct ContentField {
  std::string value;  // "text/plain", "attachment": lower case
  // Names in lower case, values in UTF-8. A value in the extended notation wins over a plain one of the same
  // name.
  std::vector<std::pair<std::string, std::string>> parameters;

  // Empty when there is none of this name.
  std::string_view parameter(std::string_view name) const noexcept;
};

// Nothing when the field does not follow the grammar, repeats a parameter, or has one that can not be
// decoded: mail programs then disagree on what it says.
std::optional<ContentField> parse_content_field(std::string_view raw);

}  // namespace mailonce::message
