#include <algorithm>
#include <thread>

#include "mailonce/config/file.h"
#include "overrides.h"
#include "sections.h"

namespace mailonce::config {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_file_octets = 1U << 20;

void read_listeners(Table& root, const fs::path& folder, Configuration& configuration) {
  for (auto& table : root.tables("listen"))
    read_listener(table, folder, configuration.upstreams, configuration.server.listeners.emplace_back());
}

constexpr std::size_t least_of_a_worker = 4;

// Upstream connections belong to a worker each, and all together may not be more than the provider takes. A
// worker with one or two would be out of them while others have some to spare.
void settle_workers(Configuration& configuration) {
  auto& workers = configuration.server.workers;
  if (workers == 0) workers = std::max(1U, std::thread::hardware_concurrency());
  for (const auto& upstream : configuration.upstreams)
    workers = std::min(workers, std::max<std::size_t>(upstream.pool.max_connections / least_of_a_worker, 1));
}

void read_tables(Table& root, const fs::path& folder, const Overrides& overrides,
                 Configuration& configuration) {
  read_upstreams(root, folder, overrides.upstream.has_value(), configuration.upstreams);
  read_routes(root, configuration);
  read_listeners(root, folder, configuration);
  if (auto table = root.table("server")) read_server(*table, configuration.server);
  if (auto table = root.table("window")) read_window(*table, folder, configuration);
  if (auto table = root.table("policy")) read_policy(*table, configuration.relay);
  if (auto table = root.table("limits")) read_limits(*table, configuration.server, configuration.relay);
  if (auto table = root.table("log")) read_log(*table, folder, configuration.log);
  read_rules(root, configuration.relay);
  root.finish();
}

void read_configuration(const std::string& file, const Overrides& overrides, Loaded& loaded) {
  const auto text = read_file(file, max_file_octets);
  if (!text) {
    const auto reason = "can not be read: " + text.error().message();
    loaded.report.errors.push_back({file, "", "", reason, "name a file that exists"});
    return;
  }
  try {
    const auto toml = toml::parse(*text, file);
    Table root(toml, "", file, loaded.report);
    read_tables(root, fs::path(file).parent_path(), overrides, loaded.configuration);
  } catch (const toml::parse_error& error) {
    const auto where = file + ":" + std::to_string(error.source().begin.line);
    loaded.report.errors.push_back({where, "", "", "is not TOML: " + std::string(error.description()),
                                    "correct the syntax there; the rest is checked after that"});
  }
}

}  // namespace

Loaded load(const std::optional<std::string>& file, const Overrides& overrides) {
  Loaded loaded;
  if (file) read_configuration(*file, overrides, loaded);
  apply(overrides, loaded);
  complete_store(loaded.configuration);
  if (loaded.configuration.server.listeners.empty()) {
    const auto loopback = boost::asio::ip::make_address("127.0.0.1");
    loaded.configuration.server.listeners.emplace_back().endpoint = {loopback, 2525};
  }
  settle_workers(loaded.configuration);
  if (loaded.configuration.upstreams.empty() && loaded.report.ok()) {
    loaded.report.errors.push_back({file.value_or("mailonce"), "upstream", "",
                                    "is missing: mail has nowhere to go",
                                    "give --upstream URL, or [[upstream]] in the file"});
  }
  return loaded;
}

}  // namespace mailonce::config
