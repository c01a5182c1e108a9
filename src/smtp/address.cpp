#include "mailonce/smtp/address.h"

#include "mailonce/base/encoding.h"
#include "mailonce/smtp/error.h"
#include "octets.h"

namespace mailonce::smtp {
namespace {

constexpr std::size_t max_path_octets = 256;    // RFC 5321 §4.5.3.1.3, with the brackets
constexpr std::size_t max_domain_octets = 255;  // RFC 5321 §4.5.3.1.2

bool is_atext(char c) {
  return is_alnum(c) || !is_ascii(c) ||
         std::string_view("!#$%&'*+-/=?^_`{|}~").find(c) != std::string_view::npos;
}

// RFC 5321 §4.1.2 Quoted-string: its length in front of `text`, quotes included; 0 when there is none.
std::size_t quoted_string_octets(std::string_view text) {
  if (text.empty() || text.front() != '"') return 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i + 1;
    if (text[i] == '\\') ++i;
  }
  return 0;
}

// RFC 3629: the shortest form, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto lead = static_cast<unsigned char>(text.front());
    std::size_t length = 1;
    unsigned char least = 0x80, most = 0xbf;  // of the second octet
    if (lead >= 0x80) {
      if (lead < 0xc2 || lead > 0xf4) return false;
      length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
      if (lead == 0xe0) least = 0xa0;
      if (lead == 0xed) most = 0x9f;
      if (lead == 0xf0) least = 0x90;
      if (lead == 0xf4) most = 0x8f;
    }
    if (text.size() < length) return false;
    for (std::size_t i = 1; i < length; ++i) {
      const auto octet = static_cast<unsigned char>(text[i]);
      if (octet < (i == 1 ? least : 0x80) || octet > (i == 1 ? most : 0xbf)) return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

// Dot-string, but dots may stand anywhere: real mailboxes ("a..b@", "a.@") break the grammar, and whether one
// exists is the upstream's to say.
std::size_t dot_string_octets(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && (is_atext(text[i]) || text[i] == '.')) ++i;
  return i;
}

// RFC 5321 §4.1.3: "[127.0.0.1]", "[IPv6:::1]" or any tagged form of dcontent.
bool is_address_literal(std::string_view text) {
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return false;
  return !any_octet(text.substr(1, text.size() - 2), [](char c) {
    return !is_alnum(c) && std::string_view(".:-_").find(c) == std::string_view::npos;
  });
}

bool is_label(std::string_view text) {
  return !text.empty() &&
         !any_octet(text, [](char c) { return !is_alnum(c) && is_ascii(c) && c != '-' && c != '_'; });
}

bool is_domain_name(std::string_view text) {
  if (text.empty() || text.back() == '.') return false;
  while (!text.empty())
    if (!is_label(take_until(text, '.'))) return false;
  return true;
}

// RFC 5321 §4.1.2 A-d-l, appendix C: source routes are taken and ignored.
bool strip_route(std::string_view& path) {
  if (path.empty() || path.front() != '@') return true;
  const auto colon = path.find(':');
  if (colon == std::string_view::npos) return false;
  auto route = path.substr(0, colon);
  path.remove_prefix(colon + 1);
  while (!route.empty()) {
    const auto domain = take_until(route, ',');
    if (domain.empty() || domain.front() != '@' || !is_domain_name(domain.substr(1))) return false;
  }
  return true;
}

error_code check_mailbox(std::string_view text) {
  const auto quoted = quoted_string_octets(text);
  const auto local = quoted != 0 ? quoted : dot_string_octets(text);
  if (local == 0 || local >= text.size() || text[local] != '@') return Errc::bad_address;
  const auto domain = text.substr(local + 1);
  if (domain.size() > max_domain_octets) return Errc::address_too_long;
  if (!is_domain_name(domain) && !is_address_literal(domain)) return Errc::bad_address;
  return {};
}

// The inside of "<...>" without its route.
Result<std::string_view> unwrap(std::string_view path) {
  if (any_octet(path, is_control)) return Errc::control_character;
  if (!is_utf8(path)) return Errc::non_ascii_address;
  if (path.size() < 2 || path.front() != '<' || path.back() != '>') return Errc::bad_address;
  if (path.size() > max_path_octets) return Errc::address_too_long;
  path = path.substr(1, path.size() - 2);
  if (!strip_route(path)) return Errc::bad_address;
  return path;
}

}  // namespace

Result<Address> Address::parse_reverse_path(std::string_view path) {
  if (path == "<>") return Address();  // RFC 5321 §4.5.5
  const auto mailbox = unwrap(path);
  if (!mailbox) return mailbox.error();
  if (const auto error = check_mailbox(*mailbox)) return error;
  return Address(std::string(*mailbox));
}

Result<Address> Address::parse_forward_path(std::string_view path) {
  const auto mailbox = unwrap(path);
  if (!mailbox) return mailbox.error();
  // RFC 5321 §4.5.1: postmaster without a domain, in any case.
  if (equals_ignoring_case(*mailbox, "postmaster")) return Address(std::string(*mailbox));
  if (const auto error = check_mailbox(*mailbox)) return error;
  return Address(std::string(*mailbox));
}

bool Address::ascii() const noexcept {
  return !any_octet(text_, [](char c) { return !is_ascii(c); });
}

// No domain or literal holds an '@', a quoted local part may.
std::string_view Address::local_part() const noexcept {
  return std::string_view(text_).substr(0, text_.rfind('@'));
}

std::string_view Address::domain() const noexcept {
  const auto at = text_.rfind('@');
  return at == std::string::npos ? std::string_view() : std::string_view(text_).substr(at + 1);
}

std::string Address::normalized() const {
  std::string result = text_;
  for (auto i = result.rfind('@'); i < result.size(); ++i) result[i] = to_lower_ascii(result[i]);
  return result;
}

}  // namespace mailonce::smtp
