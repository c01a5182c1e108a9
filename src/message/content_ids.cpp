#include "mailonce/message/content_ids.h"

#include <algorithm>

#include "mailonce/base/encoding.h"
#include "mailonce/message/header_fields.h"

namespace mailonce::message {
namespace {

std::string percent_decoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && text.size() - i > 2) {
      const auto high = digits.find(to_lower_ascii(text[i + 1]));
      const auto low = digits.find(to_lower_ascii(text[i + 2]));
      if (high != std::string_view::npos && low != std::string_view::npos) {
        out += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

void append_number(std::size_t number, std::string& out) {
  out += '\xff';
  out += std::to_string(number);
  out += '\xff';
}

std::size_t find_scheme(std::string_view html, std::size_t from) {
  for (auto colon = html.find(':', from); colon != std::string_view::npos;
       colon = html.find(':', colon + 1)) {
    if (colon >= from + 3 && equals_ignoring_case(html.substr(colon - 3, 3), "cid")) return colon + 1;
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t ContentIds::add(std::string_view field_value) {
  auto id = trim(field_value);
  if (id.starts_with('<') && id.ends_with('>') && id.size() >= 2) id = id.substr(1, id.size() - 2);
  if (id.empty()) return 0;
  return numbers_.emplace(id, numbers_.size() + 1).first->second;
}

std::size_t ContentIds::find(std::string_view url_encoded) const {
  const auto found = numbers_.find(percent_decoded(url_encoded));
  return found == numbers_.end() ? 0 : found->second;
}

std::string_view ContentIds::number_references(std::string_view html, std::string& scratch) const {
  if (empty()) return html;
  scratch.clear();
  std::size_t copied = 0;
  for (auto begin = find_scheme(html, 0); begin != std::string_view::npos; begin = find_scheme(html, begin)) {
    const auto end = std::min(html.find_first_of(" \t\r\n\"'<>()&;,\\", begin), html.size());
    const auto number = find(html.substr(begin, end - begin));
    if (number != 0) {
      scratch.append(html, copied, begin - copied);
      append_number(number, scratch);
      copied = end;
    }
    begin = end;
  }
  if (copied == 0) return html;
  scratch.append(html, copied);
  return scratch;
}

std::string ContentIds::number_file_name(std::string_view name) const {
  constexpr std::size_t longest_identifier = 998;  // a line (RFC 5322 §2.1.1)
  const auto at = name.find('@');
  if (empty() || at == std::string_view::npos || name.size() > longest_identifier) return std::string(name);
  // The identifier as the whole name, or before any of its extensions.
  for (auto end = name.size(); end != std::string_view::npos && end > at; end = name.rfind('.', end - 1)) {
    const auto found = numbers_.find(std::string(name.substr(0, end)));
    if (found == numbers_.end()) continue;
    std::string numbered;
    append_number(found->second, numbered);
    return numbered.append(name.substr(end));
  }
  return std::string(name);
}

}  // namespace mailonce::message
