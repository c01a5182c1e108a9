#include "addresses.h"

#include "mailonce/base/encoding.h"
#include "mailonce/message/header_fields.h"

namespace mailonce::cli {
namespace {

// Behind the quoted string or comment that begins at `at`.
std::size_t behind_quotes(std::string_view text, std::size_t at) {
  const char end = text[at] == '"' ? '"' : ')';
  int depth = 1;
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == end) {
      if (--depth == 0) return at + 1;
    } else if (text[at] == '(' && end == ')') {
      ++depth;
    }
  }
  return text.size();
}

void keep_address(std::string& words, std::vector<std::string>& out) {
  const auto address = message::trim(words);
  if (address.find('@') != std::string_view::npos &&
      address.find_first_of(" \t\r\n") == std::string_view::npos)
    out.emplace_back(address);
  words.clear();
}

std::vector<std::string> addresses_of(std::string_view message, std::string_view name) {
  std::vector<std::string> out;
  message::HeaderScanner scanner(message);
  message::HeaderField field;
  while (scanner.next(field)) {
    if (!equals_ignoring_case(field.name, name)) continue;
    const auto found = addresses_in(field.value);
    out.insert(out.end(), found.begin(), found.end());
  }
  return out;
}

}  // namespace

std::vector<std::string> addresses_in(std::string_view field_value) {
  std::vector<std::string> out;
  std::string words;  // of the mailbox so far, or what stands in its angle brackets
  for (std::size_t i = 0; i < field_value.size();) {
    const char c = field_value[i];
    if (c == '(') {
      i = behind_quotes(field_value, i);
      continue;
    }
    if (c == '"') {
      const auto end = behind_quotes(field_value, i);
      words += field_value.substr(i, end - i);
      i = end;
      continue;
    }
    ++i;
    if (c == '<' || c == ':') {
      words.clear();
    } else if (c == '>') {
      keep_address(words, out);
    } else if (c == ',' || c == ';') {
      keep_address(words, out);
    } else {
      words += c;
    }
  }
  keep_address(words, out);
  return out;
}

smtp::Sender sender_of(std::string_view message) {
  for (const auto* name : {"Return-Path", "Sender", "From"}) {
    for (const auto& address : addresses_of(message, name)) {
      auto path = smtp::Address::parse_reverse_path("<" + address + ">");
      if (path) return {std::move(*path), {}, smtp::BodyType::unspecified};
    }
  }
  return {};
}

std::vector<smtp::Recipient> recipients_of(std::string_view message) {
  std::vector<smtp::Recipient> out;
  for (const auto* name : {"To", "Cc", "Bcc"}) {
    for (const auto& address : addresses_of(message, name)) {
      auto path = smtp::Address::parse_forward_path("<" + address + ">");
      if (path) out.push_back({std::move(*path)});
    }
  }
  return out;
}

}  // namespace mailonce::cli
