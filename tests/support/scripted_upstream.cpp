#include "support/scripted_upstream.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <future>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "support/session.h"

namespace mailonce::test {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

asio::awaitable<void> serve(std::shared_ptr<Session> session) {
  co_await session->run();
}

void report(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);  // a bug of the upstream's own: end the test loudly
}

std::unique_ptr<asio::ssl::context> make_tls(const std::optional<Certificate>& certificate) {
  if (!certificate) return nullptr;
  auto context = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  context->set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
  context->use_certificate_chain(asio::buffer(certificate->certificate_pem));
  context->use_private_key(asio::buffer(certificate->key_pem), asio::ssl::context::pem);
  return context;
}

}  // namespace

struct ScriptedUpstream::State {
  State(Profile profile, UpstreamOptions& options)
      : shared{std::move(profile),
               {},
               Recorder(std::move(options.record)),
               make_tls(options.certificate),
               options.implicit_tls} {
    if (options.implicit_tls && !shared.tls) throw std::runtime_error("implicit TLS needs a certificate");
    for (std::size_t i = 0; i < std::max<std::size_t>(1, options.threads); ++i)
      contexts.push_back(std::make_unique<asio::io_context>(1));
    endpoint = tcp::endpoint(asio::ip::make_address(options.address), options.port);
    listen();
    endpoint = acceptor->local_endpoint();
    for (auto& context : contexts)
      threads.emplace_back([&context] {
        auto work = asio::make_work_guard(*context);
        context->run();
      });
  }

  ~State() {
    for (auto& context : contexts) context->stop();
    for (auto& thread : threads) thread.join();
    acceptor.reset();
    contexts.clear();  // with the sessions, which use what is shared
  }

  void listen() {
    acceptor.emplace(*contexts.front());
    acceptor->open(endpoint.protocol());
    acceptor->set_option(tcp::acceptor::reuse_address(true));
    acceptor->bind(endpoint);
    acceptor->listen(1024);
    accept();
  }

  void accept() {
    next = (next + 1) % contexts.size();
    acceptor->async_accept(*contexts[next], [this](boost::system::error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || !acceptor) return;
      if (!error) start(std::move(socket));
      accept();
    });
  }

  void start(tcp::socket socket) {
    auto session = std::make_shared<Session>(shared, std::move(socket));
    auto executor = session->executor();
    {
      std::lock_guard lock(mutex);
      sessions.remove_if([](const auto& other) { return other.expired(); });
      sessions.push_back(session);
    }
    asio::co_spawn(executor, serve(std::move(session)), report);
  }

  // Runs `work` on the first thread and waits for it.
  template <class F>
  void on_first(F work) {
    std::packaged_task<void()> task(std::move(work));
    auto done = task.get_future();
    asio::post(*contexts.front(), std::ref(task));
    done.get();
  }

  Shared shared;
  std::vector<std::unique_ptr<asio::io_context>> contexts;
  tcp::endpoint endpoint;
  std::optional<tcp::acceptor> acceptor;
  std::size_t next = 0;
  std::mutex mutex;
  std::list<std::weak_ptr<Session>> sessions;
  std::vector<std::thread> threads;
};

ScriptedUpstream::ScriptedUpstream(Profile profile, UpstreamOptions options)
    : state_(std::make_unique<State>(std::move(profile), options)) {}

ScriptedUpstream::~ScriptedUpstream() = default;

std::uint16_t ScriptedUpstream::port() const noexcept {
  return state_->endpoint.port();
}

void ScriptedUpstream::arm(std::string_view fault) {
  state_->shared.plan.arm(Fault::parse(fault));
}

void ScriptedUpstream::clear_faults() {
  state_->shared.plan.clear();
}

void ScriptedUpstream::go() {
  ++state_->shared.go_generation;
}

std::vector<Accepted> ScriptedUpstream::accepted(std::uint64_t since_serial) const {
  return state_->shared.recorder.accepted(since_serial);
}

std::vector<std::string> ScriptedUpstream::commands() const {
  return state_->shared.recorder.commands();
}

Stats ScriptedUpstream::stats() const {
  return state_->shared.recorder.stats();
}

bool ScriptedUpstream::wait_for(const std::function<bool(const Stats&)>& condition,
                                std::chrono::milliseconds at_most) const {
  return state_->shared.recorder.wait_for(condition, at_most);
}

void ScriptedUpstream::reset() {
  state_->shared.plan.clear();
  state_->shared.recorder.reset();
}

void ScriptedUpstream::stop_listening() {
  state_->on_first([state = state_.get()] { state->acceptor.reset(); });
}

void ScriptedUpstream::listen_again() {
  state_->on_first([state = state_.get()] {
    if (!state->acceptor) state->listen();
  });
}

void ScriptedUpstream::drop_connections() {
  std::vector<std::future<void>> done;
  std::unique_lock lock(state_->mutex);
  for (const auto& weak : state_->sessions) {
    auto session = weak.lock();
    if (!session) continue;
    auto executor = session->executor();
    auto promise = std::make_shared<std::promise<void>>();
    done.push_back(promise->get_future());
    asio::post(executor, [session = std::move(session), promise] {
      session->drop();
      promise->set_value();
    });
  }
  lock.unlock();
  for (auto& each : done) each.get();
}

}  // namespace mailonce::test
