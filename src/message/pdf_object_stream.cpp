#include "pdf_object_stream.h"

#include <algorithm>
#include <charconv>

namespace mailonce::message {
namespace {

// ISO 32000-1 §7.2.2.
constexpr std::string_view white_space("\0\t\n\f\r ", 6);
constexpr std::string_view delimiters = "()<>[]{}/%";

bool is_one_of(std::string_view set, char c) {
  return set.find(c) != std::string_view::npos;
}

bool take_number(std::string_view& text, std::size_t& number) {
  text.remove_prefix(std::min(text.find_first_not_of(white_space), text.size()));
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return text.empty() || is_one_of(white_space, text.front());
}

// Brackets, strings and comments that are opened in `text` are closed in it, and it is not blank.
class Balance {
 public:
  explicit Balance(std::string_view text) : text_(text) {}

  bool holds() {
    bool blank = true;
    for (; at_ < text_.size(); ++at_) {
      const auto c = text_[at_];
      if (is_one_of(white_space, c)) continue;
      if (c == '%') {
        at_ = text_.find_first_of("\r\n", at_);
        if (at_ == std::string_view::npos) return false;
        continue;
      }
      blank = false;
      if (!take(c)) return false;
    }
    return depth_ == 0 && !blank;
  }

 private:
  bool take(char c) {
    const bool doubled = at_ + 1 < text_.size() && text_[at_ + 1] == c;
    switch (c) {
      case '(':
        return take_string();
      case '[':
        ++depth_;
        return true;
      case ']':
        return depth_-- > 0;
      case '<':
        if (!doubled) {
          at_ = text_.find('>', at_);
          return at_ != std::string_view::npos;
        }
        ++at_;
        ++depth_;
        return true;
      case '>':
        ++at_;
        return doubled && depth_-- > 0;
      default:
        return c != ')';
    }
  }

  bool take_string() {
    int open = 0;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == '(') {
        ++open;
      } else if (text_[at_] == ')' && --open == 0) {
        return true;
      }
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

bool is_apart(char before, char behind) {
  return is_one_of(white_space, before) || is_one_of(delimiters, before) || is_one_of(white_space, behind) ||
         is_one_of(delimiters, behind);
}

}  // namespace

std::optional<std::vector<int>> read_object_stream(std::string_view data, std::size_t count,
                                                   std::size_t first) {
  if (first > data.size() || count > first) return std::nullopt;
  auto header = data.substr(0, first);
  const auto objects = data.substr(first);
  std::vector<int> numbers;
  std::vector<std::size_t> offsets;
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t number = 0;
    std::size_t offset = 0;
    constexpr std::size_t highest = 8388607;  // ISO 32000-1 annex C
    if (!take_number(header, number) || !take_number(header, offset) || number == 0 || number > highest)
      return std::nullopt;
    if (offset >= objects.size() || (!offsets.empty() && offset <= offsets.back())) return std::nullopt;
    if (offset > 0 && !is_apart(objects[offset - 1], objects[offset])) return std::nullopt;
    numbers.push_back(static_cast<int>(number));
    offsets.push_back(offset);
  }
  for (std::size_t i = 0; i < count; ++i) {
    const auto end = i + 1 < count ? offsets[i + 1] : objects.size();
    if (!Balance(objects.substr(offsets[i], end - offsets[i])).holds()) return std::nullopt;
  }
  auto sorted = numbers;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return std::nullopt;
  return numbers;
}

}  // namespace mailonce::message
