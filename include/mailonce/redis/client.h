// A Redis client: one connection a server, pipelined from any number of coroutines of one worker. RESP is
// hiredis's reader and formatter, the transport a net::Stream, plain or TLS.
//
// Commands issued in one turn of the loop leave in one write and are answered in order. A connection is made
// at the first command and again at the first one after it was lost; after a failed attempt a command waits
// for the end of a pause with back-off and jitter, if its deadline allows, or fails at once. When a
// connection is lost every command on it fails: whether it was carried out is not known.
//
// The topology (options.h) decides which server a command goes to:
// - single: the one there is.
// - sentinel: the master that the Sentinels name, once ROLE confirms it. They are asked at every connection,
//   so that a failover is followed as soon as they know of it; a master that was demoted (READONLY) is left.
// - cluster: the master of the key's slot. MOVED, ASK, TRYAGAIN and CLUSTERDOWN are followed or waited for,
//   and the map of slots is read again whenever it proved wrong.
// What was certainly not carried out is tried again, in the last two for as long as the deadline allows.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/base/result.h"
#include "mailonce/redis/error.h"
#include "mailonce/redis/options.h"
#include "mailonce/redis/reply.h"

namespace mailonce::redis {

using boost::asio::awaitable;

class Server;  // where commands go, by topology

// What WAIT said of a command.
struct Replication {
  long long replicas = 0;  // that had it within replica_timeout
  error_code failure;      // WAIT itself was refused
};

// Used on its executor's thread only.
class Client {
 public:
  // Throws what make_tls() throws.
  Client(boost::asio::any_io_executor executor, Options options);
  // Commands still pending fail with Errc::closed.
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Sends the words of one command; they are copied before the first suspension. Ends within the command
  // deadline. An error reply of the server is a value. `key`, which must outlive the call, is one of the
  // command's keys: all must be in one slot. `replication`, which must outlive it too: WAIT follows in the
  // same pipeline, one for all commands of a write. Errors: Errc, the system's, the resolver's, TLS's.
  awaitable<Result<Reply>> command(std::span<const std::string_view> words, std::string_view key = {},
                                   Replication* replication = nullptr);

  // For what is asked of a server as such (SCAN, INFO): the masters as known now; one unless a Cluster.
  awaitable<Result<std::vector<Address>>> masters();
  // Commands for one of them, in one write; as many replies, in order. They are not redirected.
  using Words = std::vector<std::string>;
  awaitable<Result<std::vector<Reply>>> batch(Address master, std::vector<Words> commands);

 private:
  const milliseconds deadline_;
  std::shared_ptr<Server> server_;
};

}  // namespace mailonce::redis
