#include "mailonce/message/recording_sink.h"

#include "mailonce/base/encoding.h"
#include "mailonce/message/charset.h"

namespace mailonce::message {
namespace {

std::string taken_as_bytes(std::string_view label) {
  return "taken as bytes: " + std::string(label);
}

// Octets of the number between two 0xFF at `begin`, the marks included; 0 when there is none.
std::size_t numbered_length(std::string_view text, std::size_t begin) {
  constexpr std::size_t most_digits = 20;
  const auto end = text.substr(begin, most_digits + 2).find('\xff', 1);
  if (text[begin] != '\xff' || end == std::string_view::npos) return 0;
  const auto number = text.substr(begin + 1, end - 1);
  return number.find_first_not_of("0123456789") == std::string_view::npos ? end + 1 : 0;
}

bool is_control(char c) {
  return (static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t') || c == 127;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    if (const auto numbered = numbered_length(text, i); numbered > 0) {
      out.append("[content-id ").append(text.substr(i + 1, numbered - 2)).append("]");
      i += numbered;
      continue;
    }
    std::size_t octets = 1;
    while (octets <= 4 && i + octets <= text.size() && !is_utf8(text.substr(i, octets))) ++octets;
    const bool whole = octets <= 4 && i + octets <= text.size();
    if (!whole || is_control(text[i])) {
      const auto octet = static_cast<unsigned char>(text[i]);
      out.append("\\x").append(to_hex({&octet, 1}));
      ++i;
      continue;
    }
    out.append(text, i, octets);
    i += octets;
  }
  return out;
}

std::string RecordingSink::next_number() {
  auto& level = levels_.back();
  return level.prefix + std::to_string(++level.children);
}

// As a person would point to it: "HTML text", "text 2", "attachment 1 report.pdf".
std::string RecordingSink::name_of(const Leaf& leaf) {
  const bool attached = !leaf.file_name.empty() || leaf.disposition == "attachment";
  const auto type = leaf.type.substr(0, leaf.type.find(';'));
  std::string kind = "attachment";
  if (!attached && type == "text/plain") kind = "text";
  if (!attached && type == "text/html") kind = "HTML text";
  if (!attached && type == "text/calendar") kind = "calendar";
  if (type == "message/rfc822") kind = "attached message";
  const auto number = ++names_[kind];
  std::string name = levels_.back().name_prefix + kind;
  if (number > 1 || kind.starts_with("attach")) name += ' ' + std::to_string(number);
  if (!leaf.file_name.empty()) return name.append(" ").append(printable(leaf.file_name));
  if (kind == "attachment" && !type.empty()) name.append(" (").append(printable(type)).append(")");
  return name;
}

RecordedItem& RecordingSink::add(const Place& place, std::string_view what, std::string_view value,
                                 std::string_view why) {
  RecordedItem item;
  item.key = place.key + ' ' + to_lower_ascii(what);
  item.key += ' ' + std::to_string(++occurrences_[item.key]);
  item.exact = value;
  item.shown = {true, place.name, std::string(what), printable(value), std::string(why)};
  return items_.emplace_back(std::move(item));
}

void RecordingSink::header(std::string_view name, std::string_view value, Reading reading) {
  const bool raw = reading == Reading::raw;
  add(levels_.back().place, name, value, raw ? taken_as_bytes("encoded word or 8-bit octets") : "");
}

void RecordingSink::add_leaf(const Place& place, const Leaf& leaf) {
  add(place, "type", leaf.type);
  if (!leaf.disposition.empty()) add(place, "disposition", leaf.disposition);
  if (!leaf.file_name.empty()) add(place, "file name", leaf.file_name);
  if (leaf.content_id != 0) add_content_id(place, leaf.content_id);
}

void RecordingSink::add_content_id(const Place& place, std::size_t number) {
  add(place, "Content-ID", std::to_string(number), "counts by its number in order of appearance");
}

void RecordingSink::open_message(const Leaf& leaf) {
  const auto number = next_number();
  const auto name = name_of(leaf);
  add_leaf({"part " + number, name}, leaf);
  levels_.push_back({number + ".", name + ", ", {"part " + number + " header", name + " header"}, 0, true});
}

void RecordingSink::open_multipart(std::string_view subtype, std::size_t content_id) {
  auto level = levels_.back();
  if (!level.message_root) {
    const auto number = next_number();
    level.prefix = number + ".";
    level.place = {"part " + number, "part " + number};
  } else if (level.place.key == "header") {
    level.place = {"message", "message"};
  } else {
    const auto number = level.prefix.substr(0, level.prefix.size() - 1);
    level.place = {"part " + number, level.name_prefix.substr(0, level.name_prefix.size() - 2)};
  }
  add(level.place, "multipart", subtype);
  if (content_id != 0) add_content_id(level.place, content_id);
  level.children = 0;
  level.message_root = false;
  levels_.push_back(std::move(level));
}

void RecordingSink::close(bool complete) {
  if (!complete) add(levels_.back().place, "end", "missing", "the closing delimiter is not there");
  levels_.pop_back();
}

void RecordingSink::open_leaf(const Leaf& leaf) {
  leaf_place_ = {"part " + next_number(), name_of(leaf)};
  leaf_why_ = leaf.reading == Reading::raw ? taken_as_bytes(leaf.label) : "";
  add_leaf(leaf_place_, leaf);
  leaf_is_text_ = leaf.reading == Reading::text;
  leaf_is_document_ = leaf.reading == Reading::document;
  in_leaf_ = true;
  text_.clear();
  octets_ = 0;
  hasher_ = Hasher();
}

void RecordingSink::content(std::string_view octets) {
  if (leaf_is_text_) {
    text_ += octets;
  } else {
    octets_ += octets.size();
    hasher_.update(octets);
  }
}

void RecordingSink::document_item(std::string_view name, const Digest& digest) {
  add(leaf_place_, printable(name), "sha256 " + digest.hex()).is_digest = true;
}

void RecordingSink::close_leaf() {
  in_leaf_ = false;
  if (leaf_is_document_) return;
  if (leaf_is_text_) {
    add(leaf_place_, "text", text_).is_text = true;
  } else {
    const auto value = std::to_string(octets_) + " octets, sha256 " + hasher_.finish().hex();
    add(leaf_place_, "content", value, leaf_why_).is_digest = true;
  }
}

void RecordingSink::dropped(std::string_view what, std::string_view value, std::string_view why) {
  constexpr std::size_t enough = 400;
  const bool long_value = value.size() > enough;
  const auto shown = std::string(value.substr(0, enough)) + (long_value ? " …" : "");
  auto& item = add(in_leaf_ ? leaf_place_ : levels_.back().place, what, shown, why);
  item.exact = value;
  item.shown.counts = false;
}

}  // namespace mailonce::message
