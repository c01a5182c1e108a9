#include "mailonce/message/pattern.h"

#include <re2/re2.h>

#include <vector>

#include "mailonce/message/charset.h"

namespace mailonce::message {
namespace {

// Of one compiled expression and its automata, in octets.
constexpr std::int64_t max_memory = 8 << 20;

RE2::Options options(RE2::Options::Encoding encoding) {
  RE2::Options options;
  options.set_encoding(encoding);
  options.set_log_errors(false);
  options.set_max_mem(max_memory);
  return options;
}

std::string expression_of_glob(std::string_view text) {
  std::string out = "(?si)";
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '*') {
      out += ".*";
    } else if (text[i] == '?') {
      out += '.';
    } else {
      if (text[i] == '\\' && i + 1 < text.size()) ++i;
      out += RE2::QuoteMeta({&text[i], 1});
    }
  }
  return out;
}

// A text as RE2 reads it, and where its places are in the text as it is.
class Readable {
 public:
  explicit Readable(std::string_view text) : text_(text) {
    auto valid = utf8_prefix(text);
    if (valid == text.size()) return;
    for (; valid < text.size(); valid = utf8_prefix(text)) {
      copy_.append(text.substr(0, valid));
      broken_.push_back(copy_.size());
      copy_ += replacement;
      text.remove_prefix(valid + 1);
    }
    text_ = copy_.append(text);
  }

  re2::StringPiece piece() const { return {text_.data(), text_.size()}; }

  // In the text as it is. RE2's \C may part a character: of a replaced octet then nothing is matched.
  std::size_t begin_of(re2::StringPiece match) { return place(position(match), true); }
  std::size_t end_of(re2::StringPiece match) { return place(position(match) + match.size(), false); }
  std::size_t position(re2::StringPiece match) const {
    return static_cast<std::size_t>(match.data() - text_.data());
  }
  std::size_t next_character(std::size_t at) const {
    do ++at;
    while (at < text_.size() && (static_cast<unsigned char>(text_[at]) & 0xC0U) == 0x80);
    return at;
  }

 private:
  static constexpr std::string_view replacement = "\xEF\xBF\xBD";

  // Places are asked for in rising order.
  std::size_t place(std::size_t position, bool round_up) {
    while (passed_ < broken_.size() && broken_[passed_] + replacement.size() <= position) ++passed_;
    const auto longer = passed_ * (replacement.size() - 1);
    if (passed_ == broken_.size() || position <= broken_[passed_]) return position - longer;
    return broken_[passed_] - longer + (round_up ? 1 : 0);
  }

  std::string_view text_;
  std::string copy_;
  std::vector<std::size_t> broken_;
  std::size_t passed_ = 0;
};

}  // namespace

Pattern::Pattern(std::string written, std::shared_ptr<const re2::RE2> compiled, bool whole)
    : written_(std::move(written)), compiled_(std::move(compiled)), whole_(whole) {}

Pattern Pattern::glob(std::string_view text) {
  // Octets, so that a field that is no UTF-8 can be matched too.
  const auto latin1 = options(RE2::Options::EncodingLatin1);
  return {std::string(text), std::make_shared<const RE2>(expression_of_glob(text), latin1), true};
}

boost::system::result<Pattern, std::string> Pattern::regex(std::string_view expression) {
  const re2::StringPiece piece(expression.data(), expression.size());
  auto compiled = std::make_shared<const RE2>(piece, options(RE2::Options::EncodingUTF8));
  if (!compiled->ok()) return compiled->error();
  return Pattern(std::string(expression), std::move(compiled), false);
}

bool Pattern::matches(std::string_view text) const {
  if (whole_) return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
  return RE2::PartialMatch(Readable(text).piece(), *compiled_);
}

void Pattern::remove_from(std::string& text) const {
  Readable readable(text);
  const auto whole = readable.piece();
  std::string kept;
  std::size_t copied = 0;
  std::size_t from = 0;
  re2::StringPiece match;
  while (from <= whole.size() && compiled_->Match(whole, from, whole.size(), RE2::UNANCHORED, &match, 1)) {
    const auto end = readable.position(match) + match.size();
    from = match.empty() ? readable.next_character(end) : end;
    const auto begin_taken = readable.begin_of(match);
    const auto end_taken = readable.end_of(match);
    if (begin_taken >= end_taken) continue;
    kept.append(text, copied, begin_taken - copied);
    copied = end_taken;
  }
  if (copied == 0) return;
  text = kept.append(text, copied);
}

}  // namespace mailonce::message
