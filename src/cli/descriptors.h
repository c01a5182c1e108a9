// Open files: a connection that takes the last one leaves none for the way to the upstream, the store, a
// spooled body.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "mailonce/config/configuration.h"

namespace mailonce::cli {

// How many of the clients' connections fit under a limit of open files, beside what else needs them.
std::size_t connections_that_fit(std::size_t open_files, const config::Configuration& configuration);

// Takes what the system allows this process (the soft limit becomes the hard one) and lowers max_connections
// to what fits. A sentence for the operator when it had to.
std::optional<std::string> fit_connections(const config::Configuration& configuration,
                                           server::Options& server);

}  // namespace mailonce::cli
