#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "overrides.h"
#include "sections.h"

namespace mailonce::config {
namespace {

bool writable_directory(const std::string& directory) {
  struct stat info {};
  return ::stat(directory.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         ::access(directory.c_str(), W_OK | X_OK) == 0;
}

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

}  // namespace

std::optional<Mistake> exposure(const server::Listener& listener) {
  const auto& allow = listener.allow;
  if (allow.v4.empty() && allow.v6.empty()) {
    return Mistake{"nobody may relay through this listener", "name the clients' networks in allow"};
  }
  if (listener.endpoint.address().is_loopback()) return {};
  if (everybody(allow.v4) || everybody(allow.v6)) {
    return Mistake{"is an open relay: whoever reaches it sends mail in your name",
                   "name the clients' networks in allow"};
  }
  if (only_loopback(allow.v4) && only_loopback(allow.v6)) {
    return Mistake{"only this host may relay through this listener", "name the clients' networks in allow"};
  }
  return {};
}

void read_server(Table& table, server::Options& options) {
  table.value("hostname", options.hostname, parse_hostname);
  table.count("workers", options.workers, 0, 256);
  table.finish();
}

void read_listener(Table& table, server::Listener& listener) {
  const auto errors_before = table.errors();
  if (!table.has("address")) {
    table.missing("address", {"is missing", "write address = \"127.0.0.1:2525\""});
  }
  table.value("address", listener.endpoint, parse_endpoint);
  if (table.has("allow")) listener.allow = {};
  for (const auto& item : table.items("allow")) {
    if (const auto added = add_network(item.text, listener.allow); !added) table.error(item, added.error());
  }
  table.finish();
  if (table.errors() != errors_before) return;
  if (const auto exposed = exposure(listener)) table.warning("address", *exposed);
}

void read_limits(Table& table, server::Options& server, relay::Options& relay) {
  constexpr std::uint64_t kilobyte = 1000, gigabyte = 1'000'000'000;
  table.octets("message_size", server.max_message_octets, 64 * kilobyte, 2 * gigabyte);
  table.octets("memory_per_message", server.blob.memory_octets, 4 * kilobyte, gigabyte);
  if (table.text("spool_directory", server.blob.directory) && !writable_directory(server.blob.directory)) {
    table.error("spool_directory", {"is not a directory this user can write", "create it, or name another"});
  }
  table.count("recipients", server.max_recipients, 1, 5000);
  table.count("connections", server.max_connections, 1, 1'000'000);
  table.count("received", relay.max_received_fields, 1, 10'000);
  auto& timeouts = server.timeouts;
  const auto least = seconds(1), hour = seconds(3600);
  table.duration("command_timeout", timeouts.command, least, hour);
  table.duration("data_timeout", timeouts.data, least, hour);
  table.duration("message_timeout", timeouts.message, least, 24 * hour);
  table.duration("write_timeout", timeouts.write, least, hour);
  table.duration("drain_timeout", timeouts.drain, milliseconds(0), hour);
  table.finish();
}

}  // namespace mailonce::config
