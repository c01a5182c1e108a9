// Makes one connection: resolves the name and tries its addresses in turn. Unlike Stream::connect it can be
// given up meanwhile. One io_context, one thread.
#pragma once
#include <memory>

#include "mailonce/net/stream.h"

namespace mailonce::net {

class Connector {
 public:
  Connector();
  ~Connector();
  Connector(const Connector&) = delete;
  Connector& operator=(const Connector&) = delete;

  // All addresses in turn, each with its share of the time. Once. Errors: the system's and the resolver's,
  // timed_out, operation_aborted after cancel().
  awaitable<Result<Stream>> connect(std::string host, std::string service, milliseconds at_most);
  // What is under way fails at once. A name that is being looked up comes to nobody.
  void cancel() noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace mailonce::net
