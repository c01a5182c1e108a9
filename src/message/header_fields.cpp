#include "mailonce/message/header_fields.h"

#include <algorithm>

namespace mailonce::message {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view without_line_end(std::string_view line) {
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// RFC 5322 §2.2: printable US-ASCII without the colon. White space before the colon is the obsolete form
// (§4.5).
std::string_view field_name(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  auto name = line.substr(0, colon);
  while (!name.empty() && is_blank(name.back())) name.remove_suffix(1);
  const bool printable = std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 127; });
  return printable ? name : std::string_view{};
}

}  // namespace

std::size_t HeaderScanner::line_end(std::size_t from) const noexcept {
  const auto end = message_.find('\n', from);
  return end == std::string_view::npos ? message_.size() : end + 1;
}

bool HeaderScanner::next(HeaderField& field) {
  while (!ended_ && position_ < message_.size()) {
    const auto begin = position_;
    const auto first_end = line_end(begin);
    const auto first_line = without_line_end(message_.substr(begin, first_end - begin));
    position_ = first_end;
    if (first_line.empty()) {
      ended_ = true;
      return false;
    }
    while (position_ < message_.size() && is_blank(message_[position_])) position_ = line_end(position_);
    const auto name = field_name(first_line);
    if (name.empty()) {
      well_formed_ = false;
      continue;
    }
    field.name = name;
    field.raw = message_.substr(begin, position_ - begin);
    field.value = without_line_end(field.raw.substr(first_line.find(':') + 1));
    return true;
  }
  return false;
}

HeaderBlock scan_fields(std::string_view message, std::size_t limit) {
  HeaderBlock block;
  block.fields.reserve(16);
  HeaderScanner scanner(message);
  HeaderField field;
  while (scanner.next(field)) {
    if (block.fields.size() == limit) {
      block.well_formed = false;
      return block;
    }
    block.fields.push_back(field);
  }
  block.body = scanner.body();
  block.well_formed = scanner.well_formed();
  return block;
}

std::string_view trim(std::string_view text) noexcept {
  constexpr std::string_view space = " \t\r\n";
  const auto first = text.find_first_not_of(space);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(space) - first + 1);
}

std::string_view unfold(std::string_view value, std::string& scratch) {
  value = trim(value);
  if (value.find('\n') == std::string_view::npos) return value;
  scratch.clear();
  scratch.reserve(value.size());
  // Every line end inside a field is a fold: the scanner saw white space after it.
  while (!value.empty()) {
    const auto end = value.find('\n');
    const auto line = value.substr(0, end == std::string_view::npos ? end : end + 1);
    scratch.append(without_line_end(line));
    value.remove_prefix(line.size());
  }
  return scratch;
}

}  // namespace mailonce::message
