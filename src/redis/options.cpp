#include "mailonce/redis/options.h"

#include <charconv>
#include <optional>

#include "mailonce/redis/error.h"

namespace mailonce::redis {
namespace {

constexpr std::string_view scheme = "redis://";

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto* end = text.data() + text.size();
  const auto [at, ec] = std::from_chars(text.data(), end, value);
  if (text.empty() || ec != std::errc() || at != end) return std::nullopt;
  return value;
}

int hex_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const int high = hex_value(text[i + 1]);
    const int low = hex_value(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

Result<> take_user(std::string_view user_info, Options& options) {
  const auto colon = user_info.find(':');
  const auto user = percent_decoded(user_info.substr(0, colon));
  if (!user) return make_error_code(Errc::bad_url_escape);
  options.username = *user;
  if (colon == std::string_view::npos) return {};
  const auto password = percent_decoded(user_info.substr(colon + 1));
  if (!password) return make_error_code(Errc::bad_url_escape);
  options.password = *password;
  return {};
}

Result<> take_host(std::string_view authority, Options& options) {
  std::string_view host = authority;
  std::string_view port;
  bool has_port = false;
  if (authority.starts_with('[')) {
    const auto close = authority.find(']');
    if (close == std::string_view::npos) return make_error_code(Errc::bad_url_host);
    host = authority.substr(1, close - 1);
    const auto rest = authority.substr(close + 1);
    has_port = rest.starts_with(':');
    if (!rest.empty() && !has_port) return make_error_code(Errc::bad_url_host);
    if (has_port) port = rest.substr(1);
  } else if (const auto colon = authority.find(':'); colon != std::string_view::npos) {
    host = authority.substr(0, colon);
    port = authority.substr(colon + 1);
    has_port = true;
  }
  if (host.empty() || host.find_first_of(" @[]?#\t\r\n") != std::string_view::npos) {
    return make_error_code(Errc::bad_url_host);
  }
  options.host = std::string(host);
  if (!has_port) return {};
  const auto value = number<std::uint16_t>(port);
  if (!value || *value == 0) return make_error_code(Errc::bad_url_port);
  options.port = *value;
  return {};
}

}  // namespace

Result<Options> parse_url(std::string_view url) {
  if (!url.starts_with(scheme)) return make_error_code(Errc::bad_url_scheme);
  url.remove_prefix(scheme.size());
  const auto slash = url.find('/');
  std::string_view authority = url.substr(0, slash);
  Options options;
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    if (auto taken = take_user(authority.substr(0, at), options); !taken) return taken.error();
    authority.remove_prefix(at + 1);
  }
  if (auto taken = take_host(authority, options); !taken) return taken.error();
  if (slash == std::string_view::npos || slash + 1 == url.size()) return options;
  const auto database = number<unsigned>(url.substr(slash + 1));
  if (!database) return make_error_code(Errc::bad_url_database);
  options.database = *database;
  return options;
}

}  // namespace mailonce::redis
