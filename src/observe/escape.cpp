#include "mailonce/observe/escape.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace mailonce::observe {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t octets = 1;
  bool valid = true;
};

bool continuation(std::string_view text, std::size_t at, unsigned low, unsigned high) {
  if (at >= text.size()) return false;
  const auto octet = static_cast<unsigned char>(text[at]);
  return octet >= low && octet <= high;
}

// The first character of `text`, which begins with an octet above 0x7f (Unicode 15, table 3-7: no overlong
// forms, no surrogates). An invalid one takes its longest well-formed beginning, as browsers and Python
// replace it.
Character decode_multibyte(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  std::size_t more = 0;
  unsigned low = 0x80, high = 0xbf;  // bounds of the second octet
  char32_t code = 0;
  if (lead >= 0xc2 && lead <= 0xdf) {
    more = 1, code = lead & 0x1fU;
  } else if (lead >= 0xe0 && lead <= 0xef) {
    more = 2, code = lead & 0x0fU;
    if (lead == 0xe0) low = 0xa0;
    if (lead == 0xed) high = 0x9f;
  } else if (lead >= 0xf0 && lead <= 0xf4) {
    more = 3, code = lead & 0x07U;
    if (lead == 0xf0) low = 0x90;
    if (lead == 0xf4) high = 0x8f;
  } else {
    return {0, 1, false};
  }
  for (std::size_t i = 1; i <= more; ++i) {
    if (!continuation(text, i, i == 1 ? low : 0x80, i == 1 ? high : 0xbf)) return {0, i, false};
    code = (code << 6) | (static_cast<unsigned char>(text[i]) & 0x3fU);
  }
  return {code, more + 1, true};
}

// Characters that act instead of being shown; U+2028 ends a line for some readers, the others reorder what is
// shown (UAX #9).
bool acts(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x2028 && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0x200e || code == 0x200f || code == 0x061c ||
         code == 0xfeff;
}

constexpr std::array<char, 16> digits = {'0', '1', '2', '3', '4', '5', '6', '7',
                                         '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};

void append_hex(std::string& out, char32_t code, int digits_wanted) {
  for (int shift = 4 * (digits_wanted - 1); shift >= 0; shift -= 4) out += digits[(code >> shift) & 0xfU];
}

bool append_short_escape(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return true;
    case '\\':
      out += "\\\\";
      return true;
    case '\n':
      out += "\\n";
      return true;
    case '\r':
      out += "\\r";
      return true;
    case '\t':
      out += "\\t";
      return true;
    default:
      return false;
  }
}

// What nobody need look at twice, and most of what is logged.
bool plain(char c) {
  return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

template <class Invalid, class Acting>
void append_escaped(std::string& out, std::string_view text, Invalid on_invalid, Acting on_acting) {
  while (!text.empty()) {
    const auto stop = std::find_if_not(text.begin(), text.end(), plain);
    const auto run = static_cast<std::size_t>(stop - text.begin());
    out.append(text.substr(0, run));
    text.remove_prefix(run);
    if (text.empty()) return;
    Character next;
    if (const auto octet = static_cast<unsigned char>(text[0]); octet < 0x80) {
      next.code = octet;
      if (!append_short_escape(out, text[0])) on_acting(next.code);
    } else {
      next = decode_multibyte(text);
      if (!next.valid) {
        on_invalid(text.substr(0, next.octets));
      } else if (acts(next.code)) {
        on_acting(next.code);
      } else {
        out.append(text.substr(0, next.octets));
      }
    }
    text.remove_prefix(next.octets);
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view octets) {
  out += '"';
  append_escaped(
      out, octets, [&](std::string_view) { out += "\xef\xbf\xbd"; },
      [&](char32_t code) {
        out += "\\u";
        append_hex(out, code, 4);
      });
  out += '"';
}

void append_quoted(std::string& out, std::string_view octets) {
  const auto append_octet = [&](char32_t octet) {
    out += "\\x";
    append_hex(out, octet, 2);
  };
  out += '"';
  append_escaped(
      out, octets,
      [&](std::string_view invalid) {
        for (const char c : invalid) append_octet(static_cast<unsigned char>(c));
      },
      [&](char32_t code) {
        if (code < 0x80) return append_octet(code);
        out += "\\u";
        append_hex(out, code, 4);
      });
  out += '"';
}

void append_word(std::string& out, std::string_view octets) {
  const bool one_word = !octets.empty() && std::all_of(octets.begin(), octets.end(), [](char c) {
    return plain(c) && c != ' ' && c != '=';
  });
  if (one_word) {
    out += octets;
  } else {
    append_quoted(out, octets);
  }
}

}  // namespace mailonce::observe
