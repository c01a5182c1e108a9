#include "descriptors.h"

#include <sys/resource.h>

#include <algorithm>
#include <utility>

namespace mailonce::cli {
namespace {

constexpr std::size_t for_ourselves = 64;  // listeners, log, store, event loops

}  // namespace

std::size_t connections_that_fit(std::size_t open_files, const config::Configuration& configuration) {
  std::size_t others = for_ourselves;
  for (const auto& upstream : configuration.upstreams) others += upstream.pool.max_connections;
  // A quarter: bodies that went into a file, connections under the clients' own credentials.
  const std::size_t room = open_files > others ? (open_files - others) / 4 * 3 : 0;
  return std::max<std::size_t>(room, 1);
}

std::optional<std::string> fit_connections(const config::Configuration& configuration,
                                           server::Options& server) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  if (limit.rlim_cur != limit.rlim_max) {
    const rlim_t before = std::exchange(limit.rlim_cur, limit.rlim_max);
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  }
  if (limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const auto fit = connections_that_fit(limit.rlim_cur, configuration);
  if (fit >= server.max_connections) return std::nullopt;
  const auto wanted = std::exchange(server.max_connections, fit);
  return "the system allows this process " + std::to_string(limit.rlim_cur) +
         " open files, so that it takes " + std::to_string(fit) + " connections and not " +
         std::to_string(wanted) +
         "; raise the limit (LimitNOFILE= of systemd, ulimit -Hn), or lower limits.connections";
}

}  // namespace mailonce::cli
