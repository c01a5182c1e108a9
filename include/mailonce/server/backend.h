// What the sessions of one worker talk to. Made once a worker, on that worker's io_context, by whoever wires
// the program; owned by the worker and destroyed after its last session.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <memory>

#include "mailonce/relay/relay.h"
#include "mailonce/upstream/logins.h"

namespace mailonce::server {

class Backend {
 public:
  virtual ~Backend() = default;

  virtual relay::Relay& relay() = 0;
  // Where clients' own credentials for this upstream (its place in the configuration) are tried.
  virtual upstream::Logins& logins(std::size_t upstream) = 0;
  // The drain is over: every upstream operation ends now, so that each transaction comes to its reply or to
  // doubt.
  virtual void abort() = 0;
  // No session is left: what the store does not have yet gets `at_most`.
  virtual boost::asio::awaitable<void> settle(milliseconds at_most) = 0;
};

using BackendFactory = std::function<std::unique_ptr<Backend>(boost::asio::io_context&)>;

}  // namespace mailonce::server
