#include <unistd.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <utility>

#include "overrides.h"
#include "secret.h"
#include "sections.h"

namespace mailonce::config {
namespace {

using upstream::Options;
using upstream::Security;

constexpr const char* password_variable = "MAILONCE_UPSTREAM_PASSWORD";

// Written out, so that the answer does not depend on a resolver.
bool is_this_host(const std::string& host) {
  if (host == "localhost") return true;
  boost::system::error_code not_an_address;
  const auto address = boost::asio::ip::make_address(host, not_an_address);
  return !not_an_address && address.is_loopback();
}

bool readable(const std::string& file) {
  return ::access(file.c_str(), R_OK) == 0;
}

void read_tls(Table& table, const std::filesystem::path& folder, net::ClientTlsOptions& tls) {
  if (table.text("ca_file", tls.ca_file) && !tls.ca_file.empty()) {
    tls.ca_file = (folder / tls.ca_file).string();
    if (!readable(tls.ca_file))
      table.error("ca_file", {"can not be read", "name a PEM file, or leave the key out"});
  }
  table.flag("verify_certificate", tls.verify);
  if (!tls.verify) {
    table.warning("verify_certificate",
                  {"anybody between here and the upstream can read the mail and the password",
                   "name the upstream's CA in ca_file instead"});
  }
}

void read_timeouts(Table& table, upstream::Timeouts& timeouts) {
  const auto least = seconds(1), most = seconds(3600);
  table.duration("connect_timeout", timeouts.connect, least, most);
  table.duration("greeting_timeout", timeouts.greeting, least, most);
  table.duration("command_timeout", timeouts.command, least, most);
  table.duration("data_timeout", timeouts.data_block, least, most);
  table.duration("reply_timeout", timeouts.final, least, most);
}

void read_pool(Table& table, upstream::PoolLimits& pool) {
  table.count("max_connections", pool.max_connections, 1, 10'000);
  table.duration("max_wait", pool.max_wait, milliseconds(0), seconds(540));
  table.duration("max_idle", pool.max_idle, milliseconds(0), seconds(3600));
  table.duration("max_age", pool.max_age, seconds(1), seconds(24 * 3600));
  table.count("max_messages", pool.max_messages, 1, 1'000'000);
}

// "14/s"
Parsed<upstream::Rate> parse_rate(std::string_view text) {
  constexpr std::pair<std::string_view, milliseconds> units[] = {
      {"s", seconds(1)}, {"min", seconds(60)}, {"h", seconds(3600)}, {"d", seconds(86'400)}};
  const auto slash = text.find('/');
  std::uint64_t count = 0;
  const auto digits = text.substr(0, slash);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), count);
  const bool number = error == std::errc() && end == digits.data() + digits.size();
  if (slash != std::string_view::npos && number && count > 0 && count <= 1'000'000) {
    for (const auto& [unit, time] : units) {
      if (text.substr(slash + 1) == unit) return upstream::Rate{count, time};
    }
  }
  return Mistake{"is no rate", "write recipients a time, as in \"14/s\" or \"30/min\""};
}

void read_profile(Table& table, Options& options) {
  const auto parse = [](std::string_view name) -> Parsed<const upstream::Profile*> {
    if (const auto* found = upstream::find_profile(name)) return found;
    std::string known;
    for (const auto& each : upstream::profiles())
      known += (known.empty() ? "" : ", ") + std::string(each.name);
    return Mistake{"is no provider that is known", "write one of " + known + ", or leave the key out"};
  };
  const upstream::Profile* profile = nullptr;
  if (!table.value("profile", profile, parse)) return;
  options.pool = profile->pool;
  options.max_rate = profile->max_rate;
}

Parsed<std::string> parse_name(std::string_view text) {
  if (text.empty() || text.size() > 64)
    return Mistake{"is not 1 to 64 octets long", "name the provider, as in \"ses\""};
  return std::string(text);
}

}  // namespace

Parsed<void> set_upstream_url(std::string_view url, Options& options) {
  if (printable_url(url) != url) {
    return Mistake{"holds a password, and files, command lines and logs are read by others",
                   std::string("put it in a file or the environment: ") + password_variable};
  }
  auto parsed = upstream::parse_url(url);
  if (!parsed)
    return Mistake{parsed.error().reason, "write it as in \"smtp+starttls://user@smtp.example.org:587\""};
  options.host = parsed->host;
  options.port = parsed->port;
  options.security = parsed->security;
  options.username = parsed->username;
  return {};
}

std::optional<Mistake> complete_upstream(Options& options, bool only) {
  if (options.username.empty()) return {};
  if (options.password.empty()) {
    // One password is not for all.
    auto password = only ? read_secret_variable(password_variable) : Parsed<std::string>(Mistake{});
    if (!password) {
      return Mistake{"names the user \"" + options.username + "\" and there is no password",
                     only ? std::string("put it in a file or the environment: ") + password_variable
                          : "name a file in password_file, or a variable in password_env"};
    }
    options.password = std::move(*password);
  }
  if (options.security == Security::plain && !options.allow_plaintext_auth && !is_this_host(options.host)) {
    return Mistake{"would send the password in clear text",
                   "write smtp+starttls:// or smtps://, or allow_plaintext_auth = true"};
  }
  return {};
}

namespace {

void read_upstream(Table& table, const std::filesystem::path& folder, bool replaced, bool only,
                   Options& options) {
  const auto errors_before = table.errors();
  std::string url;
  if (!table.has("url") && !replaced) {
    table.missing("url", {"is missing", "write url = \"smtp+starttls://smtp.example.org:587\""});
  }
  if (table.text("url", url)) {
    if (const auto set = set_upstream_url(url, options); !set) table.error("url", set.error());
  }
  table.value("name", options.name, parse_name);
  read_profile(table, options);
  table.text("username", options.username);
  if (auto password = take_secret(table, "password", folder)) options.password = std::move(*password);
  table.flag("allow_plaintext_auth", options.allow_plaintext_auth);
  table.value("ehlo_name", options.ehlo_name, parse_hostname);
  read_tls(table, folder, options.tls);
  read_timeouts(table, options.timeouts);
  read_pool(table, options.pool);
  table.value("max_rate", options.max_rate, parse_rate);
  table.finish();
  // What follows from several keys is only worth saying when each of them is right.
  if (replaced || table.errors() != errors_before) return;
  if (const auto mistake = complete_upstream(options, only)) table.error("url", *mistake);
}

}  // namespace

void read_upstreams(Table& root, const std::filesystem::path& folder, bool replaced,
                    std::vector<Options>& upstreams) {
  auto tables = root.tables("upstream");
  for (auto& table : tables) {
    Options options;
    read_upstream(table, folder, replaced, tables.size() == 1, options);
    const auto same = [&](const Options& other) { return other.name == options.name; };
    if (std::any_of(upstreams.begin(), upstreams.end(), same)) {
      const Mistake mistake{"is another upstream's name too",
                            "give each its own: records and routes name it"};
      table.has("name") ? table.error("name", mistake)
                        : table.missing("name", {"is missing", "name each upstream where there are several"});
    }
    upstreams.push_back(std::move(options));
  }
}

}  // namespace mailonce::config
