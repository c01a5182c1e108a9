#include "mailonce/message/pattern.h"

#include <re2/re2.h>

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
  const re2::StringPiece piece(text.data(), text.size());
  return whole_ ? RE2::FullMatch(piece, *compiled_) : RE2::PartialMatch(piece, *compiled_);
}

void Pattern::remove_from(std::string& text) const {
  RE2::GlobalReplace(&text, *compiled_, re2::StringPiece());
}

}  // namespace mailonce::message
