// Listeners, workers and their life: one acceptor deals connections round-robin to workers, each an
// io_context with a thread of its own (DESIGN.md §6). SIGTERM and SIGINT drain: no new connections, idle
// sessions are told 421, transactions under way get `timeouts.drain`; then those whose dot was not answered
// become doubt.
#pragma once
#include <memory>
#include <vector>

#include "mailonce/observe/log.h"
#include "mailonce/server/backend.h"
#include "mailonce/server/options.h"

namespace mailonce::server {

class Server {
 public:
  Server(Options options, BackendFactory factory, observe::Log& log);
  ~Server();

  // Binds every listener. Throws boost::system::system_error whose text names the address.
  void open();
  // The bound addresses, in the order of the options.
  std::vector<boost::asio::ip::tcp::endpoint> endpoints() const;
  // Serves until a signal or stop() and the drain after it. The signals are heard by the calling thread, also
  // when they are blocked in it before: a program that blocks them first gets none before or after. True:
  // every session ended. False: some are left although everything they wait for was ended; the process must
  // then end without destroying what they refer to.
  bool run();
  // Begins the drain. Any thread.
  void stop();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mailonce::server
