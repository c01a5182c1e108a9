// The whole configuration: the TOML file (conf/mailonce.toml documents every key), the options of the command
// line over it, and the secrets both name, as each module's Options.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "mailonce/config/problem.h"
#include "mailonce/observe/log.h"
#include "mailonce/relay/options.h"
#include "mailonce/server/options.h"
#include "mailonce/upstream/options.h"
#include "mailonce/window/shared.h"

namespace mailonce::config {

struct Configuration {
  server::Options server;
  relay::Options relay;
  std::vector<upstream::Options> upstreams;  // the preferred one first; relay.routes and listeners count them
  window::Options window;
  observe::LogOptions log;
};

// Options of the command line; each replaces what the file says.
struct Overrides {
  std::vector<std::string> listen;      // ADDRESS:PORT; who may relay stays as the file's first listener says
  std::optional<std::string> upstream;  // URL: the only one then
  std::optional<std::string> store;     // URL
};

// Valid only if `report` has no errors.
struct Loaded {
  Configuration configuration;
  Report report;
};

// Never throws for what a person wrote. No `file`: defaults and overrides alone. Paths inside the file are
// relative to its folder. Secrets are read now, and only now.
Loaded load(const std::optional<std::string>& file, const Overrides& overrides);

// Why the embedded store's file can not be written, if so: what serving needs and explaining does not.
std::optional<Problem> unusable_store(const Configuration& configuration);

// In one line each, without secrets: what the configuration says, for `check`.
std::vector<std::string> summary(const Configuration& configuration);

}  // namespace mailonce::config
