#include "mailonce/message/multipart.h"

namespace mailonce::message {
namespace {

enum class Line { other, delimiter, closing, doubtful };

// `line` without its line end. Blanks after the boundary are padding (RFC 2046 §5.1.1).
Line classify(std::string_view line, std::string_view boundary) noexcept {
  if (!line.starts_with("--")) return Line::other;
  line.remove_prefix(2);
  if (!line.starts_with(boundary)) return Line::other;
  line.remove_prefix(boundary.size());
  auto kind = Line::delimiter;
  if (line.starts_with("--")) {
    kind = Line::closing;
    line.remove_prefix(2);
  }
  return line.find_first_not_of(" \t\r") == std::string_view::npos ? kind : Line::doubtful;
}

// Where the part before a delimiter ends: the line end belongs to the delimiter.
std::size_t without_line_end(std::string_view body, std::size_t begin, std::size_t end) noexcept {
  if (end > begin && body[end - 1] == '\n') --end;
  if (end > begin && body[end - 1] == '\r') --end;
  return end;
}

}  // namespace

std::optional<MultipartBody> split_multipart(std::string_view body, std::string_view boundary,
                                             std::size_t limit) {
  MultipartBody result;
  bool inside = false;
  std::size_t part_begin = 0;
  std::size_t next = 0;
  for (std::size_t begin = 0; begin < body.size(); begin = next) {
    const auto end = body.find('\n', begin);
    next = end == std::string_view::npos ? body.size() : end + 1;
    const auto kind =
        classify(body.substr(begin, (end == std::string_view::npos ? next : end) - begin), boundary);
    if (kind == Line::other || (kind == Line::doubtful && inside)) continue;
    if (kind == Line::doubtful || result.complete || (kind == Line::closing && !inside)) return std::nullopt;
    const auto part_end = without_line_end(body, part_begin, begin);
    const auto before = body.substr(part_begin, part_end - part_begin);
    if (!inside) {
      result.preamble = before;
    } else if (result.parts.size() == limit) {
      return std::nullopt;
    } else {
      result.parts.push_back(before);
    }
    inside = kind == Line::delimiter;
    result.complete = kind == Line::closing;
    part_begin = next;
  }
  if (inside) {
    if (result.parts.size() == limit) return std::nullopt;
    result.parts.push_back(body.substr(part_begin));
  } else if (!result.complete) {
    return std::nullopt;
  } else {
    result.epilogue = body.substr(part_begin);
  }
  return result;
}

}  // namespace mailonce::message
