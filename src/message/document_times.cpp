#include "mailonce/message/document_times.h"

#include <algorithm>

namespace mailonce::message {
namespace {

constexpr std::string_view blanks = " \t\r\n";

// Takes from the front what fits; `good` turns false for ever at what does not.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  Reader& digits(std::size_t count) {
    good_ = good_ && count <= rest_.size() &&
            std::all_of(rest_.begin(), rest_.begin() + static_cast<std::ptrdiff_t>(count),
                        [](char c) { return c >= '0' && c <= '9'; });
    if (good_) rest_.remove_prefix(count);
    return *this;
  }
  Reader& literal(char c) {
    good_ = maybe(c);
    return *this;
  }
  bool maybe(char c) {
    if (!good_ || rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool next_is_digit() const {
    return good_ && !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9';
  }
  bool ended() const { return good_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool good_ = true;
};

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

struct Attribute {
  std::string_view name;
  std::string_view value;
};

struct Tag {
  std::string_view name;  // with "/" before it: an end tag
  std::vector<Attribute> attributes;
  bool empty = false;
  std::size_t end = 0;  // behind ">"
};

bool is_name_octet(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ':' || c == '_' ||
         c == '-' || c == '.' || static_cast<unsigned char>(c) >= 0x80;
}

// XML 1.0 §3.1, of a tag that begins at `begin`; false when it is none.
class TagReader {
 public:
  TagReader(std::string_view xml, std::size_t begin) : xml_(xml), at_(begin + 1) {}

  bool read(Tag& tag) {
    tag.attributes.clear();
    tag.empty = false;
    const auto name_begin = at_;
    if (next_is('/')) ++at_;
    if (take_name().empty()) return false;
    tag.name = xml_.substr(name_begin, at_ - name_begin);
    for (;;) {
      const bool apart = skip_blanks();
      if (next_is('/')) {
        tag.empty = true;
        ++at_;
      }
      if (next_is('>')) break;
      Attribute attribute;
      if (tag.empty || !apart || !take_attribute(attribute)) return false;
      tag.attributes.push_back(attribute);
    }
    tag.end = at_ + 1;
    return true;
  }

 private:
  bool next_is(char c) const { return at_ < xml_.size() && xml_[at_] == c; }

  bool skip_blanks() {
    const auto begin = at_;
    at_ = std::min(xml_.find_first_not_of(blanks, at_), xml_.size());
    return at_ != begin;
  }
  std::string_view take_name() {
    const auto begin = at_;
    while (at_ < xml_.size() && is_name_octet(xml_[at_])) ++at_;
    return xml_.substr(begin, at_ - begin);
  }
  bool take_attribute(Attribute& attribute) {
    attribute.name = take_name();
    skip_blanks();
    if (attribute.name.empty() || !next_is('=')) return false;
    ++at_;
    skip_blanks();
    if (!next_is('"') && !next_is('\'')) return false;
    const auto quote = xml_[at_++];
    const auto end = xml_.find(quote, at_);
    if (end == std::string_view::npos) return false;
    attribute.value = xml_.substr(at_, end - at_);
    at_ = end + 1;
    return attribute.value.find('<') == std::string_view::npos;
  }

  std::string_view xml_;
  std::size_t at_;
};

// Copies XML without the values that do not count.
class TimeRemover {
 public:
  TimeRemover(std::string_view xml, const TimeNames& names, std::string& out,
              std::vector<DocumentTime>& left_out)
      : xml_(xml), names_(names), out_(out), left_out_(left_out) {}

  // False: not to be read without a whole parser.
  bool run() {
    Tag tag;
    for (auto at = xml_.find('<'); at != std::string_view::npos; at = xml_.find('<', at)) {
      if (xml_.substr(at).starts_with("<?")) {
        at = xml_.find("?>", at);
        if (at == std::string_view::npos) return false;
        continue;
      }
      if (!TagReader(xml_, at).read(tag)) return false;
      for (const auto& attribute : tag.attributes) leave_out(attribute.name, attribute.value);
      if (!tag.empty && !tag.name.starts_with('/')) leave_out_text(tag);
      at = tag.end;
    }
    out_.append(xml_.substr(copied_));
    return true;
  }

 private:
  void leave_out_text(const Tag& tag) {
    const auto rest = xml_.substr(tag.end);
    const auto text = rest.substr(0, rest.find('<'));
    const auto behind = rest.substr(text.size());
    if (!behind.starts_with("</") || !behind.substr(2).starts_with(tag.name)) return;
    leave_out(property_of(tag), text);
  }

  // EPUB 3 §5.3.7, OpenDocument 1.3 part 3 §3.10.
  static std::string_view property_of(const Tag& tag) {
    const bool is_meta = tag.name == "meta" || tag.name == "opf:meta";
    const bool is_setting = tag.name == "config:config-item";
    for (const auto& attribute : tag.attributes)
      if ((is_meta && attribute.name == "property") || (is_setting && attribute.name == "config:name"))
        return attribute.value;
    return tag.name;
  }

  void leave_out(std::string_view name, std::string_view value) {
    const bool is_time = contains(names_.times, name) && is_date_time(value);
    const bool is_identifier = contains(names_.identifiers, name) && is_uuid(value);
    const bool is_session = contains(names_.numbers, name) && Reader(value).digits(value.size()).ended();
    if (!is_time && !is_identifier && !(is_session && !value.empty())) return;
    const auto begin = static_cast<std::size_t>(value.data() - xml_.data());
    out_.append(xml_.substr(copied_, begin - copied_)).push_back('\xff');
    copied_ = begin + value.size();
    if (left_out_.size() < DocumentLimits::shown_times)
      left_out_.push_back({std::string(name), std::string(value)});
  }

  std::string_view xml_;
  const TimeNames& names_;
  std::string& out_;
  std::vector<DocumentTime>& left_out_;
  std::size_t copied_ = 0;
};

}  // namespace

bool is_date_time(std::string_view text) noexcept {
  Reader reader(text);
  reader.digits(4).literal('-').digits(2).literal('-').digits(2).literal('T').digits(2).literal(':').digits(
      2);
  if (reader.maybe(':')) {
    reader.digits(2);
    if (reader.maybe('.'))
      for (reader.digits(1); reader.next_is_digit();) reader.digits(1);
  }
  if (!reader.maybe('Z') && (reader.maybe('+') || reader.maybe('-'))) reader.digits(2).literal(':').digits(2);
  return reader.ended();
}

bool is_pdf_date(std::string_view text) noexcept {
  Reader reader(text);
  reader.literal('D').literal(':').digits(14);
  if (reader.ended()) return true;
  if (!reader.maybe('Z') && !reader.maybe('+')) reader.literal('-');
  if (reader.next_is_digit()) reader.digits(2);
  // LibreOffice writes "Z'".
  if (reader.maybe('\'') && reader.next_is_digit()) reader.digits(2).maybe('\'');
  return reader.ended();
}

bool is_uuid(std::string_view text) noexcept {
  for (const std::string_view prefix : {"urn:", "uuid:", "xmp.did:", "xmp.iid:"})
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  constexpr std::size_t digits = 32;
  std::size_t hexadecimal = 0;
  for (const char c : text) {
    if (c == '-') continue;
    if (std::string_view("0123456789abcdefABCDEF").find(c) == std::string_view::npos) return false;
    ++hexadecimal;
  }
  return hexadecimal == digits && (text.size() == digits || text.size() == digits + 4);
}

std::string_view without_times(std::string_view xml, const TimeNames& names, std::string& scratch,
                               std::vector<DocumentTime>& left_out) {
  scratch.clear();
  // No XML, and it must not look like what the removal gives, which never begins so.
  if (xml.find('\xff') != std::string_view::npos) return scratch.append(1, '\xff').append(xml);
  auto found = left_out;
  if (!TimeRemover(xml, names, scratch, found).run()) return xml;
  left_out = std::move(found);
  return scratch;
}

}  // namespace mailonce::message
