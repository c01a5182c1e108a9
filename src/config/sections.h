// One function a table of the file: reads it into the Options of the module it belongs to.
#pragma once
#include <filesystem>

#include "mailonce/config/configuration.h"
#include "table.h"

namespace mailonce::config {

void read_server(Table& table, server::Options& options);
// After the upstreams.
void read_listener(Table& table, const std::filesystem::path& folder,
                   const std::vector<upstream::Options>& upstreams, server::Listener& listener);
void read_limits(Table& table, server::Options& server, relay::Options& relay);
void read_policy(Table& table, relay::Options& options);
// What [policy] and [[rule]] have in common.
void read_decisions(Table& table, relay::Policy& policy);
// Of a record: from one second to a year.
void read_window_length(Table& table, std::string_view key, milliseconds& into);
// All [[rule]]; what one does not set is as in `options.policy`, which must be complete.
void read_rules(Table& root, relay::Options& options);
// All [[upstream]]. `replaced`: the command line gives another URL; what the first says else still holds.
void read_upstreams(Table& root, const std::filesystem::path& folder, bool replaced,
                    std::vector<upstream::Options>& upstreams);
Parsed<std::size_t> upstream_named(std::string_view name, const std::vector<upstream::Options>& upstreams);
// All [[route]], after the upstreams.
void read_routes(Table& root, Configuration& configuration);
void read_window(Table& table, const std::filesystem::path& folder, Configuration& configuration);
void read_log(Table& table, const std::filesystem::path& folder, observe::LogOptions& options);

}  // namespace mailonce::config
