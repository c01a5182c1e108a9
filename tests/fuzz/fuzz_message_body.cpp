// Any octets as a body: what is encoded decodes to the same, wherever the decoder's pieces end; parts written
// between delimiters are found again; only the time goes from a font or colour profile. The first line is a
// boundary and a charset.
#include <string>

#include "fuzz.h"
#include "mailonce/base/encoding.h"
#include "mailonce/message/charset.h"
#include "mailonce/message/embedded_time.h"
#include "mailonce/message/multipart.h"
#include "mailonce/message/pattern.h"
#include "mailonce/message/text_content.h"
#include "mailonce/message/transfer_encoding.h"

namespace {

using namespace mailonce::message;

using mailonce::fuzz::check;

constexpr std::size_t step_octets = 4096;  // of TransferDecoder

std::string decoded(TransferEncoding encoding, std::string_view body) {
  TransferDecoder decoder(encoding, body);
  std::string out;
  for (std::string_view chunk; decoder.next(chunk);) {
    check(!chunk.empty());
    out += chunk;
  }
  return out;
}

// RFC 2045 §6.7 to the letter, for a body that keeps to it.
std::string plain_quoted_printable(std::string_view body) {
  std::string out;
  while (!body.empty()) {
    if (body.front() != '=') {
      out += body.front();
      body.remove_prefix(1);
    } else if (body.size() == 1 || body.starts_with("=\n")) {
      body.remove_prefix(std::min<std::size_t>(2, body.size()));
    } else {
      const bool soft_break = body.starts_with("=\r\n");
      if (!soft_break) out += static_cast<char>(std::stoi(std::string(body.substr(1, 2)), nullptr, 16));
      body.remove_prefix(3);
    }
  }
  return out;
}

std::string without_space(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (std::string_view(" \t\r\n").find(c) == std::string_view::npos) out += c;
  return out;
}

void base64_decodes(std::string_view body) {
  const auto encoding = TransferEncoding::base64;
  if (!follows(encoding, body)) return;
  const auto octets = decoded(encoding, body);
  if (const auto strict = mailonce::from_base64(without_space(body))) check(octets == *strict);
  check(decoded(encoding, std::string(step_octets - body.size() / 2 % step_octets, '\n') +
                              std::string(body)) == octets);
}

void quoted_printable_decodes(std::string_view body) {
  const auto encoding = TransferEncoding::quoted_printable;
  if (!follows(encoding, body)) return;
  const auto octets = decoded(encoding, body);
  check(octets == plain_quoted_printable(body));
  const std::string before(step_octets - body.size() / 2 % step_octets, 'x');
  check(decoded(encoding, before + std::string(body)) == before + octets);
}

void what_is_encoded_decodes(std::string_view octets, std::size_t width) {
  const auto base64 = mailonce::to_base64(octets);
  std::string lines;
  for (std::size_t i = 0; i < base64.size(); i += width) lines += base64.substr(i, width) + "\r\n";
  check(follows(TransferEncoding::base64, lines) && decoded(TransferEncoding::base64, lines) == octets);
  std::string quoted;
  for (std::size_t i = 0; i < octets.size(); i += width)
    quoted += mailonce::fuzz::hex_encoded(octets.substr(i, width), '=') + "=\r\n";
  check(follows(TransferEncoding::quoted_printable, quoted));
  check(decoded(TransferEncoding::quoted_printable, quoted) == octets);
  check(decoded(TransferEncoding::identity, octets) == octets);
}

void parts_are_found_again(std::string_view body, std::string_view boundary) {
  constexpr std::size_t limit = 50;
  const auto split = split_multipart(body, boundary, limit);
  if (!split) return;
  const auto delimiter = "\r\n--" + std::string(boundary);
  std::string written(split->preamble);
  for (const auto part : split->parts) (written += delimiter) += "\r\n" + std::string(part);
  written += delimiter + "--\r\n" + std::string(split->epilogue);
  const auto again = split_multipart(written, boundary, limit);
  check(again && again->complete && again->parts == split->parts);
  check(again->preamble == split->preamble && again->epilogue == split->epilogue);
  check(!split->parts.empty() && !split_multipart(body, boundary, split->parts.size() - 1));
}

void only_line_ends_go(std::string_view text) {
  std::string scratch;
  const std::string lf(with_lf_line_ends(text, scratch));
  const auto half = text.size() / 2;
  if (half == 0 || text.substr(half - 1, 2) != "\r\n") {
    std::string first;
    std::string second;
    check(std::string(with_lf_line_ends(text.substr(0, half), first)) +
              std::string(with_lf_line_ends(text.substr(half), second)) ==
          lf);
  }
  const auto kept = without_trailing_blank_lines(text);
  check(!kept.ends_with('\n') && text.starts_with(kept));
  check(text.substr(kept.size()).find_first_not_of('\n') == std::string_view::npos);
  const std::string dated(without_dtstamp(lf, scratch));
  check(without_dtstamp(dated, scratch) == dated);
  if (lf.starts_with(' ') || lf.starts_with('\t')) return;
  check(without_dtstamp("dtstamp;X=1:20261202T1\n 0:00\n" + lf, scratch) == dated);
}

// Broken octets or not, a pattern takes what it matches.
void patterns_take_what_they_match(std::string_view octets) {
  static const auto digits = *Pattern::regex("[0-9]+");
  static const auto no_letters = *Pattern::regex("(?s)[^a-z]");
  std::string without_digits;
  std::string letters;
  for (const char c : octets) {
    if (c < '0' || c > '9') without_digits += c;
    if (c >= 'a' && c <= 'z') letters += c;
  }
  std::string text(octets);
  digits.remove_from(text);
  check(text == without_digits && !digits.matches(text));
  no_letters.remove_from(text);
  check(text == letters && !no_letters.matches(text));
}

void text_is_utf8(std::string_view octets, std::string_view charset) {
  std::string scratch;
  if (const auto text = to_utf8(octets, charset, scratch)) check(is_utf8(*text));
  const auto latin1 = to_utf8(octets, "iso-8859-1", scratch);
  check(latin1 && is_utf8(*latin1) && is_ascii(*latin1) == is_ascii(octets));
  std::string wide;
  check(is_utf8(octets) == to_utf8(octets, "utf-8", wide).has_value());
}

void put32(std::string& out, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 4; i > 0; --i, value >>= 8U) out[at + i - 1] = static_cast<char>(value & 0xffU);
}

