#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <optional>

#include "mailonce/base/encoding.h"
#include "mailonce/upstream/options.h"

namespace mailonce::upstream {
namespace {

struct Scheme {
  std::string_view name;
  Security security;
  std::uint16_t port;
};
constexpr std::array schemes = {
    Scheme{"smtp", Security::plain, 25},
    Scheme{"smtp+starttls", Security::starttls, 587},
    Scheme{"smtps", Security::tls, 465},
};

std::optional<int> hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = to_lower_ascii(c);
  if (lower >= 'a' && lower <= 'f') return lower - 'a' + 10;
  return std::nullopt;
}

// RFC 3986 §2.1; nothing for a broken escape or a control octet.
std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const auto high = hex_digit(text[i + 1]);
      const auto low = hex_digit(text[i + 2]);
      if (!high || !low) return std::nullopt;
      c = static_cast<char>(*high * 16 + *low);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
    out.push_back(c);
  }
  return out;
}

bool is_host_name(std::string_view text) {
  if (text.empty() || text.size() > 255 || text.front() == '.' || text.front() == '-') return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    const char lower = to_lower_ascii(c);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
  });
}

// "host", "host:port", "[::1]:port". Empty: done; otherwise what is wrong.
std::string take_authority(std::string_view text, Options& options) {
  std::string_view port;
  bool has_port = false;
  if (!text.empty() && text.front() == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return "the address in brackets does not end";
    options.host = text.substr(1, end - 1);
    boost::system::error_code bad;
    boost::asio::ip::make_address_v6(options.host, bad);
    // Asio reads no further than a NUL, and anything as a zone.
    const bool visible =
        std::all_of(options.host.begin(), options.host.end(), [](char c) { return c > ' ' && c < 0x7f; });
    if (bad || !visible) return "'" + options.host + "' is not an IPv6 address";
    text.remove_prefix(end + 1);
    if (!text.empty() && text.front() != ':') return "only a port may follow the address in brackets";
    has_port = !text.empty();
    port = has_port ? text.substr(1) : text;
  } else {
    const std::size_t colon = text.find(':');
    if (colon != text.rfind(':')) return "an IPv6 address stands in brackets";
    has_port = colon != std::string_view::npos;
    port = has_port ? text.substr(colon + 1) : std::string_view();
    options.host = to_lower_ascii(text.substr(0, colon));
    if (options.host.empty()) return "the host is missing";
    if (!is_host_name(options.host)) return "'" + options.host + "' is not a host name";
  }
  if (!has_port) return {};
  const char* const end = port.data() + port.size();
  const auto [last, error] = std::from_chars(port.data(), end, options.port);
  if (error != std::errc() || last != end || options.port == 0) {
    return "'" + std::string(port) + "' is not a port (1 to 65535)";
  }
  return {};
}

}  // namespace

UrlResult parse_url(std::string_view url) {
  const std::size_t colon = url.find("://");
  const std::string scheme = to_lower_ascii(url.substr(0, colon == std::string_view::npos ? 0 : colon));
  const auto* known =
      std::find_if(schemes.begin(), schemes.end(), [&](const Scheme& s) { return s.name == scheme; });
  if (known == schemes.end()) return UrlProblem{"the URL begins with smtp://, smtp+starttls:// or smtps://"};
  Options options;
  options.security = known->security;
  options.port = known->port;

  std::string_view rest = url.substr(colon + 3);
  if (!rest.empty() && rest.back() == '/') rest.remove_suffix(1);
  if (rest.find_first_of("/?#") != std::string_view::npos)
    return UrlProblem{"nothing may follow host and port"};
  if (const std::size_t at = rest.rfind('@'); at != std::string_view::npos) {
    const std::string_view user = rest.substr(0, at);
    if (user.find(':') != std::string_view::npos) {
      return UrlProblem{"a password does not belong into a URL: give password_file or the environment"};
    }
    auto decoded = percent_decoded(user);
    if (!decoded || decoded->empty())
      return UrlProblem{"the user name before '@' is empty or not percent-encoded"};
    options.username = std::move(*decoded);
    rest.remove_prefix(at + 1);
  }
  if (std::string wrong = take_authority(rest, options); !wrong.empty()) return UrlProblem{std::move(wrong)};
  return options;
}

}  // namespace mailonce::upstream
