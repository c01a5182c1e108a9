#include <algorithm>

#include "mailonce/redis/error.h"
#include "mailonce/redis/options.h"
#include "number.h"

namespace mailonce::redis {
namespace {

struct Scheme {
  std::string_view text;
  Topology topology;
  bool tls;
};

constexpr Scheme schemes[] = {
    {"redis://", Topology::single, false},
    {"rediss://", Topology::single, true},
    {"redis+sentinel://", Topology::sentinel, false},
    {"rediss+sentinel://", Topology::sentinel, true},
    {"redis+cluster://", Topology::cluster, false},
    {"rediss+cluster://", Topology::cluster, true},
};

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

// What parse_url reads back as `text`.
std::string percent_encoded(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEF", plain = "-._~";
  std::string out;
  for (const char c : text) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || plain.find(c) != std::string_view::npos) {
      out += c;
      continue;
    }
    const auto octet = static_cast<unsigned char>(c);
    out += {'%', digits[octet >> 4], digits[octet & 15]};
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

Result<Address> take_address(std::string_view text, std::uint16_t default_port) {
  std::string_view host = text;
  std::string_view port;
  bool has_port = false;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) return make_error_code(Errc::bad_url_host);
    host = text.substr(1, close - 1);
    const auto rest = text.substr(close + 1);
    has_port = rest.starts_with(':');
    if (!rest.empty() && !has_port) return make_error_code(Errc::bad_url_host);
    if (has_port) port = rest.substr(1);
  } else if (const auto colon = text.find(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    has_port = true;
  }
  const bool unseen =
      std::any_of(host.begin(), host.end(), [](unsigned char c) { return c <= ' ' || c == 0x7f; });
  if (host.empty() || unseen || host.find_first_of("@[]?#") != std::string_view::npos) {
    return make_error_code(Errc::bad_url_host);
  }
  Address address{std::string(host), default_port};
  if (!has_port) return address;
  const auto value = number<std::uint16_t>(port);
  if (!value || *value == 0) return make_error_code(Errc::bad_url_port);
  address.port = *value;
  return address;
}

Result<> take_servers(std::string_view list, Options& options) {
  const std::uint16_t default_port = options.topology == Topology::sentinel ? 26379 : 6379;
  options.servers.clear();
  for (;;) {
    const auto comma = list.find(',');
    auto address = take_address(list.substr(0, comma), default_port);
    if (!address) return address.error();
    options.servers.push_back(std::move(*address));
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  if (options.topology == Topology::single && options.servers.size() > 1) {
    return make_error_code(Errc::bad_url_servers);
  }
  return {};
}

// What stands behind the servers' slash: [SERVICE/]DATABASE.
Result<> take_path(std::string_view path, Options& options) {
  if (options.topology == Topology::sentinel) {
    const auto slash = std::min(path.find('/'), path.size());
    const auto service = percent_decoded(path.substr(0, slash));
    if (!service) return make_error_code(Errc::bad_url_escape);
    if (service->empty() || service->find_first_of(" \t\r\n") != std::string::npos) {
      return make_error_code(Errc::bad_url_service);
    }
    options.service = *service;
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  if (path.empty()) return {};
  const auto database = number<unsigned>(path);
  if (!database) return make_error_code(Errc::bad_url_database);
  if (options.topology == Topology::cluster && *database != 0) return make_error_code(Errc::bad_url_database);
  options.database = *database;
  return {};
}

}  // namespace

std::string to_string(const Address& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return (v6 ? "[" + address.host + "]" : address.host) + ":" + std::to_string(address.port);
}

Result<Options> parse_url(std::string_view url) {
  const auto is_its = [&](const Scheme& scheme) { return url.starts_with(scheme.text); };
  const auto* scheme = std::find_if(std::begin(schemes), std::end(schemes), is_its);
  if (scheme == std::end(schemes)) return make_error_code(Errc::bad_url_scheme);
  url.remove_prefix(scheme->text.size());
  Options options;
  options.topology = scheme->topology;
  options.tls = scheme->tls;
  const auto slash = std::min(url.find('/'), url.size());
  // The '/' of a user or password that was not encoded: what stands before it is not the servers.
  if (url.find('@', slash) != std::string_view::npos) return make_error_code(Errc::bad_url_escape);
  std::string_view authority = url.substr(0, slash);
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    if (auto taken = take_user(authority.substr(0, at), options); !taken) return taken.error();
    authority.remove_prefix(at + 1);
  }
  if (auto taken = take_servers(authority, options); !taken) return taken.error();
  const auto path = url.substr(std::min(slash + 1, url.size()));
  if (auto taken = take_path(path, options); !taken) return taken.error();
  return options;
}

std::string printable_url(const Options& options) {
  const auto is_its = [&](const Scheme& scheme) {
    return scheme.topology == options.topology && scheme.tls == options.tls;
  };
  std::string out(std::find_if(std::begin(schemes), std::end(schemes), is_its)->text);
  for (std::size_t i = 0; i < options.servers.size(); ++i) {
    out += (i == 0 ? "" : ",") + to_string(options.servers[i]);
  }
  if (options.topology == Topology::sentinel) out += "/" + percent_encoded(options.service);
  return options.topology == Topology::cluster ? out : out + "/" + std::to_string(options.database);
}

}  // namespace mailonce::redis
