#include "table.h"

#include <algorithm>

#include "mailonce/observe/escape.h"

namespace mailonce::config {
namespace {

std::string_view type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a string";
    case toml::node_type::integer:
      return "a number";
    case toml::node_type::floating_point:
      return "a fraction";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

// As a person would write it on one line, cut to a length that fits one.
std::string written(const toml::node& node) {
  constexpr std::size_t longest = 80;
  if (const auto* string = node.as_string()) {
    const auto text = printable_url(string->get());
    std::string out;
    observe::append_quoted(out, text.size() <= longest ? text : text.substr(0, longest) + "...");
    return out;
  }
  if (const auto* integer = node.as_integer()) return std::to_string(integer->get());
  if (const auto* boolean = node.as_boolean()) return boolean->get() ? "true" : "false";
  return {};
}

std::string quoted_list(const std::vector<std::string_view>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " or " : ", ";
    out += '"' + std::string(words[i]) + '"';
  }
  return out;
}

// A number where a quantity with its unit is wanted is the likeliest mistake: the cure repeats the number.
Mistake wrong_type(const toml::node& node, std::string_view wanted, std::string_view unit) {
  if (const auto* integer = node.as_integer(); integer && !unit.empty()) {
    return {"is a number without its unit",
            "write \"" + std::to_string(integer->get()) + std::string(unit) + "\""};
  }
  return {"is " + std::string(type_name(node)), "write " + std::string(wanted)};
}

}  // namespace

Table::Table(const toml::table& table, std::string path, const std::string& file, Report& report)
    : table_(&table), path_(std::move(path)), file_(&file), report_(&report) {}

const toml::node* Table::find(std::string_view key) {
  known_.emplace_back(key);
  return table_->get(key);
}

std::string Table::full(std::string_view key) const {
  if (path_.empty() || key.empty()) return path_ + std::string(key);
  return path_ + "." + std::string(key);
}

std::string Table::place(const toml::source_region& source) const {
  return source.begin.line == 0 ? *file_ : *file_ + ":" + std::to_string(source.begin.line);
}

Problem Table::problem(std::string_view key, const toml::node& node, const Mistake& mistake) const {
  return {place(node.source()), full(key), written(node), mistake.reason, mistake.cure};
}

void Table::error(std::string_view key, const Mistake& mistake) {
  if (const auto* node = table_->get(key)) report_->errors.push_back(problem(key, *node, mistake));
}

void Table::error(const Item& item, const Mistake& mistake) {
  report_->errors.push_back(problem(item.key, *item.node, mistake));
}

void Table::warning(std::string_view key, const Mistake& mistake) {
  if (const auto* node = table_->get(key)) report_->warnings.push_back(problem(key, *node, mistake));
}

void Table::missing(std::string_view key, const Mistake& mistake) {
  report_->errors.push_back({place(table_->source()), full(key), "", mistake.reason, mistake.cure});
}

void Table::forbid(std::string_view key, const Mistake& mistake) {
  const auto* node = find(key);
  if (node == nullptr) return;
  report_->errors.push_back({place(node->source()), full(key), "", mistake.reason, mistake.cure});
}

std::optional<std::string> Table::string(std::string_view key, std::string_view wanted) {
  const auto* node = find(key);
  if (node == nullptr) return {};
  if (const auto* text = node->as_string()) return text->get();
  error(key, wrong_type(*node, wanted, {}));
  return {};
}

bool Table::text(std::string_view key, std::string& into) {
  auto text = string(key, "a string");
  if (!text) return false;
  into = std::move(*text);
  return true;
}

void Table::flag(std::string_view key, bool& into) {
  const auto* node = find(key);
  if (node == nullptr) return;
  if (const auto* boolean = node->as_boolean()) {
    into = boolean->get();
  } else {
    error(key, wrong_type(*node, "true or false, without quotes", {}));
  }
}

void Table::duration(std::string_view key, milliseconds& into, milliseconds least, milliseconds most) {
  const auto* node = find(key);
  if (node == nullptr) return;
  const auto* text = node->as_string();
  if (text == nullptr) return error(key, wrong_type(*node, "a duration, as in \"2h\"", "s"));
  const auto parsed = parse_duration(text->get());
  if (!parsed) return error(key, parsed.error());
  if (*parsed < least)
    return error(key, {"is too short", "write at least \"" + format_duration(least) + "\""});
  if (*parsed > most) return error(key, {"is too long", "write at most \"" + format_duration(most) + "\""});
  into = *parsed;
}

