// A Redis client: one connection, pipelined from any number of coroutines of one worker. RESP is hiredis's
// reader and formatter, the transport a net::Stream.
//
// Commands issued in one turn of the loop leave in one write and are answered in order. The connection is
// made at the first command and again at the first one after it was lost; after a failed attempt commands
// fail at once, with the attempt's error, until a pause with back-off and jitter is over. When a connection
// is lost every command on it fails: whether it was carried out is not known.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <span>
#include <string_view>

#include "mailonce/base/result.h"
#include "mailonce/redis/error.h"
#include "mailonce/redis/options.h"
#include "mailonce/redis/reply.h"

namespace mailonce::redis {

using boost::asio::awaitable;

// Used on its executor's thread only.
class Client {
 public:
  Client(boost::asio::any_io_executor executor, Options options);
  // Commands still pending fail with Errc::closed.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Sends the words of one command; they are copied before the first suspension. Ends within the command
  // deadline. An error reply of the server is a value. Errors: Errc, the system's, the resolver's.
  awaitable<Result<Reply>> command(std::span<const std::string_view> words);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace mailonce::redis
