#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/thread_pool.hpp>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "commands.h"
#include "descriptors.h"
#include "mailonce/cli/run.h"
#include "mailonce/observe/log.h"
#include "mailonce/server/server.h"
#include "mailonce/upstream/pool.h"
#include "mailonce/window/shared.h"

namespace mailonce::cli {
namespace {

using observe::Level;

// What all workers share of an upstream.
struct SharedUpstream {
  explicit SharedUpstream(const upstream::Options& of)
      : options(of),
        tls(upstream::make_tls(of)),
        pacer(of.max_rate.count == 0 ? nullptr : std::make_shared<upstream::Pacer>(of.max_rate)) {}

  // For one of so many workers: all together make no more connections than the provider takes.
  upstream::Options part(std::size_t worker, std::size_t workers) const {
    auto own = options;
    const auto all = options.pool.max_connections;
    own.pool.max_connections = all / workers + (worker < all % workers ? 1 : 0);
    return own;
  }

  const upstream::Options& options;
  const std::shared_ptr<boost::asio::ssl::context> tls;
  const std::shared_ptr<upstream::Pacer> pacer;
};

// One worker's side of the relay. Members end in reverse order: the relay before what it refers to.
class WorkerBackend final : public server::Backend {
 public:
  WorkerBackend(boost::asio::io_context& context, std::size_t worker,
                const config::Configuration& configuration, const std::vector<SharedUpstream>& upstreams,
                window::Shared& shared, boost::asio::thread_pool& helpers, observe::Log& log)
      : window_(shared.open(context, log)) {
    relay::Upstreams all;
    for (const auto& each : upstreams) {
      const auto own = each.part(worker, configuration.server.workers);
      all.push_back(
          &pools_.emplace_back(context.get_executor(), own, each.tls, log, upstream::PoolTies{each.pacer}));
      logins_.emplace_back(context.get_executor(), own, each.tls, log, each.pacer);
    }
    relay_.emplace(configuration.relay, *window_, std::move(all), log, helpers);
  }

  relay::Relay& relay() override { return *relay_; }
  upstream::Logins& logins(std::size_t upstream) override { return logins_.at(upstream); }
  void abort() override {
    for (auto& pool : pools_) pool.abort();
    for (auto& logins : logins_) logins.abort();
  }
  boost::asio::awaitable<void> settle(milliseconds at_most) override { return window_->settle(at_most); }

 private:
  std::deque<upstream::Pool> pools_;  // one an upstream, as are logins_
  std::deque<upstream::Logins> logins_;
  std::unique_ptr<window::Window> window_;
  std::optional<relay::Relay> relay_;
};

void tell_start(observe::Log& log, const config::Loaded& loaded) {
  for (const auto& warning : loaded.report.warnings)
    log.event(Level::warning, "configuration", warning.text());
  log.event(Level::info, "started", "mailonce " MAILONCE_VERSION);
  for (const auto& line : config::summary(loaded.configuration))
    log.event(Level::info, "configuration", line);
}

// A signal during start-up waits until the server hears it; one after the drain changes nothing any more, the
// process is ending. Threads made from here on never get them.
void hold_back_termination() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

int serve(const config::Loaded& loaded) {
  const auto& configuration = loaded.configuration;
  observe::Log log(configuration.log);
  tell_start(log, loaded);
  const std::vector<SharedUpstream> upstreams(configuration.upstreams.begin(), configuration.upstreams.end());
  window::Shared shared(configuration.window);
  // Large messages are fingerprinted here, so that their worker's other sessions go on.
  boost::asio::thread_pool helpers(1);
  std::size_t worker = 0;
  const auto make_backend = [&](boost::asio::io_context& context) {
    if (worker == 0) boost::asio::co_spawn(context, shared.inspect(context, log), boost::asio::detached);
    return std::make_unique<WorkerBackend>(context, worker++, configuration, upstreams, shared, helpers, log);
  };
  auto options = configuration.server;
  if (const auto lowered = fit_connections(configuration, options))
    log.event(Level::warning, "open_files", *lowered);
  server::Server server(std::move(options), make_backend, log);
  server.open();
  const bool complete = server.run();
  log.event(complete ? Level::info : Level::error, "stopped",
            complete ? "every session ended by itself" : "sessions were cut off at the end of the drain");
  if (const auto kept = shared.figures().to_write_back; !complete && kept > 0) {
    log.event(Level::error, "write_back_lost",
              "the process ends before the store could take what happened; repeats of these messages will be "
              "sent again",
              {{"records", std::to_string(kept)}});
  }
  log.flush();
  // Sessions are left that refer to all of the above: nothing may be destroyed under them.
  if (!complete) std::_Exit(exit_code::failed);
  return exit_code::ok;
}

}  // namespace

int serve(const ServeCommand& command, Streams streams) {
  const auto loaded = config::load(command.config, command.overrides);
  if (!loaded.report.ok()) {
    for (const auto& line : loaded.report.lines()) streams.err << line << '\n';
    return exit_code::wrong;
  }
  if (const auto problem = config::unusable_store(loaded.configuration)) {
    streams.err << "error: " << problem->text() << '\n';
    return exit_code::wrong;
  }
  hold_back_termination();
  std::signal(SIGPIPE, SIG_IGN);  // a log on a pipe whose reader left is no reason to stop
  std::signal(SIGXFSZ, SIG_IGN);  // nor is a file that may not grow: its write fails
  return serve(loaded);
}

}  // namespace mailonce::cli
