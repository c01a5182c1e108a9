#include "worker.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include "mailonce/base/random.h"

namespace mailonce::server {

Worker::Worker(std::size_t number, const Options& options, MessageRate& rate, observe::Log& log)
    : options_(options),
      rate_(rate),
      log_(log),
      id_prefix_(random_token(6) + "." + std::to_string(number) + ".") {}

Worker::~Worker() {
  join();
}

void Worker::start(const BackendFactory& factory) {
  backend_ = factory(context_);
  thread_ = std::thread([this] { context_.run(); });
}

void Worker::serve(Arrival arrival, std::function<void()> ended) {
  auto session = [this, arrival = std::move(arrival)]() mutable { return run_session(std::move(arrival)); };
  boost::asio::co_spawn(context_, std::move(session),
                        [this, ended = std::move(ended)](std::exception_ptr failure) {
                          if (failure) {
                            try {
                              std::rethrow_exception(failure);
                            } catch (const std::exception& error) {
                              log_.event(observe::Level::error, "session_failed", error.what());
                            }
                          }
                          ended();
                        });
}

awaitable<void> Worker::run_session(Arrival arrival) {
  Session session(std::move(arrival), id_prefix_ + std::to_string(++sessions_begun_), options_, *backend_,
                  rate_);
  struct Registration {
    std::unordered_set<Session*>& set;
    Session* session;
    ~Registration() { set.erase(session); }
  } registration{sessions_, &session};
  sessions_.insert(&session);
  if (draining_) session.drain();
  co_await session.run();
}

void Worker::drain() {
  boost::asio::post(context_, [this] {
    draining_ = true;
    for (auto* session : sessions_) session->drain();
  });
}

void Worker::abort() {
  boost::asio::post(context_, [this] {
    backend_->relay().stopping = true;
    backend_->abort();
    for (auto* session : sessions_) session->abort();
  });
}

void Worker::settle(milliseconds at_most, std::function<void()> settled) {
  auto work = [this, at_most] { return backend_->settle(at_most); };
  boost::asio::co_spawn(
      context_, std::move(work), [this, settled = std::move(settled)](std::exception_ptr failed) {
        if (failed)
          log_.event(observe::Level::error, "internal_error", "what was left to record could not be");
        settled();
      });
}

void Worker::finish() {
  guard_.reset();
  context_.stop();
}

void Worker::join() {
  if (thread_.joinable()) thread_.join();
}

}  // namespace mailonce::server