std::uint32_t sum32(std::string_view octets) {
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < octets.size(); ++i)
    total += static_cast<std::uint32_t>(static_cast<unsigned char>(octets[i])) << (24 - i % 4 * 8);
  return total;
}

// An OpenType font of one table, with right checksums.
std::string font_of(std::string_view octets, std::uint32_t modified) {
  std::string font("OTTO\0\1\0\0\0\0\0\0head\0\0\0\0\0\0\0\x1c\0\0\0\x36", 28);
  font += octets;
  font.resize(std::max<std::size_t>(font.size(), 28 + 54));
  put32(font, 28 + 8, 0);
  put32(font, 28 + 12, 0x5F0F3CF5U);
  put32(font, 28 + 32, modified);
  put32(font, 12 + 4, sum32(std::string_view(font).substr(28, 54)));
  put32(font, 28 + 8, 0xB1B0AFBAU - sum32(font));
  return font;
}

std::string profile_of(std::string_view octets, char minute) {
  std::string profile(octets);
  profile.resize(std::max<std::size_t>(profile.size(), 128));
  put32(profile, 0, static_cast<std::uint32_t>(profile.size()));
  profile.replace(24, 12, std::string("\x07\xea\0\x0c\0\x02\0\x0a\0\x0f\0\0", 12));
  profile[33] = minute;
  return profile.replace(36, 4, "acsp");
}

template <class Remove, class Build>
void only_the_time_goes(Remove remove, Build build, std::string_view octets, std::size_t most_octets) {
  auto other = std::string(octets);
  auto a = build(octets, 1);
  auto b = build(octets, 2);
  check(a != b && remove(a) && remove(b) && a == b);
  auto untouched = other;
  if (const auto time = remove(other)) {
    check(other.size() == untouched.size());
    std::size_t changed = 0;
    for (std::size_t i = 0; i < other.size(); ++i)
      if (other[i] != untouched[i]) ++changed;
    check(changed <= most_octets && !time->empty());
  } else {
    check(other == untouched);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto body = mailonce::fuzz::text(data, size);
  const auto word = mailonce::fuzz::take_line(body);
  base64_decodes(body);
  quoted_printable_decodes(body);
  what_is_encoded_decodes(body, word.size() + 1);
  // A CR at its end would take the line end written behind a part for its own.
  if (!word.empty() && !word.ends_with('\r')) parts_are_found_again(body, word);
  only_line_ends_go(body);
  patterns_take_what_they_match(body);
  text_is_utf8(body, word);
  only_the_time_goes(remove_font_time, font_of, body, 16);
  only_the_time_goes(remove_profile_time, profile_of, body, 12);
  return 0;
}
