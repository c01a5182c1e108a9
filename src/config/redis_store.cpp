#include "redis_store.h"

#include <unistd.h>

#include "secret.h"

namespace mailonce::config {
namespace {

void read_file(Table& table, std::string_view key, const std::filesystem::path& folder, std::string& into) {
  if (!table.text(key, into) || into.empty()) return;
  into = (folder / into).string();
  if (::access(into.c_str(), R_OK) != 0)
    table.error(key, {"can not be read", "name a PEM file, or leave the key out"});
}

// What this store does not use would be believed to be in force.
void without_effect(Table& table, std::string_view key, bool set, const Mistake& mistake) {
  if (set && table.has(key)) table.warning(key, mistake);
}

}  // namespace

void read_redis_store(Table& table, const std::filesystem::path& folder, bool is_store,
                      redis::Options& options) {
  if (auto password = take_secret(table, "sentinel_password", folder))
    options.sentinel_password = std::move(*password);
  table.text("sentinel_user", options.sentinel_username);
  read_file(table, "ca_file", folder, options.certificates.ca_file);
  read_file(table, "certificate_file", folder, options.certificates.certificate_file);
  read_file(table, "key_file", folder, options.certificates.key_file);
  table.count("min_replicas", options.min_replicas, 0, 16);
  table.duration("replica_timeout", options.replica_timeout, milliseconds(10), seconds(10));
  if (!is_store || options.topology != redis::Topology::sentinel) {
    const Mistake mistake{"is for Sentinels, and the store's URL names none",
                          "write redis+sentinel://HOST:26379,HOST:26379/SERVICE, or leave the key out"};
    without_effect(table, "sentinel_user", !options.sentinel_username.empty(), mistake);
    without_effect(table, "sentinel_password_file", true, mistake);
    without_effect(table, "sentinel_password_env", true, mistake);
  }
  if (!is_store || !options.tls) {
    const Mistake mistake{"is for TLS, and the store's URL does not ask for it",
                          "write rediss:// for redis://, or leave the key out"};
    without_effect(table, "ca_file", !options.certificates.ca_file.empty(), mistake);
    without_effect(table, "certificate_file", !options.certificates.certificate_file.empty(), mistake);
    without_effect(table, "key_file", !options.certificates.key_file.empty(), mistake);
  }
  if (!is_store) {
    without_effect(table, "min_replicas", options.min_replicas > 0,
                   {"is for Redis, and the store is another one", "leave the key out"});
  }
  if (options.certificates.certificate_file.empty() != options.certificates.key_file.empty()) {
    const bool key_alone = options.certificates.certificate_file.empty();
    table.error(key_alone ? "key_file" : "certificate_file",
                {"stands alone", "a client certificate needs certificate_file and key_file"});
  }
  if (options.replica_timeout >= options.command_deadline &&
      (options.min_replicas > 0 || table.has("replica_timeout"))) {
    table.error("replica_timeout", {"is not shorter than timeout, so that every step could fail",
                                    "write less, or a longer timeout"});
  }
}

}  // namespace mailonce::config
