// The parts between the delimiter lines of a multipart body (RFC 2046 §5.1.1), as views into it. Strict: a
// delimiter is a whole line.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace mailonce::message {

struct MultipartBody {
  std::vector<std::string_view> parts;  // without the line end before the delimiter: it belongs to that
  std::string_view preamble;
  std::string_view epilogue;
  bool complete = false;  // the closing delimiter is there
};

// Nothing when the body has no delimiter, more than `limit` parts, or outside its parts a line that only
// begins like a delimiter: some programs would take it for one and show what follows.
std::optional<MultipartBody> split_multipart(std::string_view body, std::string_view boundary,
                                             std::size_t limit);

}  // namespace mailonce::message
