#include "mailonce/message/content_field.h"

#include <algorithm>
#include <map>

#include "mailonce/base/encoding.h"
#include "mailonce/message/charset.h"
#include "mailonce/message/header_fields.h"
#include "mailonce/message/header_value.h"

namespace mailonce::message {
namespace {

// RFC 2231 §3, §4: name*, name*0, name*0*.
struct Section {
  std::string value;
  bool extended = false;
};
struct Sections {
  std::optional<std::string> plain;
  std::map<std::size_t, Section> numbered;  // "name*" counts as section 0 of one
};

class FieldParser {
 public:
  explicit FieldParser(std::string_view text) : text_(text) {}

  std::optional<ContentField> parse() {
    ContentField field;
    skip_space();
    field.value = to_lower_ascii(take_until(" \t;("));
    skip_space();
    if (field.value.empty() || !is_ascii(field.value)) return std::nullopt;
    while (!at_end()) {
      if (!take(';')) return std::nullopt;
      skip_space();
      if (at_end()) break;  // a last ";" is common and says nothing
      if (peek() == ';') continue;
      if (!parse_parameter()) return std::nullopt;
      skip_space();
    }
    if (malformed_ || !assemble(field)) return std::nullopt;
    return field;
  }

 private:
  bool at_end() const { return position_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[position_]; }
  bool take(char c) {
    if (peek() != c || at_end()) return false;
    ++position_;
    return true;
  }
  std::string_view take_until(std::string_view stops) {
    const auto begin = position_;
    position_ = std::min(text_.find_first_of(stops, begin), text_.size());
    return text_.substr(begin, position_ - begin);
  }

  // White space and comments, which nest (RFC 5322 §3.2.2).
  void skip_space() {
    std::size_t depth = 0;
    for (; !at_end(); ++position_) {
      const char c = peek();
      if (c == '(') {
        ++depth;
      } else if (depth > 0 && c == ')') {
        --depth;
      } else if (depth > 0 && c == '\\' && position_ + 1 < text_.size()) {
        ++position_;
      } else if (depth == 0 && c != ' ' && c != '\t') {
        return;
      }
    }
    malformed_ = malformed_ || depth > 0;
  }

  bool parse_parameter() {
    const auto name = to_lower_ascii(take_until(" \t=;\"("));
    skip_space();
    if (name.empty() || !is_ascii(name) || !take('=')) return false;
    skip_space();
    std::string value;
    if (take('"')) {
      if (!take_quoted(value)) return false;
    } else {
      // Values with "/", "=" or ":" outside quotes are no tokens (RFC 2045), but everybody reads them alike.
      value = take_until(" \t;\"(),<>\\");
      if (value.empty()) return false;
    }
    return add(name, std::move(value));
  }

  bool take_quoted(std::string& value) {
    while (!at_end()) {
      char c = text_[position_++];
      if (c == '"') return true;
      if (c == '\\') {
        if (at_end()) return false;
        c = text_[position_++];
      }
      value += c;
    }
    return false;
  }

  bool add(std::string_view name, std::string value) {
    const auto star = name.find('*');
    auto& sections = parameters_[std::string(name.substr(0, star))];
    if (star == std::string_view::npos) {
      if (sections.plain) return false;
      sections.plain = std::move(value);
      return true;
    }
    auto rest = name.substr(star + 1);
    Section section{std::move(value), rest.empty() || rest.ends_with('*')};
    if (rest.ends_with('*')) rest.remove_suffix(1);
    std::size_t number = 0;
    if (rest.size() > 3 || (rest.empty() && name.size() != star + 1)) return false;
    for (const char c : rest) {
      if (c < '0' || c > '9') return false;
      number = number * 10 + static_cast<std::size_t>(c - '0');
    }
    return sections.numbered.emplace(number, std::move(section)).second;
  }

  bool assemble(ContentField& field) {
    for (auto& [name, sections] : parameters_) {
      auto value = sections.numbered.empty() ? plain_value(*sections.plain) : joined(sections.numbered);
      if (!value || name.empty()) return false;
      field.parameters.emplace_back(name, std::move(*value));
    }
    return true;
  }

  static std::optional<std::string> plain_value(const std::string& value) {
    if (!is_utf8(value)) return std::nullopt;
    if (value.find("=?") == std::string::npos) return value;
    auto decoded = read_header_value(value, FieldSyntax::unstructured);
    if (decoded.reading == Reading::raw) return std::nullopt;
    return std::move(decoded.text);
  }

  static std::optional<std::string> joined(const std::map<std::size_t, Section>& numbered) {
    std::string bytes;
    std::string charset = "utf-8";
    std::size_t expected = 0;
    for (const auto& [number, section] : numbered) {
      if (number != expected++) return std::nullopt;
      std::string_view value = section.value;
      if (section.extended && number == 0) {
        const auto charset_end = value.find('\'');
        const auto language_end =
            charset_end == std::string_view::npos ? charset_end : value.find('\'', charset_end + 1);
        if (language_end == std::string_view::npos) return std::nullopt;
        if (charset_end > 0) charset = value.substr(0, charset_end);
        value.remove_prefix(language_end + 1);
      }
      if (!section.extended) {
        bytes += value;
      } else if (!append_percent_decoded(value, bytes)) {
        return std::nullopt;
      }
    }
    std::string scratch;
    const auto text = to_utf8(bytes, charset, scratch);
    if (!text) return std::nullopt;
    return std::string(*text);
  }

  static bool append_percent_decoded(std::string_view value, std::string& out) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (std::size_t i = 0; i < value.size(); ++i) {
      if (value[i] != '%') {
        out += value[i];
        continue;
      }
      if (value.size() - i < 3) return false;
      const auto high = digits.find(to_lower_ascii(value[i + 1]));
      const auto low = digits.find(to_lower_ascii(value[i + 2]));
      if (high == std::string_view::npos || low == std::string_view::npos) return false;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
    return true;
  }

  std::string_view text_;
  std::size_t position_ = 0;
  bool malformed_ = false;
  std::map<std::string, Sections> parameters_;
};

}  // namespace

std::string_view ContentField::parameter(std::string_view name) const noexcept {
  for (const auto& [key, text] : parameters)
    if (key == name) return text;
  return {};
}

std::optional<ContentField> parse_content_field(std::string_view raw) {
  std::string scratch;
  return FieldParser(unfold(raw, scratch)).parse();
}

}  // namespace mailonce::message
