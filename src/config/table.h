// Reads one TOML table into options. Each reading call takes the key if it is there, leaves the option at its
// default if it is not, and reports a value that can not be used; finish() reports the keys that nobody asked
// for. So every mistake of a file is found in one run, and every key that exists is a key that is read.
#pragma once
#include <toml++/toml.h>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mailonce/base/clock.h"
#include "mailonce/config/problem.h"
#include "mailonce/config/values.h"

namespace mailonce::config {

// A key's value as a word, with what it stands for.
template <class E>
using Choices = std::initializer_list<std::pair<std::string_view, E>>;

class Table {
 public:
  // `path` is the table's own key, empty for the file; `file` and `report` outlive the table.
  Table(const toml::table& table, std::string path, const std::string& file, Report& report);

  // A string made into a value by `parse` (text → Parsed<T>). True: `into` was set.
  template <class T, class Parse>
  bool value(std::string_view key, T& into, Parse parse);
  template <class T, class Parse>
  void list(std::string_view key, std::vector<T>& into, Parse parse);
  template <class E>
  void choice(std::string_view key, E& into, Choices<E> choices);
  bool text(std::string_view key, std::string& into);
  void flag(std::string_view key, bool& into);
  // Bounds are inclusive.
  void duration(std::string_view key, milliseconds& into, milliseconds least, milliseconds most);
  template <std::unsigned_integral T>
  void octets(std::string_view key, T& into, std::uint64_t least, std::uint64_t most);
  template <std::unsigned_integral T>
  void count(std::string_view key, T& into, std::uint64_t least, std::uint64_t most);

  std::optional<Table> table(std::string_view key);  // [key]
  std::vector<Table> tables(std::string_view key);   // [[key]]
  // Strings of a list with their place, for values that are more than one option.
  struct Item {
    std::string text;
    std::string key;  // "allow[0]"
    const toml::node* node;
  };
  std::vector<Item> items(std::string_view key);
  std::vector<Item> one_or_more(std::string_view key);  // a string stands for a list of one
  std::vector<std::string> keys() const;

  bool has(std::string_view key) const { return table_->contains(key); }
  // A key that must not be here, because its value would be a secret: reported without the value.
  void forbid(std::string_view key, const Mistake& mistake);
  void missing(std::string_view key, const Mistake& mistake);  // reported at the table's own place
  void error(std::string_view key, const Mistake& mistake);    // about this key's value
  void warning(std::string_view key, const Mistake& mistake);
  void error(const Item& item, const Mistake& mistake);
  void finish();
  std::size_t errors() const noexcept { return report_->errors.size(); }

 private:
  const toml::node* find(std::string_view key);
  std::optional<std::string> string(std::string_view key, std::string_view wanted);
  std::optional<std::uint64_t> bounded_octets(std::string_view key, std::uint64_t least, std::uint64_t most);
  std::optional<std::uint64_t> bounded_count(std::string_view key, std::uint64_t least, std::uint64_t most);
  void no_such_choice(std::string_view key, const std::vector<std::string_view>& words);
  Problem problem(std::string_view key, const toml::node& node, const Mistake& mistake) const;
  std::string full(std::string_view key) const;
  std::string place(const toml::source_region& source) const;

  const toml::table* table_;
  std::string path_;
  const std::string* file_;
  Report* report_;
  std::vector<std::string> known_;
};

template <class T, class Parse>
bool Table::value(std::string_view key, T& into, Parse parse) {
  const auto text = string(key, "a string");
  if (!text) return false;
  auto parsed = parse(std::string_view(*text));
  if (!parsed) {
    error(key, parsed.error());
    return false;
  }
  into = std::move(*parsed);
  return true;
}

template <class T, class Parse>
void Table::list(std::string_view key, std::vector<T>& into, Parse parse) {
  if (!has(key)) {
    find(key);
    return;
  }
  into.clear();
  for (const auto& item : items(key)) {
    auto parsed = parse(std::string_view(item.text));
    if (parsed) {
      into.push_back(std::move(*parsed));
    } else {
      error(item, parsed.error());
    }
  }
}

template <class E>
void Table::choice(std::string_view key, E& into, Choices<E> choices) {
  const auto text = string(key, "a string");
  if (!text) return;
  std::vector<std::string_view> words;
  for (const auto& [word, meaning] : choices) {
    if (word == *text) {
      into = meaning;
      return;
    }
    words.push_back(word);
  }
  no_such_choice(key, words);
}

template <std::unsigned_integral T>
void Table::octets(std::string_view key, T& into, std::uint64_t least, std::uint64_t most) {
  if (const auto number = bounded_octets(key, least, most)) into = static_cast<T>(*number);
}

template <std::unsigned_integral T>
void Table::count(std::string_view key, T& into, std::uint64_t least, std::uint64_t most) {
  if (const auto number = bounded_count(key, least, most)) into = static_cast<T>(*number);
}

}  // namespace mailonce::config
