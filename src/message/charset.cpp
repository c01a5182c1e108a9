#include "mailonce/message/charset.h"

#include <gmime/gmime.h>

#include <cstdint>
#include <cstring>

#include "mailonce/base/encoding.h"

namespace mailonce::message {
namespace {

// Length of the ASCII run at the beginning, eight octets at a time.
std::size_t ascii_prefix(std::string_view bytes) noexcept {
  std::size_t i = 0;
  for (std::uint64_t word; i + sizeof word <= bytes.size(); i += sizeof word) {
    std::memcpy(&word, bytes.data() + i, sizeof word);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  while (i < bytes.size() && static_cast<unsigned char>(bytes[i]) < 0x80) ++i;
  return i;
}

// Octets of the well-formed sequence at the beginning of `s` (Unicode, table 3-7); 0 when there is none.
std::size_t utf8_sequence(std::string_view s) noexcept {
  const auto at = [&](std::size_t i) -> unsigned {
    return i < s.size() ? static_cast<unsigned char>(s[i]) : 0;
  };
  const auto tail = [&](std::size_t i) { return (at(i) & 0xC0U) == 0x80; };
  const unsigned lead = at(0);
  const unsigned second = at(1);
  if (lead >= 0xC2 && lead <= 0xDF) return tail(1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!tail(1) || !tail(2)) return 0;
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!tail(1) || !tail(2) || !tail(3)) return 0;
    if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
    return 4;
  }
  return 0;
}

// A charset name reaches iconv_open: no "/", which would select another conversion there. And GMime takes
// "x-unknown" for the charset of the process's locale.
bool is_charset_name(std::string_view name) {
  if (name.empty() || name.size() > 60 || equals_ignoring_case(name, "x-unknown")) return false;
  constexpr std::string_view punctuation = "-_.:+()";
  for (const char c : name) {
    const bool alphanumeric = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (!alphanumeric && punctuation.find(c) == std::string_view::npos) return false;
  }
  return true;
}

bool names_utf8(std::string_view charset) noexcept {
  return equals_ignoring_case(charset, "utf-8") || equals_ignoring_case(charset, "utf8");
}

bool names_ascii(std::string_view charset) noexcept {
  return equals_ignoring_case(charset, "us-ascii") || equals_ignoring_case(charset, "ascii");
}

bool start_gmime() {
  static const bool started = (g_mime_init(), true);
  return started;
}

class Converter {
 public:
  explicit Converter(const std::string& charset) {
    start_gmime();
    handle_ = g_mime_iconv_open("UTF-8", charset.c_str());
  }
  ~Converter() {
    if (open()) g_mime_iconv_close(handle_);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;

  bool open() const { return handle_ != reinterpret_cast<iconv_t>(-1); }

  bool convert(std::string_view bytes, std::string& out) {
    out.resize(bytes.size() * 2 + 16);
    char* input = const_cast<char*>(bytes.data());
    std::size_t input_left = bytes.size();
    std::size_t written = 0;
    bool flushing = false;
    for (;;) {
      char* output = out.data() + written;
      std::size_t output_left = out.size() - written;
      const auto irreversible = iconv(handle_, flushing ? nullptr : &input, flushing ? nullptr : &input_left,
                                      &output, &output_left);
      const int error = errno;
      written = out.size() - output_left;
      if (irreversible == static_cast<std::size_t>(-1)) {
        if (error != E2BIG) return false;
        out.resize(out.size() * 2);
        continue;
      }
      if (irreversible != 0) return false;
      if (flushing) break;
      flushing = true;
    }
    out.resize(written);
    return true;
  }

 private:
  iconv_t handle_;
};

}  // namespace

bool is_ascii(std::string_view bytes) noexcept {
  return ascii_prefix(bytes) == bytes.size();
}

bool is_utf8(std::string_view bytes) noexcept {
  return utf8_prefix(bytes) == bytes.size();
}

std::size_t utf8_prefix(std::string_view bytes) noexcept {
  auto rest = bytes;
  for (;;) {
    rest.remove_prefix(ascii_prefix(rest));
    while (!rest.empty() && static_cast<unsigned char>(rest.front()) >= 0x80) {
      const auto octets = utf8_sequence(rest);
      if (octets == 0) return bytes.size() - rest.size();
      rest.remove_prefix(octets);
    }
    if (rest.empty()) return bytes.size();
  }
}

bool is_utf8_or_ascii(std::string_view charset) noexcept {
  return names_utf8(charset) || names_ascii(charset);
}

std::optional<std::string_view> to_utf8(std::string_view bytes, std::string_view charset,
                                        std::string& scratch) {
  if (names_utf8(charset)) {
    if (is_utf8(bytes)) return bytes;
    return std::nullopt;
  }
  if (names_ascii(charset)) {
    if (is_ascii(bytes)) return bytes;
    return std::nullopt;
  }
  if (!is_charset_name(charset)) return std::nullopt;
  Converter converter{std::string(charset)};
  if (!converter.open() || !converter.convert(bytes, scratch)) return std::nullopt;
  return scratch;
}

}  // namespace mailonce::message
