#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>
#include <ostream>

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
  Outcome upstream, store;
  {
    boost::asio::io_context context(1);
    upstream::Pool pool(context.get_executor(), configuration.upstream,
                        upstream::make_tls(configuration.upstream), log);
    window::Shared shared(configuration.window);
    const auto window = shared.open(context, log);
    int pending = 3;
    const auto ended = [&](const std::exception_ptr& exception) {
      rethrow(exception);
      if (--pending == 0) context.stop();
    };
    const bool with_password = !configuration.upstream.username.empty();
    boost::asio::co_spawn(
        context, [&] { return log_in(pool, with_password, upstream); }, ended);
    boost::asio::co_spawn(
        context, [&] { return ask(*window, store); }, ended);
    boost::asio::co_spawn(context, shared.inspect(context, log), ended);
    context.run();
  }
  log.flush();
  streams.out << "upstream " << configuration.upstream.host << ": " << upstream.text << '\n'
              << "store: " << store.text << '\n';
  return !upstream.failed && !store.failed;
}

// What only the libraries can tell of a file: that it holds no certificate.
bool tls_usable(const config::Configuration& configuration, Streams streams) {
  try {
    upstream::make_tls(configuration.upstream);
    return true;
  } catch (const std::exception& error) {
    streams.err << "error: upstream[0].ca_file: " << error.what() << "; name a PEM file with certificates\n";
    return false;
  }
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
