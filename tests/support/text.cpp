#include "support/text.h"

#include <openssl/evp.h>
#include <strings.h>

#include <array>
#include <charconv>
#include <ctime>
#include <random>

namespace mailonce::test {
namespace {

std::string random_of(std::string_view alphabet, std::size_t count) {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  std::uniform_int_distribution<std::size_t> pick(0, alphabet.size() - 1);
  std::string text;
  while (text.size() < count) text += alphabet[pick(generator)];
  return text;
}

std::string date_now() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 64> text{};
  auto length = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S +0000", &parts);
  return std::string(text.data(), length);
}

std::string value_of(std::string_view directive, std::uint64_t serial) {
  if (directive == "serial") return std::to_string(serial);
  if (directive == "date") return date_now();
  auto colon = directive.find(':');
  if (colon == std::string_view::npos) return "{" + std::string(directive) + "}";
  auto kind = directive.substr(0, colon), digits = directive.substr(colon + 1);
  std::size_t count = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), count);
  if (kind == "hex") return random_of("0123456789abcdef", count);
  if (kind == "HEX") return random_of("0123456789ABCDEF", count);
  if (kind == "alnum")
    return random_of("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", count);
  if (kind == "ALNUM") return random_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", count);
  return "{" + std::string(directive) + "}";
}

}  // namespace

std::string expand(std::string_view text, std::uint64_t serial) {
  std::string out;
  while (!text.empty()) {
    auto open = text.find('{');
    auto close = open == std::string_view::npos ? open : text.find('}', open);
    if (close == std::string_view::npos) return out.append(text);
    out.append(text.substr(0, open));
    out.append(value_of(text.substr(open + 1, close - open - 1), serial));
    text.remove_prefix(close + 1);
  }
  return out;
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4) return std::nullopt;
  std::string out(text.size() / 4 * 3, '\0');
  int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (length < 0) return std::nullopt;
  auto padding = text.ends_with("==") ? 2u : text.ends_with("=") ? 1u : 0u;
  out.resize(static_cast<std::size_t>(length) - padding);
  return out;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    auto octet = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (octet < 0x20 || octet >= 0x7f) {
      // Octets, not characters: what is not ASCII stands as U+0080 to U+00FF.
      constexpr std::string_view digits = "0123456789abcdef";
      out += "\\u00";
      out += digits[octet >> 4];
      out += digits[octet & 15];
    } else {
      out += c;
    }
  }
  return out += '"';
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && strncasecmp(text.data(), prefix.data(), prefix.size()) == 0;
}

}  // namespace mailonce::test
