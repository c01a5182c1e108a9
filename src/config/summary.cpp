
#include "mailonce/config/configuration.h"
#include "mailonce/config/values.h"
#include "mailonce/observe/escape.h"

namespace mailonce::config {
namespace {

using upstream::Security;

std::string quoted(std::string_view text) {
  std::string out;
  observe::append_word(out, text);
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string endpoint(const boost::asio::ip::tcp::endpoint& at) {
  const auto address = at.address().to_string();
  return (at.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(at.port());
}

std::vector<std::string> words(const server::Networks& networks) {
  std::vector<std::string> out;
  for (const auto& network : networks.v4) out.push_back(network.to_string());
  for (const auto& network : networks.v6) out.push_back(network.to_string());
  return out;
}

std::string listener_line(const server::Listener& listener) {
  const auto networks = words(listener.allow);
  const auto at = listener.unix_path.empty() ? endpoint(listener.endpoint) : "unix:" + listener.unix_path;
  auto out = "listen " + at + ", relays for ";
  if (!listener.unix_path.empty()) {
    out += "who may open it";
  } else {
    out += networks.empty() ? "nobody" : joined(networks);
  }
  if (listener.login == server::LoginAt::users) out += ", for users of " + quoted(listener.users_file);
  if (listener.login == server::LoginAt::upstream) out += ", for who can log in upstream";
  if (!listener.certificates.client_ca_file.empty()) out += ", for who has a certificate";
  if (const auto proxies = words(listener.proxy_protocol); !proxies.empty())
    out += ", PROXY header from " + joined(proxies);
  if (const auto hosts = words(listener.xclient); !hosts.empty()) out += ", XCLIENT from " + joined(hosts);
  if (listener.tls == server::ListenerTls::none) return out + ", no TLS";
  out += listener.tls == server::ListenerTls::starttls ? ", STARTTLS" : ", TLS";
  return out + (listener.require_tls ? " required" : "");
}

std::string rate_text(const upstream::Rate& rate) {
  if (rate.count == 0) return "";
  return ", " + std::to_string(rate.count) + " recipients in " + format_duration(rate.each);
}

std::string upstream_line(const upstream::Options& options) {
  const auto scheme = options.security == Security::plain      ? "smtp://"
                      : options.security == Security::starttls ? "smtp+starttls://"
                                                               : "smtps://";
  const bool v6 = options.host.find(':') != std::string::npos;
  return "upstream " + quoted(options.name) + " " + scheme + (v6 ? "[" + options.host + "]" : options.host) +
         ":" + std::to_string(options.port) +
         (options.username.empty() ? ", no login" : ", login " + quoted(options.username)) + ", " +
         std::to_string(options.pool.max_connections) + " connections at most" + rate_text(options.max_rate);
}

std::string route_line(const relay::Route& route, const Configuration& configuration) {
  std::vector<std::string> names;
  for (const auto place : route.upstreams) names.push_back(quoted(configuration.upstreams.at(place).name));
  const bool some = !route.senders.empty() || !route.credentials.empty();
  return "route " + std::string(some ? "of a part of the mail" : "of the other mail") + " to " +
         joined(names);
}

std::string store_line(const Configuration& configuration) {
  if (configuration.window.kind == window::Kind::memory) {
    return "store memory, " + std::to_string(configuration.window.memory.max_records) +
           " records at most; forgotten at exit, not shared";
  }
  if (configuration.window.kind == window::Kind::sqlite) {
    const bool disk = configuration.window.sqlite.durability == window::Durability::disk;
    return "store sqlite:" + configuration.window.sqlite.path + ", durability " + (disk ? "disk" : "process");
  }
  return "store " + redis::printable_url(configuration.window.redis);
}

std::string window_text(const relay::Policy& policy) {
  auto out = "window content " + format_duration(policy.content_window) + ", key " +
             format_duration(policy.key_window) + ", message-id " + format_duration(policy.message_id_window);
  if (policy.slide_cap > milliseconds(0)) out += ", sliding up to " + format_duration(policy.slide_cap);
  return out;
}

template <class Enum>
std::size_t index(Enum value) {
  return static_cast<std::size_t>(value);
}

std::string policy_text(const relay::Policy& policy) {
  constexpr const char* modes[] = {"enforce", "observe", "off"};
  constexpr const char* doubts[] = {"resend", "suppress", "defer"};
  constexpr const char* downs[] = {"local", "defer", "forward"};
  std::vector<std::string> strategies;
  for (const auto& strategy : policy.identity.strategies) strategies.push_back(strategy.name());
  return modes[index(policy.mode)] + std::string(", strategy ") + joined(strategies) + ", doubt " +
         doubts[index(policy.doubt)] + ", store_down " + downs[index(policy.store_down)];
}

}  // namespace

std::vector<std::string> summary(const Configuration& configuration) {
  std::vector<std::string> lines;
  for (const auto& listener : configuration.server.listeners) lines.push_back(listener_line(listener));
  for (const auto& each : configuration.upstreams) lines.push_back(upstream_line(each));
  for (const auto& route : configuration.relay.routes) lines.push_back(route_line(route, configuration));
  lines.push_back(store_line(configuration));
  const auto& relay = configuration.relay;
  lines.push_back(window_text(relay.policy));
  for (const auto& rule : relay.rules) {
    lines.push_back("rule " + quoted(rule.policy.rule) + " " + policy_text(rule.policy) + ", " +
                    window_text(rule.policy));
  }
  lines.push_back("policy " + policy_text(relay.policy));
  return lines;
}

}  // namespace mailonce::config
