// [[listen]]: where clients come in, who may, and how (DESIGN.md §8).
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "overrides.h"
#include "sections.h"

namespace mailonce::config {
namespace {

namespace fs = std::filesystem;
using server::Listener;
using server::ListenerTls;
using server::LoginAt;

constexpr std::string_view unix_scheme = "unix:";
constexpr std::size_t longest_unix_path = 107;  // unix(7)

template <class Networks>
bool everybody(const Networks& networks) {
  return std::any_of(networks.begin(), networks.end(),
                     [](const auto& network) { return network.prefix_length() == 0; });
}

template <class Networks>
bool only_loopback(const Networks& networks) {
  return std::all_of(networks.begin(), networks.end(),
                     [](const auto& network) { return network.address().is_loopback(); });
}

// ADDRESS:PORT or unix:PATH.
void read_address(Table& table, const fs::path& folder, Listener& listener) {
  if (!table.has("address")) {
    table.missing("address", {"is missing", "write address = \"127.0.0.1:2525\""});
    return;
  }
  const auto parse = [&](std::string_view text) -> Parsed<Listener> {
    Listener out = listener;
    if (text.starts_with(unix_scheme)) {
      const auto path = text.substr(unix_scheme.size());
      if (path.empty()) return Mistake{"names no file", "write address = \"unix:/run/mailonce/smtp.sock\""};
      out.unix_path = (folder / path).string();
      if (out.unix_path.size() > longest_unix_path)
        return Mistake{"is longer than the 107 octets that the system allows", "name a shorter path"};
      return out;
    }
    auto endpoint = parse_endpoint(text);
    if (!endpoint) return endpoint.error();
    out.endpoint = *endpoint;
    return out;
  };
  table.value("address", listener, parse);
}

Parsed<unsigned> parse_mode(std::string_view text) {
  unsigned mode = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mode, 8);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || mode > 0777)
    return Mistake{"is no file mode", "write three octal digits, as in \"0660\""};
  return mode;
}

void read_file(Table& table, std::string_view key, const fs::path& folder, std::string& into) {
  if (!table.text(key, into) || into.empty()) return;
  into = (folder / into).string();
  if (::access(into.c_str(), R_OK) != 0)
    table.error(key, {"can not be read", "name a file that this user can read"});
}

void read_tls(Table& table, const fs::path& folder, Listener& listener) {
  auto& files = listener.certificates;
  read_file(table, "certificate_file", folder, files.certificate_file);
  read_file(table, "key_file", folder, files.key_file);
  read_file(table, "client_ca_file", folder, files.client_ca_file);
  const bool named = !files.certificate_file.empty();
  if (named) listener.tls = ListenerTls::starttls;
  table.choice<ListenerTls>("tls", listener.tls,
                            {{"none", ListenerTls::none},
                             {"starttls", ListenerTls::starttls},
                             {"implicit", ListenerTls::implicit}});
  table.flag("require_tls", listener.require_tls);
  if (named != !files.key_file.empty()) {
    table.error(named ? "certificate_file" : "key_file",
                {"stands alone", "name the certificate in certificate_file and its key in key_file"});
  }
  if (listener.tls != ListenerTls::none && !named)
    table.error("tls", {"needs a certificate", "name it in certificate_file, and its key in key_file"});
  if (listener.tls == ListenerTls::none) {
    const Mistake mistake{"is for TLS, and this listener has none",
                          "write tls = \"starttls\" or \"implicit\""};
    if (listener.require_tls) table.error("require_tls", mistake);
    if (!files.client_ca_file.empty()) table.error("client_ca_file", mistake);
  }
}

void read_login(Table& table, const fs::path& folder, const std::vector<upstream::Options>& upstreams,
                Listener& listener) {
  read_file(table, "users_file", folder, listener.users_file);
  if (!listener.users_file.empty()) listener.login = LoginAt::users;
  table.choice<LoginAt>(
      "auth", listener.login,
      {{"none", LoginAt::nobody}, {"users", LoginAt::users}, {"upstream", LoginAt::upstream}});
  table.value("auth_upstream", listener.login_upstream,
              [&](std::string_view name) { return upstream_named(name, upstreams); });
  table.flag("allow_plaintext_auth", listener.auth_in_clear);
  if (table.has("auth_upstream") && listener.login != LoginAt::upstream)
    table.error("auth_upstream", {"is asked by nobody", "write auth = \"upstream\", or leave the key out"});
  if (listener.login == LoginAt::users && listener.users_file.empty() && !table.has("users_file"))
    table.error("auth", {"needs the users", "name a file with a line NAME:HASH for each in users_file"});
  if (listener.login == LoginAt::nobody || listener.tls != ListenerTls::none || listener.auth_in_clear)
    return;
  table.error("auth",
              {"is offered in no session: there is no TLS here, and passwords are not taken in the clear",
               "name certificate_file and key_file, or set allow_plaintext_auth = true for clients on "
               "this host"});
}

// The hosts that may say whose connection they pass on.
void read_networks(Table& table, std::string_view key, const Listener& listener, server::Networks& into) {
  for (const auto& item : table.items(key)) {
    if (const auto added = add_network(item.text, into); !added) table.error(item, added.error());
  }
  if (table.has(key) && !listener.unix_path.empty()) {
    table.error(key, {"is for addresses, and the clients of a Unix socket have none", "take it out"});
  } else if (everybody(into.v4) || everybody(into.v6)) {
    table.warning(key, {"whoever reaches this listener can say that it is any client",
                        "name the proxies' own addresses"});
  }
}

}  // namespace

std::optional<Mistake> exposure(const server::Listener& listener) {
  const auto& allow = listener.allow;
  if (!listener.unix_path.empty()) return {};
  if (allow.v4.empty() && allow.v6.empty()) {
    if (listener.offers_login() || !listener.xclient.empty()) return {};  // XCLIENT's LOGIN is one
    return Mistake{"nobody may relay through this listener", "name the clients' networks in allow"};
  }
  const bool behind_proxy = !listener.proxy_protocol.empty() || !listener.xclient.empty();
  if (listener.endpoint.address().is_loopback() && !behind_proxy) return {};
  if (everybody(allow.v4) || everybody(allow.v6)) {
    return Mistake{"is an open relay: whoever reaches it sends mail in your name",
                   "name the clients' networks in allow"};
  }
  if (only_loopback(allow.v4) && only_loopback(allow.v6) && !listener.offers_login() &&
      listener.xclient.empty()) {
    return Mistake{"only this host may relay through this listener", "name the clients' networks in allow"};
  }
  return {};
}

void read_listener(Table& table, const fs::path& folder, const std::vector<upstream::Options>& upstreams,
                   Listener& listener) {
  const auto errors_before = table.errors();
  read_address(table, folder, listener);
  if (table.has("allow")) listener.allow = {};
  for (const auto& item : table.items("allow")) {
    if (const auto added = add_network(item.text, listener.allow); !added) table.error(item, added.error());
  }
  read_networks(table, "proxy_protocol", listener, listener.proxy_protocol);
  read_networks(table, "xclient", listener, listener.xclient);
  table.value("mode", listener.unix_mode, parse_mode);
  read_tls(table, folder, listener);
  read_login(table, folder, upstreams, listener);
  table.finish();
  if (table.errors() != errors_before) return;
  if (const auto exposed = exposure(listener)) table.warning("address", *exposed);
}

}  // namespace mailonce::config
