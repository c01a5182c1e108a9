#include "mailonce/smtp/xclient.h"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <cstdint>

#include "mailonce/base/encoding.h"
#include "octets.h"

namespace mailonce::smtp {
namespace {

constexpr std::size_t longest_value = 255;

std::optional<unsigned> hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return std::nullopt;
}

// RFC 3461 §4. What it stands for goes into logs and names: no control characters.
std::optional<std::string> decode(std::string_view xtext) {
  std::string out;
  for (std::size_t i = 0; i < xtext.size(); ++i) {
    char c = xtext[i];
    if (!is_visible(c) || c == '=') return std::nullopt;
    if (c == '+') {
      if (i + 2 >= xtext.size()) return std::nullopt;
      const auto high = hex_digit(xtext[i + 1]), low = hex_digit(xtext[i + 2]);
      if (!high || !low) return std::nullopt;
      c = static_cast<char>(*high << 4U | *low);
      i += 2;
    }
    if (is_control(c)) return std::nullopt;
    out += c;
  }
  if (out.empty() || out.size() > longest_value) return std::nullopt;
  return out;
}

std::optional<std::string> canonical_address(const std::string& text) {
  constexpr std::string_view v6_prefix = "IPV6:";
  const bool v6 = equals_ignoring_case(std::string_view(text).substr(0, v6_prefix.size()), v6_prefix);
  const int family = v6 ? AF_INET6 : AF_INET;
  std::array<unsigned char, sizeof(in6_addr)> binary{};
  std::array<char, INET6_ADDRSTRLEN> out{};
  if (::inet_pton(family, text.c_str() + (v6 ? v6_prefix.size() : 0), binary.data()) != 1)
    return std::nullopt;
  return ::inet_ntop(family, binary.data(), out.data(), out.size());
}

bool is_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size();
}

bool unavailable(std::string_view value) {
  return equals_ignoring_case(value, "[UNAVAILABLE]") || equals_ignoring_case(value, "[TEMPUNAVAIL]");
}

enum class Kind { text, address, port, protocol };

bool take(ClientFacts::Fact& fact, Kind kind, std::string_view xtext) {
  auto value = decode(xtext);
  if (!value || fact.given) return false;
  fact.given = true;
  if (unavailable(*value)) return true;
  if (kind == Kind::address) value = canonical_address(*value);
  if (!value || (kind == Kind::port && !is_port(*value))) return false;
  if (kind == Kind::protocol && !equals_ignoring_case(*value, "SMTP") &&
      !equals_ignoring_case(*value, "ESMTP"))
    return false;
  fact.value = std::move(*value);
  return true;
}

}  // namespace

std::optional<ClientFacts> parse_xclient(std::string_view arguments) {
  ClientFacts facts;
  ClientFacts::Fact port, protocol, destination, destination_port;
  const struct {
    std::string_view name;
    ClientFacts::Fact& fact;
    Kind kind;
  } attributes[] = {
      {"ADDR", facts.address, Kind::address},
      {"LOGIN", facts.login, Kind::text},
      {"NAME", facts.name, Kind::text},
      {"HELO", facts.hello, Kind::text},
      {"PORT", port, Kind::port},
      {"PROTO", protocol, Kind::protocol},
      {"DESTADDR", destination, Kind::address},
      {"DESTPORT", destination_port, Kind::port},
  };
  if ((arguments = trim_left(arguments)).empty()) return std::nullopt;
  while (!(arguments = trim_left(arguments)).empty()) {
    auto value = take_until(arguments, ' ');
    const auto name = take_until(value, '=');
    bool taken = false;
    for (const auto& attribute : attributes)
      if (equals_ignoring_case(name, attribute.name)) taken = take(attribute.fact, attribute.kind, value);
    if (!taken) return std::nullopt;
  }
  return facts;
}

}  // namespace mailonce::smtp
