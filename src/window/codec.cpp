#include "mailonce/window/codec.h"

#include <charconv>
#include <cstdint>
#include <optional>

namespace mailonce::window {
namespace {

constexpr char version = '1';
constexpr std::size_t max_digits = 15;

void append_sized(std::string& out, std::string_view octets) {
  out += std::to_string(octets.size());
  out += ':';
  out += octets;
}

// Takes fields off the front of a text; after the first failure all further ones fail too.
class Fields {
 public:
  explicit Fields(std::string_view text) : text_(text) {}

  char character() {
    if (text_.empty()) return fail(), '\0';
    const char c = text_.front();
    text_.remove_prefix(1);
    return c;
  }
  void expect(char c) {
    if (character() != c) fail();
  }
  std::int64_t number(char end, std::size_t most_digits = max_digits) {
    std::int64_t value = 0;
    const auto* last = text_.data() + text_.size();
    const auto [at, ec] = std::from_chars(text_.data(), last, value);
    const auto digits = static_cast<std::size_t>(at - text_.data());
    // As step.lua reads them: digits alone, and no more than a double holds exactly.
    if (ec != std::errc() || text_.front() == '-' || digits > most_digits) return fail(), 0;
    text_.remove_prefix(digits);
    expect(end);
    return value;
  }
  std::string_view until(char end) {
    const auto size = text_.find(end);
    if (size == std::string_view::npos) return fail(), std::string_view();
    const auto word = text_.substr(0, size);
    text_.remove_prefix(size + 1);
    return word;
  }
  std::string_view sized() {
    const auto size = static_cast<std::size_t>(number(':'));
    if (size > text_.size()) return fail(), std::string_view();
    const auto octets = text_.substr(0, size);
    text_.remove_prefix(size);
    return octets;
  }
  bool done() const noexcept { return good_ && text_.empty(); }

 private:
  void fail() {
    good_ = false;
    text_ = {};
  }
  std::string_view text_;
  bool good_ = true;
};

std::optional<State> state_of(char c) {
  for (const auto state : {State::claimed, State::sending, State::sent}) {
    if (c == static_cast<char>(state)) return state;
  }
  return std::nullopt;
}

std::optional<Record> read(std::string_view text) {
  Fields fields(text);
  fields.expect(version);
  const auto state = state_of(fields.character());
  const char doubtful = fields.character();
  fields.expect(' ');
  if (!state || (doubtful != '0' && doubtful != '1')) return std::nullopt;
  Record record;
  record.state = *state;
  record.doubtful = doubtful == '1';
  record.deadline = TimePoint(milliseconds(fields.number(' ')));
  record.at = TimePoint(milliseconds(fields.number(' ')));
  record.owner = fields.until(' ');
  if (record.owner.find_first_of("\t\n\v\f\r") != std::string::npos) return std::nullopt;
  record.message_id = fields.sized();
  record.content = fields.sized();
  record.upstream = fields.sized();
  record.reply.code = static_cast<int>(fields.number(' ', 3));
  record.reply.text = fields.sized();
  if (!fields.done()) return std::nullopt;
  if (record.state == State::sent && !record.reply.completed()) return std::nullopt;
  return record;
}

}  // namespace

std::string encode_rest(const Particulars& particulars) {
  std::string out;
  out.reserve(particulars.content.size() + particulars.upstream.size() + particulars.reply_text.size() + 24);
  append_sized(out, particulars.content);
  append_sized(out, particulars.upstream);
  out += std::to_string(particulars.reply_code);
  out += ' ';
  append_sized(out, particulars.reply_text);
  return out;
}

Record decode(std::string_view text) {
  if (auto record = read(text)) return std::move(*record);
  Record unknown;
  unknown.state = State::sending;
  unknown.unreadable = true;
  return unknown;
}

}  // namespace mailonce::window
