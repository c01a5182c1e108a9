#include "mailonce/message/header_value.h"

#include "mailonce/base/encoding.h"
#include "mailonce/message/charset.h"
#include "mailonce/message/encoded_word.h"
#include "mailonce/message/header_fields.h"

namespace mailonce::message {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

void collapse(std::string_view text, std::string& out) {
  out.clear();
  out.reserve(text.size());
  bool pending = false;
  for (const char c : text) {
    if (is_space(c)) {
      pending = !out.empty();
      continue;
    }
    if (pending) out += ' ';
    pending = false;
    out += c;
  }
}

// Decodes the encoded words of a value whose white space is collapsed already.
class WordDecoder {
 public:
  WordDecoder(std::string_view text, FieldSyntax syntax)
      : text_(text), structured_(syntax == FieldSyntax::structured) {}

  bool run() {
    while (position_ < text_.size()) {
      if (!quoted_ && text_.substr(position_, 2) == "=?" && may_begin_here()) {
        if (!take_word()) return false;
      } else {
        take_character();
      }
    }
    return end_run();
  }
  std::string take() { return std::move(out_); }

 private:
  // RFC 2047 §5: an encoded word stands apart from other text.
  bool may_begin_here() const {
    if (position_ == 0 || position_ == word_end_) return true;
    const char before = text_[position_ - 1];
    return before == ' ' || (structured_ && before == '(');
  }

  static bool may_follow(std::string_view rest, bool structured) {
    if (rest.empty() || rest.front() == ' ' || rest.starts_with("=?")) return true;
    return structured && std::string_view(")<,;:").find(rest.front()) != std::string_view::npos;
  }

  bool take_word() {
    auto parsed = parse_encoded_word(text_.substr(position_));
    if (!parsed.is_word) {
      take_character();
      return true;
    }
    if (!parsed.word) return false;
    auto& word = *parsed.word;
    if (!may_follow(text_.substr(position_ + word.length), structured_)) {
      take_character();
      return true;
    }
    // White space between two encoded words is not part of the text (§6.2); libraries also split a character
    // between them, so words of one charset are converted together.
    if (in_run_) {
      space_pending_ = false;
      if (!equals_ignoring_case(charset_, word.charset) && !convert()) return false;
    } else {
      flush_space();
    }
    charset_ = word.charset;
    bytes_ += word.bytes;
    in_run_ = true;
    position_ += word.length;
    word_end_ = position_;
    return true;
  }

  void take_character() {
    const char c = text_[position_++];
    if (c == ' ') {
      flush_space();
      space_pending_ = true;
      return;
    }
    ended_well_ = end_run() && ended_well_;
    flush_space();
    out_ += c;
    if (!structured_) return;
    if (quoted_ && c == '\\' && position_ < text_.size()) {
      out_ += text_[position_++];
    } else if (c == '"') {
      quoted_ = !quoted_;
    }
  }

  void flush_space() {
    if (!in_run_ && space_pending_) {
      out_ += ' ';
      space_pending_ = false;
    }
  }

  bool convert() {
    const auto text = to_utf8(bytes_, charset_, scratch_);
    if (!text) return false;
    decoded_ += *text;
    bytes_.clear();
    return true;
  }

  bool end_run() {
    if (!in_run_) return ended_well_;
    if (!convert()) return false;
    if (structured_ && decoded_.find_first_of("()<>[]:;@\\,.\"") != std::string::npos) {
      out_ += '"';
      for (const char c : decoded_) {
        if (c == '"' || c == '\\') out_ += '\\';
        out_ += c;
      }
      out_ += '"';
    } else {
      out_ += decoded_;
    }
    decoded_.clear();
    in_run_ = false;
    return ended_well_;
  }

  std::string_view text_;
  bool structured_;
  std::size_t position_ = 0;
  std::size_t word_end_ = std::string_view::npos;
  std::string out_;
  std::string bytes_;    // of the words so far, in charset_
  std::string decoded_;  // of the words before them, in UTF-8
  std::string scratch_;
  std::string_view charset_;
  bool in_run_ = false;
  bool space_pending_ = false;
  bool quoted_ = false;
  bool ended_well_ = true;
};

}  // namespace

HeaderValue read_header_value(std::string_view raw, FieldSyntax syntax) {
  HeaderValue value;
  collapse(raw, value.text);
  if (!is_utf8(value.text)) {
    value.reading = Reading::raw;
    return value;
  }
  if (value.text.find("=?") == std::string::npos) return value;
  WordDecoder decoder(value.text, syntax);
  if (!decoder.run()) {
    value.reading = Reading::raw;
    return value;
  }
  const auto decoded = decoder.take();
  collapse(decoded, value.text);
  return value;
}

}  // namespace mailonce::message
