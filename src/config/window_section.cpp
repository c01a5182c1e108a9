#include <algorithm>

#include "embedded_store.h"
#include "overrides.h"
#include "redis_store.h"
#include "secret.h"
#include "sections.h"

namespace mailonce::config {
namespace {

constexpr const char* password_variable = "MAILONCE_STORE_PASSWORD";
constexpr std::size_t min_secret_octets = 16;  // less can be tried out by whoever has the records

Parsed<std::string> parse_prefix(std::string_view text) {
  // Braces would put all records into one slot of a Redis Cluster (DESIGN.md §4).
  if (text.size() > 64 || text.find_first_of("{} \t\r\n") != std::string_view::npos) {
    return Mistake{"is over 64 octets or holds a brace or white space", "write it as in \"shop:\""};
  }
  return std::string(text);
}

// Ports do not count: another server of the same hosts is the same people's.
bool same_place(const redis::Options& one, const redis::Options& other) {
  const auto same_host = [](const redis::Address& a, const redis::Address& b) { return a.host == b.host; };
  return std::equal(one.servers.begin(), one.servers.end(), other.servers.begin(), other.servers.end(),
                    same_host);
}

void read_times(Table& table, relay::Policy& policy) {
  read_window_length(table, "content", policy.content_window);
  read_window_length(table, "key", policy.key_window);
  read_window_length(table, "message_id", policy.message_id_window);
  read_window_length(table, "sliding", policy.slide_cap);
  const auto shortest = std::min({policy.content_window, policy.key_window, policy.message_id_window});
  if (table.has("sliding") && policy.slide_cap <= shortest) {
    table.error("sliding", {"is not longer than any window, so that nothing would slide",
                            "write how long after the first a repeat may still prolong the window"});
  }
}

void read_fingerprint_secret(Table& table, const std::filesystem::path& folder, std::string& into) {
  auto secret = take_secret(table, "secret", folder);
  if (!secret) return;
  if (secret->size() < min_secret_octets) {
    table.error(table.has("secret_file") ? "secret_file" : "secret_env",
                {"holds less than 16 octets", "fill it as in: openssl rand -base64 32"});
  }
  into = std::move(*secret);
}

}  // namespace

void read_window_length(Table& table, std::string_view key, milliseconds& into) {
  table.duration(key, into, seconds(1), seconds(366 * 24 * 3600));
}

Parsed<void> set_store_url(std::string_view url, const std::filesystem::path& folder,
                           Configuration& configuration) {
  const Mistake mistake{
      "is not a store",
      "write as in \"sqlite:/var/lib/mailonce/window.db\", \"redis://127.0.0.1:6379/0\" or \"memory:\""};
  if (url.starts_with("sqlite:")) return set_sqlite_url(url, folder, configuration.window);
  if (printable_url(url) != url) {
    return Mistake{"holds a password, and files, command lines and logs are read by others",
                   std::string("put it in a file or the environment: ") + password_variable};
  }
  if (url == "memory:") {
    configuration.window.kind = window::Kind::memory;
    return {};
  }
  if (!url.starts_with("redis")) return mistake;
  auto parsed = redis::parse_url(url);
  if (!parsed) return Mistake{parsed.error().message(), mistake.cure};
  // What the file says of the store besides its URL stays, but one server's password is not for another.
  auto& options = configuration.window.redis;
  if (configuration.window.kind == window::Kind::redis && !same_place(options, *parsed)) {
    options.password.clear();
    options.sentinel_password.clear();
  }
  configuration.window.kind = window::Kind::redis;
  options.topology = parsed->topology;
  options.tls = parsed->tls;
  options.servers = std::move(parsed->servers);
  options.service = std::move(parsed->service);
  options.username = std::move(parsed->username);
  options.database = parsed->database;
  return {};
}

void complete_store(Configuration& configuration) {
  auto& window = configuration.window;
  if (window.kind == window::Kind::sqlite && window.sqlite.path.empty())
    window.sqlite.path = default_store_path().string();
  auto& options = configuration.window.redis;
  if (configuration.window.kind != window::Kind::redis || !options.password.empty()) return;
  if (auto password = read_secret_variable(password_variable)) options.password = std::move(*password);
}

void read_window(Table& table, const std::filesystem::path& folder, Configuration& configuration) {
  std::string url;
  if (table.text("store", url)) {
    if (const auto set = set_store_url(url, folder, configuration); !set) table.error("store", set.error());
  }
  auto& redis = configuration.window.redis;
  if (auto password = take_secret(table, "password", folder)) redis.password = std::move(*password);
  table.duration("timeout", redis.command_deadline, milliseconds(10), seconds(60));
  configuration.window.sqlite.deadline = redis.command_deadline;
  read_redis_store(table, folder, configuration.window.kind == window::Kind::redis, redis);
  table.choice("durability", configuration.window.sqlite.durability,
               Choices<window::Durability>{{"disk", window::Durability::disk},
                                           {"process", window::Durability::process}});
  read_times(table, configuration.relay.policy);
  table.duration("lease", configuration.window.lease, seconds(5), seconds(600));
  table.count("memory_max_records", configuration.window.memory.max_records, 1000, 100'000'000);
  table.value("prefix", configuration.window.prefix, parse_prefix);
  read_fingerprint_secret(table, folder, configuration.relay.policy.identity.secret);
  table.finish();
}

}  // namespace mailonce::config
