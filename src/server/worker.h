// One io_context with its thread, its backend and its sessions.
#pragma once
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>
#include <thread>
#include <unordered_set>

#include "arrival.h"
#include "mailonce/server/backend.h"
#include "message_rate.h"
#include "session.h"

namespace mailonce::server {

class Worker {
 public:
  Worker(std::size_t number, const Options& options, MessageRate& rate, observe::Log& log);
  ~Worker();

  boost::asio::io_context& context() noexcept { return context_; }
  // Makes the backend and runs the context until finish().
  void start(const BackendFactory& factory);
  // Any thread. The socket belongs to this worker's context. `ended` is called on this worker's thread.
  void serve(Arrival arrival, std::function<void()> ended);
  void drain();
  void abort();
  // Any thread, when no session is left. `settled` is called on this worker's thread.
  void settle(milliseconds at_most, std::function<void()> settled);
  void finish();
  void join();

 private:
  awaitable<void> run_session(Arrival arrival);

  const Options& options_;
  MessageRate& rate_;
  observe::Log& log_;
  std::string id_prefix_;
  std::uint64_t sessions_begun_ = 0;
  bool draining_ = false;
  std::unordered_set<Session*> sessions_;  // outlives the context, whose end ends the sessions that are left
  boost::asio::io_context context_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{context_.get_executor()};
  std::unique_ptr<Backend> backend_;
  std::thread thread_;
};

}  // namespace mailonce::server
