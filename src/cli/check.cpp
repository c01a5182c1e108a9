#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <deque>
#include <exception>
#include <ostream>
#include <vector>

#include "commands.h"
#include "mailonce/cli/run.h"
#include "mailonce/observe/log.h"
#include "mailonce/server/door.h"
#include "mailonce/upstream/pool.h"
#include "mailonce/window/shared.h"

namespace mailonce::cli {
namespace {

using boost::asio::awaitable;

std::string offers(const smtp::Capabilities& capabilities) {
  std::string out;
  const auto add = [&](bool offered, std::string_view name) {
    if (offered) out += (out.empty() ? ", offers " : ", ") + std::string(name);
  };
  add(capabilities.pipelining, "PIPELINING");
  add(capabilities.eight_bit_mime, "8BITMIME");
  add(capabilities.size, "SIZE");
  return out;
}

// What a try said; `failed` when it did not succeed.
struct Outcome {
  std::string text;
  bool failed = true;
};

awaitable<void> log_in(upstream::Pool& pool, bool with_password, Outcome& outcome) {
  auto connection = co_await pool.borrow(upstream::Freshness::fresh);
  outcome.failed = connection.has_error();
  outcome.text = outcome.failed
                     ? connection.error().message()
                     : (with_password ? "logged in" : "connected") + offers((*connection)->capabilities());
}

awaitable<void> ask(window::Window& window, Outcome& outcome) {
  const auto answer = co_await window.ping();
  outcome.failed = answer.has_error();
  outcome.text = outcome.failed ? answer.error().message() : "answers";
}

// Why what it waited for ended with an exception is told by run().
void rethrow(const std::exception_ptr& exception) {
  if (exception) std::rethrow_exception(exception);
}

bool try_connections(const config::Configuration& configuration, Streams streams) {
  observe::LogOptions told;  // the reasons, to the terminal, whatever the file says of the log
  told.level = observe::Level::warning;
  observe::Log log(told);
  const auto& upstreams = configuration.upstreams;
  std::vector<Outcome> providers(upstreams.size());
  Outcome store;
  {
    boost::asio::io_context context(1);
    std::deque<upstream::Pool> pools;
    for (const auto& each : upstreams)
      pools.emplace_back(context.get_executor(), each, upstream::make_tls(each), log);
    window::Shared shared(configuration.window);
    const auto window = shared.open(context, log);
    std::size_t pending = upstreams.size() + 2;
    const auto ended = [&](const std::exception_ptr& exception) {
      rethrow(exception);
      if (--pending == 0) context.stop();
    };
    for (std::size_t i = 0; i < pools.size(); ++i) {
      const bool with_password = !upstreams[i].username.empty();
      boost::asio::co_spawn(context, log_in(pools[i], with_password, providers[i]), ended);
    }
    boost::asio::co_spawn(
        context, [&] { return ask(*window, store); }, ended);
    boost::asio::co_spawn(context, shared.inspect(context, log), ended);
    context.run();
  }
  log.flush();
  bool failed = store.failed;
  for (std::size_t i = 0; i < providers.size(); ++i) {
    const auto& name = upstreams.size() == 1 ? upstreams[i].host : upstreams[i].name;
    streams.out << "upstream " << name << ": " << providers[i].text << '\n';
    failed = failed || providers[i].failed;
  }
  streams.out << "store: " << store.text << '\n';
  return !failed;
}

// What only the libraries can tell of a file: that it holds no certificate.
bool tls_usable(const config::Configuration& configuration, Streams streams) {
  bool usable = true;
  std::size_t number = 0;
  for (const auto& each : configuration.upstreams) {
    try {
      upstream::make_tls(each);
    } catch (const std::exception& error) {
      streams.err << "error: upstream[" << number << "].ca_file: " << error.what()
                  << "; name a PEM file with certificates\n";
      usable = false;
    }
    ++number;
  }
  return usable;
}

// What only reading tells: certificates, and the file of users.
bool doors_usable(const config::Configuration& configuration, Streams streams) {
  bool usable = true;
  std::size_t number = 0;
  for (const auto& listener : configuration.server.listeners) {
    try {
      const server::Door door(listener);
    } catch (const std::exception& error) {
      streams.err << "error: listen[" << number << "]: " << error.what() << '\n';
      usable = false;
    }
    ++number;
  }
  return usable;
}

}  // namespace

int check(const CheckCommand& command, Streams streams) {
  const auto loaded = config::load(command.config, command.overrides);
  for (const auto& line : loaded.report.lines()) streams.err << line << '\n';
  if (!loaded.report.ok() || !doors_usable(loaded.configuration, streams) ||
      !tls_usable(loaded.configuration, streams))
    return exit_code::wrong;
  if (const auto problem = config::unusable_store(loaded.configuration)) {
    streams.err << "error: " << problem->text() << '\n';
    return exit_code::wrong;
  }
  for (const auto& line : config::summary(loaded.configuration)) streams.out << line << '\n';
  if (command.connect && !try_connections(loaded.configuration, streams)) return exit_code::wrong;
  return exit_code::ok;
}

}  // namespace mailonce::cli
