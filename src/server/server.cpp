#include "mailonce/server/server.h"

#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/ip/host_name.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <cstring>
#include <thread>

#include "admission.h"
#include "binding.h"
#include "mailonce/smtp/reply.h"
#include "message_rate.h"
#include "worker.h"

namespace mailonce::server {
namespace {

using boost::asio::ip::tcp;
constexpr auto as_tuple = boost::asio::as_tuple(boost::asio::use_awaitable);

// After the drain every upstream operation was ended; what is still there then is a bug, and no reason to
// hang.
constexpr seconds abort_grace{5};

// For the store after a drain that took all its time.
constexpr milliseconds least_settling{1000};

// SIGTERM and SIGINT reach this thread while it runs the server, and at no other time.
class TerminationHeard {
 public:
  TerminationHeard() {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &signals, &before_);
  }
  ~TerminationHeard() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  TerminationHeard(const TerminationHeard&) = delete;
  TerminationHeard& operator=(const TerminationHeard&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

struct Server::State {
  State(Options o, BackendFactory f, observe::Log& l)
      : options(std::move(o)), factory(std::move(f)), log(l) {}

  Options options;
  Admission admission{options};  // outlives the workers, whose sessions hold places
  MessageRate rate{options.messages_per_minute};
  BackendFactory factory;
  observe::Log& log;
  boost::asio::io_context context{1};  // listeners, signals, the drain: the thread that called run()
  std::vector<Acceptor> acceptors;
  std::vector<std::shared_ptr<Door>> doors;  // one a listener
  std::vector<std::unique_ptr<Worker>> workers;
  boost::asio::signal_set signals{context, SIGTERM, SIGINT};
  boost::asio::signal_set hangup{context, SIGHUP};
  boost::asio::steady_timer patience{context};
  std::size_t next_worker = 0;
  std::size_t sessions = 0;   // of all workers; on the context's thread
  std::size_t unsettled = 0;  // workers
  SteadyClock::time_point drain_ends{};
  bool draining = false;
  bool settling = false;
  bool finished = false;
  bool clean = true;

  void start();
  boost::asio::awaitable<void> accept_loop(std::size_t listener);
  void accepted(std::size_t listener, net::Socket socket, Worker& worker);
  void refuse(Arrival& arrival, const Turned& turned);
  void session_ended();
  void reload_at_hangup();
  void drain();
  void drain_over();
  void settle();
  void finish();
};

Server::Server(Options options, BackendFactory factory, observe::Log& log)
    : state_(std::make_unique<State>(std::move(options), std::move(factory), log)) {
  if (state_->options.hostname.empty()) state_->options.hostname = boost::asio::ip::host_name();
}

Server::~Server() = default;

void Server::open() {
  for (const auto& listener : state_->options.listeners) {
    state_->doors.push_back(std::make_shared<Door>(listener));
    state_->acceptors.push_back(bind_to(state_->context, listener));
  }
}

std::vector<tcp::endpoint> Server::endpoints() const {
  std::vector<tcp::endpoint> out;
  for (const auto& acceptor : state_->acceptors) {
    if (acceptor.local_endpoint().protocol().family() != AF_UNIX) out.push_back(bound_to(acceptor));
  }
  return out;
}

bool Server::run() {
  state_->start();
  const TerminationHeard heard;
  state_->context.run();
  return state_->clean;
}

void Server::stop() {
  boost::asio::post(state_->context, [state = state_.get()] { state->drain(); });
}

void Server::State::start() {
  const auto count =
      options.workers != 0 ? options.workers : std::max(1U, std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < count; ++i) {
    workers.push_back(std::make_unique<Worker>(i, options, rate, log));
    workers.back()->start(factory);
  }
  for (std::size_t i = 0; i < acceptors.size(); ++i) {
    auto loop = [this, i]() { return accept_loop(i); };
    boost::asio::co_spawn(context, loop, [](std::exception_ptr failure) {
      if (failure) std::rethrow_exception(failure);  // a bug: ends run()
    });
    auto bound = options.listeners[i];
    if (bound.unix_path.empty()) bound.endpoint = bound_to(acceptors[i]);
    log.event(observe::Level::info, "listening", "Accepting connections", {{"address", text_of(bound)}});
  }
  log.flush();
  signals.async_wait([this](error_code error, int) {
    if (!error) drain();
  });
  reload_at_hangup();
}

// Certificates and users are read anew; who is connected keeps what it has.
void Server::State::reload_at_hangup() {
  hangup.async_wait([this](error_code error, int) {
    if (error || draining) return;
    for (std::size_t i = 0; i < doors.size(); ++i) {
      try {
        doors[i]->reload();
        log.event(observe::Level::info, "reloaded", "Certificate and users were read again",
                  {{"address", text_of(options.listeners[i])}});
      } catch (const std::exception& failure) {
        log.event(observe::Level::error, "reload_failed", failure.what(),
                  {{"address", text_of(options.listeners[i])}});
      }
    }
    reload_at_hangup();
  });
}

boost::asio::awaitable<void> Server::State::accept_loop(std::size_t listener) {
  auto& acceptor = acceptors[listener];
  boost::asio::steady_timer pause(context);
  SteadyClock::time_point tell_again{};
  while (!draining) {
    auto& worker = *workers[next_worker++ % workers.size()];
    auto [error, socket] = co_await acceptor.async_accept(worker.context(), as_tuple);
    if (draining) co_return;  // taken in the same turn; the socket closes itself
    if (!error) {
      accepted(listener, std::move(socket), worker);
      continue;
    }
    if (draining || error == boost::asio::error::operation_aborted) co_return;
    // No descriptors or memory: the connection waits in the backlog; a short pause instead of a hot loop.
    if (const auto now = SteadyClock::now(); now >= tell_again) {
      log.event(observe::Level::error, "accept_failed", "Connections can not be accepted",
                {{"error", error.message()}});
      tell_again = now + seconds(10);
    }
    pause.expires_after(milliseconds(100));
    co_await pause.async_wait(as_tuple);
  }
}

void Server::State::accepted(std::size_t listener, net::Socket socket, Worker& worker) {
  const auto& settings = options.listeners[listener];
  Arrival arrival{std::move(socket), doors[listener], {}, false, {}};
  arrival.peer.local = !settings.unix_path.empty();
  if (!arrival.peer.local) {
    error_code error;
    const auto remote = arrival.socket.remote_endpoint(error);
    if (error) return;  // gone already
    tcp::endpoint endpoint;
    std::memcpy(endpoint.data(), remote.data(), remote.size());
    endpoint.resize(remote.size());
    arrival.peer.address = endpoint.address();
    arrival.proxy = settings.proxy_protocol.contains(endpoint.address());
  }
  auto turned = admission.enter(arrival.place);
  // Whose connection a proxy passes on is known to the session first.
  if (!turned && !arrival.proxy) {
    // Who may say with XCLIENT whose session it passes on need not be a client itself.
    const bool speaks_for_others = arrival.peer.address && settings.xclient.contains(*arrival.peer.address);
    turned = arrival.place.take(arrival.peer,
                                speaks_for_others ? Standing::known : standing_of(settings, arrival.peer));
  }
  if (turned) return refuse(arrival, *turned);
  ++sessions;
  auto ended = [this] { boost::asio::post(context, [this] { session_ended(); }); };
  worker.serve(std::move(arrival), std::move(ended));
}

// Said without waiting: a peer that does not read must not hold the acceptor.
void Server::State::refuse(Arrival& arrival, const Turned& turned) {
  error_code ignored;
  // Inside TLS it would have to be, where TLS is spoken from the first octet; what is said in the clear there
  // is noise.
  if (arrival.door->options().tls != ListenerTls::implicit) {
    std::string reply;
    smtp::Reply{turned.code, std::string(turned.text)}.append_to(reply);
    arrival.socket.non_blocking(true, ignored);
    arrival.socket.write_some(boost::asio::buffer(reply), ignored);
  }
  arrival.socket.shutdown(tcp::socket::shutdown_send, ignored);
  log.event(observe::Level::warning, "session_refused", "A connection was refused",
            {{"client", arrival.peer.text()}, {"why", std::string(turned.why)}});
}

void Server::State::session_ended() {
  --sessions;
  if (draining && sessions == 0) settle();
}

void Server::State::drain() {
  if (draining) return;
  draining = true;
  log.event(observe::Level::info, "draining", "Shutting down: no new connections",
            {{"connections", std::to_string(sessions)}});
  // First: a successor may bind the path as soon as nobody listens on it.
  for (const auto& listener : options.listeners) {
    if (!listener.unix_path.empty()) ::unlink(listener.unix_path.c_str());
  }
  for (auto& acceptor : acceptors) acceptor.close();
  hangup.cancel();
  drain_ends = SteadyClock::now() + options.timeouts.drain;
  for (auto& worker : workers) worker->drain();
  if (sessions == 0) return settle();
  patience.expires_after(options.timeouts.drain);
  patience.async_wait([this](error_code error) {
    if (!error) drain_over();
  });
  // A second signal ends the patience.
  signals.async_wait([this](error_code error, int) {
    if (!error) drain_over();
  });
}

void Server::State::drain_over() {
  if (settling) return;
  log.event(observe::Level::warning, "drain_over", "Ending the sessions that are left",
            {{"connections", std::to_string(sessions)}});
  for (auto& worker : workers) worker->abort();
  patience.expires_after(abort_grace);
  patience.async_wait([this](error_code error) {
    if (error || settling) return;
    clean = false;
    finish();
  });
}

// No session is left. The store gets the rest of the drain for what it could not take before.
void Server::State::settle() {
  settling = true;
  patience.cancel();
  signals.cancel();
  signals.async_wait([this](error_code error, int) {
    if (!error) finish();
  });
  const auto left = std::chrono::duration_cast<milliseconds>(drain_ends - SteadyClock::now());
  unsettled = workers.size();
  auto settled = [this] {
    boost::asio::post(context, [this] {
      if (--unsettled == 0) finish();
    });
  };
  for (auto& worker : workers) worker->settle(std::max(left, least_settling), settled);
}

void Server::State::finish() {
  if (finished) return;
  finished = true;
  patience.cancel();
  signals.cancel();
  for (auto& worker : workers) worker->finish();
  for (auto& worker : workers) worker->join();
}

}  // namespace mailonce::server