std::optional<std::uint64_t> Table::bounded_octets(std::string_view key, std::uint64_t least,
                                                   std::uint64_t most) {
  const auto* node = find(key);
  if (node == nullptr) return {};
  std::optional<std::uint64_t> none;
  const auto* text = node->as_string();
  if (text == nullptr) {
    error(key, wrong_type(*node, "a size, as in \"50MB\"", "B"));
    return none;
  }
  const auto parsed = parse_octets(text->get());
  if (!parsed) {
    error(key, parsed.error());
  } else if (*parsed < least) {
    error(key, {"is too small", "write at least \"" + format_octets(least) + "\""});
  } else if (*parsed > most) {
    error(key, {"is too large", "write at most \"" + format_octets(most) + "\""});
  } else {
    return *parsed;
  }
  return none;
}

std::optional<std::uint64_t> Table::bounded_count(std::string_view key, std::uint64_t least,
                                                  std::uint64_t most) {
  const auto* node = find(key);
  if (node == nullptr) return {};
  const auto range = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  const auto* integer = node->as_integer();
  if (integer == nullptr) {
    error(key, wrong_type(*node, range, {}));
    return {};
  }
  if (integer->get() < 0 || static_cast<std::uint64_t>(integer->get()) < least ||
      static_cast<std::uint64_t>(integer->get()) > most) {
    error(key, {"is out of range", "write " + range});
    return {};
  }
  return static_cast<std::uint64_t>(integer->get());
}

void Table::no_such_choice(std::string_view key, const std::vector<std::string_view>& words) {
  const auto* node = table_->get(key);
  const auto near = did_you_mean(node->as_string()->get(), words);
  error(key, {"is not one of " + quoted_list(words),
              near.empty() ? "write one of them" : "did you mean \"" + std::string(near) + "\"?"});
}

std::optional<Table> Table::table(std::string_view key) {
  const auto* node = find(key);
  if (node == nullptr) return {};
  if (const auto* table = node->as_table()) return Table(*table, full(key), *file_, *report_);
  error(key, wrong_type(*node, "a table, [" + full(key) + "]", {}));
  return {};
}

std::vector<Table> Table::tables(std::string_view key) {
  std::vector<Table> tables;
  const auto* node = find(key);
  if (node == nullptr) return tables;
  const auto* array = node->as_array();
  if (array == nullptr || !array->is_array_of_tables()) {
    error(key, wrong_type(*node, "[[" + full(key) + "]], with double brackets", {}));
    return tables;
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    tables.emplace_back(*array->get(i)->as_table(), full(key) + "[" + std::to_string(i) + "]", *file_,
                        *report_);
  }
  return tables;
}

std::vector<Table::Item> Table::items(std::string_view key) {
  std::vector<Item> items;
  const auto* node = find(key);
  if (node == nullptr) return items;
  const auto* array = node->as_array();
  if (array == nullptr) {
    error(key, wrong_type(*node, "a list of strings, as in [\"...\"]", {}));
    return items;
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    const auto& element = *array->get(i);
    Item item{"", std::string(key) + "[" + std::to_string(i) + "]", &element};
    if (const auto* text = element.as_string()) {
      item.text = text->get();
      items.push_back(std::move(item));
    } else {
      error(item, wrong_type(element, "a string", {}));
    }
  }
  return items;
}

std::vector<Table::Item> Table::one_or_more(std::string_view key) {
  const auto* node = table_->get(key);
  if (node == nullptr || !node->is_string()) return items(key);
  find(key);
  return {{node->as_string()->get(), std::string(key), node}};
}

std::vector<std::string> Table::keys() const {
  std::vector<std::string> out;
  for (const auto& [key, node] : *table_) out.emplace_back(key.str());
  return out;
}

void Table::finish() {
  const std::vector<std::string_view> candidates(known_.begin(), known_.end());
  for (const auto& [key, node] : *table_) {
    if (std::find(known_.begin(), known_.end(), key.str()) != known_.end()) continue;
    const auto near = did_you_mean(key.str(), candidates);
    const auto cure = near.empty() ? "see conf/mailonce.toml for the keys there are"
                                   : "did you mean \"" + std::string(near) + "\"?";
    // The value stays out: under a mistyped key it may be a secret.
    report_->errors.push_back({place(key.source()), full(key.str()), "", "is not a known key", cure});
  }
}

}  // namespace mailonce::config
