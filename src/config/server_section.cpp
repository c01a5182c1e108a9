#include <sys/stat.h>
#include <unistd.h>

#include "sections.h"

namespace mailonce::config {
namespace {

bool writable_directory(const std::string& directory) {
  struct stat info {};
  return ::stat(directory.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
         ::access(directory.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

void read_server(Table& table, server::Options& options) {
  table.value("hostname", options.hostname, parse_hostname);
  table.count("workers", options.workers, 0, 256);
  table.finish();
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
  table.count("connections_per_address", server.max_connections_per_address, 0, 1'000'000);
  table.count("unauthenticated_connections", server.max_unauthenticated_connections, 0, 1'000'000);
  table.count("commands_without_message", server.max_commands_without_message, 100, 1'000'000'000);
  table.count("messages_per_minute", server.messages_per_minute, 0, 1'000'000);
  table.octets("data_min_rate", server.min_data_rate, 0, gigabyte);
  table.count("received", relay.max_received_fields, 1, 10'000);
  auto& timeouts = server.timeouts;
  const auto least = seconds(1), hour = seconds(3600);
  table.duration("handshake_timeout", timeouts.handshake, least, hour);
  table.duration("login_timeout", timeouts.login, least, hour);
  table.duration("data_min_rate_after", timeouts.rate_grace, least, hour);
  table.duration("command_timeout", timeouts.command, least, hour);
  table.duration("data_timeout", timeouts.data, least, hour);
  table.duration("message_timeout", timeouts.message, least, 24 * hour);
  table.duration("write_timeout", timeouts.write, least, hour);
  table.duration("drain_timeout", timeouts.drain, milliseconds(0), hour);
  table.finish();
}

}  // namespace mailonce::config
