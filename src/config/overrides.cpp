#include "overrides.h"

#include "mailonce/config/values.h"
#include "mailonce/observe/escape.h"

namespace mailonce::config {
namespace {

Problem problem(std::string option, std::string_view value, const Mistake& mistake) {
  std::string shown;
  observe::append_quoted(shown, printable_url(value));
  return {std::move(option), "", std::move(shown), mistake.reason, mistake.cure};
}

void apply_listen(const std::vector<std::string>& addresses, Loaded& loaded) {
  auto& listeners = loaded.configuration.server.listeners;
  auto like = listeners.empty() ? server::Listener{} : listeners.front();
  like.unix_path.clear();
  listeners.clear();
  for (const auto& address : addresses) {
    const auto endpoint = parse_endpoint(address);
    if (!endpoint) {
      loaded.report.errors.push_back(problem("--listen", address, endpoint.error()));
      continue;
    }
    like.endpoint = *endpoint;
    listeners.push_back(like);
    if (const auto exposed = exposure(listeners.back())) {
      loaded.report.warnings.push_back(problem("--listen", address, *exposed));
    }
  }
}

void apply_upstream(const std::string& url, Loaded& loaded) {
  // The only one: what the file's routes say of others is without meaning.
  auto& upstreams = loaded.configuration.upstreams;
  upstreams.resize(1);
  loaded.configuration.relay.routes.clear();
  for (auto& listener : loaded.configuration.server.listeners) listener.login_upstream = 0;
  auto& options = upstreams.front();
  const auto host = options.host;
  if (const auto set = set_upstream_url(url, options); !set) {
    loaded.report.errors.push_back(problem("--upstream", url, set.error()));
    return;
  }
  if (options.host != host) options.password.clear();  // one provider's password is not for another
  if (const auto mistake = complete_upstream(options, true)) {
    loaded.report.errors.push_back(problem("--upstream", url, *mistake));
  }
}

void apply_store(const std::string& url, Loaded& loaded) {
  if (const auto set = set_store_url(url, ".", loaded.configuration); !set) {
    loaded.report.errors.push_back(problem("--store", url, set.error()));
  }
}

}  // namespace

void apply(const Overrides& overrides, Loaded& loaded) {
  if (!overrides.listen.empty()) apply_listen(overrides.listen, loaded);
  if (overrides.upstream) apply_upstream(*overrides.upstream, loaded);
  if (overrides.store) apply_store(*overrides.store, loaded);
}

}  // namespace mailonce::config
