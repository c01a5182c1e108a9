#include "patterns.h"

namespace mailonce::config {
namespace {

Parsed<message::Pattern> parse_pattern(std::string_view text) {
  if (text.empty()) return Mistake{"is empty and would match nothing", "write \"*\" for everything"};
  if (text.size() < 2 || text.front() != '/' || text.back() != '/') return message::Pattern::glob(text);
  auto pattern = message::Pattern::regex(text.substr(1, text.size() - 2));
  if (!pattern) return Mistake{"is no regular expression: " + pattern.error(), "correct it (RE2 syntax)"};
  return std::move(*pattern);
}

}  // namespace

void read_patterns(Table& table, std::string_view key, Patterns& into) {
  const bool given = table.has(key);
  const auto errors_before = table.errors();
  for (const auto& item : table.one_or_more(key)) {
    auto pattern = parse_pattern(item.text);
    if (pattern) {
      into.push_back(std::move(*pattern));
    } else {
      table.error(item, pattern.error());
    }
  }
  if (given && into.empty() && table.errors() == errors_before) {
    table.error(key, {"holds no pattern, so that everything would match", "write one, or leave the key out"});
  }
}

}  // namespace mailonce::config
