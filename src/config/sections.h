// One function a table of the file: reads it into the Options of the module it belongs to.
#pragma once
#include <filesystem>

#include "mailonce/config/configuration.h"
#include "table.h"

namespace mailonce::config {

void read_server(Table& table, server::Options& options);
void read_listener(Table& table, const std::filesystem::path& folder, server::Listener& listener);
void read_limits(Table& table, server::Options& server, relay::Options& relay);
void read_policy(Table& table, relay::Options& options);
// What [policy] and [[rule]] have in common.
void read_decisions(Table& table, relay::Policy& policy);
// Of a record: from one second to a year.
void read_window_length(Table& table, std::string_view key, milliseconds& into);
// All [[rule]]; what one does not set is as in `options.policy`, which must be complete.
void read_rules(Table& root, relay::Options& options);
// `replaced`: the command line gives another URL; the rest still holds.
void read_upstream(Table& table, const std::filesystem::path& folder, bool replaced,
                   upstream::Options& options);
void read_window(Table& table, const std::filesystem::path& folder, Configuration& configuration);
void read_log(Table& table, const std::filesystem::path& folder, observe::LogOptions& options);

}  // namespace mailonce::config
