// Any octets as a header: its fields are its octets, one after the other, and each reading of a field,
// written down again, reads the same. Encoded words may be cut anywhere.
#include <string>

#include "fuzz.h"
#include "mailonce/base/encoding.h"
#include "mailonce/message/charset.h"
#include "mailonce/message/content_field.h"
#include "mailonce/message/content_ids.h"
#include "mailonce/message/encoded_word.h"
#include "mailonce/message/header_fields.h"
#include "mailonce/message/header_value.h"

namespace {

using namespace mailonce::message;

using mailonce::fuzz::check;
using mailonce::fuzz::hex_encoded;

void fields_are_the_octets(const HeaderBlock& block, std::string_view message) {
  std::string together;
  for (const auto& field : block.fields) {
    check(!field.name.empty() && field.raw.starts_with(field.name));
    check(field.value.size() < field.raw.size() && field.raw.find(field.value) != std::string_view::npos);
    together += field.raw;
  }
  check(message.ends_with(block.body));
  if (!block.well_formed) return;
  check(message.starts_with(together));
  const auto end = message.substr(together.size(), message.size() - together.size() - block.body.size());
  check(end == "\r\n" || end == "\n" || end == "\r" || end.empty());
  const auto again = scan_fields(together, block.fields.size());
  check(again.well_formed && again.fields.size() == block.fields.size());
}

void is_unfolded(std::string_view value) {
  std::string scratch;
  const auto once = unfold(value, scratch);
  check(once.find('\n') == std::string_view::npos && trim(once) == once);
}

bool is_one_line(std::string_view text) {
  return text.find_first_of("\t\r\n") == std::string_view::npos &&
         text.find("  ") == std::string_view::npos && trim(text) == text;
}

std::string encoded_words(std::string_view text, std::size_t piece, char encoding) {
  std::string out;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    const auto octets = text.substr(0, piece);
    out += std::string(out.empty() ? "" : " ") + "=?UTF-8?" + encoding + "?" +
           (encoding == 'B' ? mailonce::to_base64(octets) : hex_encoded(octets, '=')) + "?=";
  }
  return out;
}

void value_reads_again(std::string_view raw, FieldSyntax syntax) {
  const auto value = read_header_value(raw, syntax);
  check(is_one_line(value.text));
  if (value.reading == Reading::raw) return;
  check(is_utf8(value.text));
  if (value.text.empty()) return;
  const auto whole = read_header_value(encoded_words(value.text, value.text.size(), 'B'), syntax);
  check(whole.reading == Reading::decoded);
  if (syntax == FieldSyntax::unstructured) check(whole.text == value.text);
  check(read_header_value(encoded_words(value.text, 1, 'Q'), syntax).text == whole.text);
  check(read_header_value(encoded_words(value.text, 5, 'B'), syntax).text == whole.text);
}

void content_field_reads_again(std::string_view raw) {
  const auto field = parse_content_field(raw);
  if (!field) return;
  // A comment and a semicolon keep what unfold() would trim.
  std::string written = "()" + field->value + ";";
  for (const auto& [name, value] : field->parameters) {
    check(is_utf8(value));
    written += " " + name + "*=utf-8''" + hex_encoded(value, '%') + ";";
  }
  const auto again = parse_content_field(written);
  check(again && again->value == field->value && again->parameters == field->parameters);
}

void encoded_word_is_part_of(std::string_view value) {
  for (auto at = value.find("=?"); at != std::string_view::npos; at = value.find("=?", at + 1)) {
    const auto result = parse_encoded_word(value.substr(at));
    if (!result.word) continue;
    const auto& word = *result.word;
    check(result.is_word && word.length <= value.size() - at && word.bytes.size() < word.length);
    check(value.substr(at, word.length).ends_with("?="));
  }
}

// Every field as a Content-ID.
void identifiers_are_numbered(const HeaderBlock& block) {
  constexpr std::size_t most = 20;
  ContentIds ids;
  std::size_t used = 0;
  for (const auto& field : block.fields) {
    if (used++ == most) break;
    const auto number = ids.add(field.value);
    auto id = trim(field.value);
    if (id.size() >= 2 && id.starts_with('<') && id.ends_with('>')) id = id.substr(1, id.size() - 2);
    check((number == 0) == id.empty() && number <= used && ids.add(field.value) == number);
    if (number == 0) continue;
    const auto reference = "\xff" + std::to_string(number) + "\xff";
    std::string scratch;
    check(ids.number_references("<img src='CID:" + hex_encoded(id, '%') + "'>", scratch) ==
          "<img src='CID:" + reference + "'>");
    if (id.find('@') != std::string_view::npos && id.size() <= 998)
      check(ids.number_file_name(id) == reference);
    check(ids.number_file_name("logo.png") == "logo.png");
  }
  std::string scratch;
  if (ids.number_references(block.body, scratch) != block.body) check(!ids.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto message = mailonce::fuzz::text(data, size);
  const auto block = scan_fields(message, 1000);
  fields_are_the_octets(block, message);
  for (const auto& field : block.fields) {
    is_unfolded(field.value);
    value_reads_again(field.value, FieldSyntax::unstructured);
    value_reads_again(field.value, FieldSyntax::structured);
    content_field_reads_again(field.value);
    encoded_word_is_part_of(field.value);
  }
  identifiers_are_numbered(block);
  return 0;
}
