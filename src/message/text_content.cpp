#include "mailonce/message/text_content.h"

#include "mailonce/base/encoding.h"

namespace mailonce::message {

std::string_view with_lf_line_ends(std::string_view text, std::string& scratch) {
  auto end = text.find("\r\n");
  if (end == std::string_view::npos) return text;
  scratch.clear();
  scratch.reserve(text.size());
  std::size_t begin = 0;
  for (; end != std::string_view::npos; end = text.find("\r\n", begin)) {
    scratch.append(text, begin, end - begin);
    begin = end + 1;
  }
  scratch.append(text, begin);
  return scratch;
}

std::string_view without_trailing_blank_lines(std::string_view text) noexcept {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

std::string_view without_dtstamp(std::string_view text, std::string& scratch) {
  constexpr std::string_view name = "DTSTAMP";
  scratch.clear();
  std::size_t copied = 0;
  bool dropping = false;
  std::size_t next = 0;
  for (std::size_t begin = 0; begin < text.size(); begin = next) {
    const auto end = text.find('\n', begin);
    next = end == std::string_view::npos ? text.size() : end + 1;
    const auto line = text.substr(begin, next - begin);
    const bool fold = line.starts_with(' ') || line.starts_with('\t');
    if (!fold) {
      dropping = line.size() > name.size() && (line[name.size()] == ':' || line[name.size()] == ';') &&
                 equals_ignoring_case(line.substr(0, name.size()), name);
    }
    if (!dropping) continue;
    scratch.append(text, copied, begin - copied);
    copied = next;
  }
  if (copied == 0) return text;
  scratch.append(text, copied);
  return scratch;
}

}  // namespace mailonce::message
