// Where Redis is and how it is spoken to: one server, the master that Sentinels name, or a Cluster.
#pragma once
#include <boost/asio/ssl/context.hpp>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/base/clock.h"
#include "mailonce/base/result.h"
#include "mailonce/net/tls.h"

namespace mailonce::redis {

struct Address {
  std::string host;
  std::uint16_t port = 6379;
  auto operator<=>(const Address&) const = default;
};
std::string to_string(const Address& address);  // "host:port", IPv6 in brackets

enum class Topology { single, sentinel, cluster };

struct Options {
  Topology topology = Topology::single;
  // The server; the Sentinels; or some nodes of the Cluster, which name the others.
  std::vector<Address> servers{{"127.0.0.1", 6379}};
  std::string service;            // sentinel: what the Sentinels call the master
  std::string username;           // ACL user; empty: the default user
  std::string password;           // empty: no AUTH
  std::string sentinel_username;  // the same for the Sentinels
  std::string sentinel_password;
  unsigned database = 0;  // SELECT; a Cluster has only 0
  bool tls = false;       // to the Sentinels and every node too
  net::ClientTlsOptions certificates;
  // Made of `certificates`, once for all clients that get it (make_tls); a client without makes its own.
  std::shared_ptr<boost::asio::ssl::context> tls_context;
  milliseconds command_deadline{1000};        // from the call to the answer, connecting included
  milliseconds first_reconnect_pause{50};     // doubled after each failure, with jitter
  milliseconds longest_reconnect_pause{100};  // a command that comes within it waits, if its deadline allows
  // Client::command with a Replication: WAIT min_replicas replica_timeout.
  unsigned min_replicas = 0;
  milliseconds replica_timeout{100};
};

// The context for `options`, null without TLS. Throws std::runtime_error, naming the file: a bad start-up.
std::shared_ptr<boost::asio::ssl::context> make_tls(const Options& options);

//   redis://[user[:password]@]host[:port][/database]                               one server
//   redis+sentinel://[user[:password]@]host[:port][,host[:port]]…/service[/database]  user: the master's
//   redis+cluster://[user[:password]@]host[:port][,host[:port]]…
// and the same with TLS: rediss://, rediss+sentinel://, rediss+cluster://. User, password and service are
// percent-encoded, IPv6 stands in brackets. Errors: the bad_url_… of redis::Errc.
Result<Options> parse_url(std::string_view url);

// The URL of `options`, without user and password.
std::string printable_url(const Options& options);

}  // namespace mailonce::redis
