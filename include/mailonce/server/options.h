// Who may speak, and how much (DESIGN.md §7, §8). Filled by config; immutable while the server runs.
#pragma once
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "mailonce/base/blob.h"
#include "mailonce/base/clock.h"
#include "mailonce/net/tls.h"

namespace mailonce::server {

// The networks whose hosts may relay without authentication. Empty means nobody.
struct Networks {
  std::vector<boost::asio::ip::network_v4> v4;
  std::vector<boost::asio::ip::network_v6> v6;

  // IPv4-mapped IPv6 addresses count as the IPv4 address they carry; a zone does not count.
  bool contains(const boost::asio::ip::address& address) const;
  bool empty() const noexcept { return v4.empty() && v6.empty(); }
  static Networks loopback();
};

enum class ListenerTls {
  none,
  starttls,  // offered (RFC 3207)
  implicit,  // from the first octet (RFC 8314)
};

// Whom AUTH asks whether a credential is right.
enum class LoginAt {
  nobody,    // AUTH is not offered
  users,     // the file of users
  upstream,  // the provider: each client's mail goes there under its own credential
};

struct Listener {
  boost::asio::ip::tcp::endpoint endpoint;  // port 0: the system's choice, named by the event `listening`
  // Who relays without logging in. Others are told 530 5.7.0 where AUTH is offered, else 554 5.7.1 and
  // closed.
  Networks allow = Networks::loopback();
  // Proxies: a connection of theirs begins with a PROXY header, which says whose it is. Nobody else's header
  // counts.
  Networks proxy_protocol = {};
  // Hosts that may say with XCLIENT whose session they pass on.
  Networks xclient = {};
  std::string unix_path = {};  // not empty: a Unix socket, and who may connect to it may relay
  unsigned unix_mode = 0660;   // permissions of its file
  ListenerTls tls = ListenerTls::none;
  net::ServerTlsOptions certificates = {};
  bool require_tls = false;  // nothing is taken in the clear: 530 5.7.0
  LoginAt login = LoginAt::nobody;
  std::size_t login_upstream = 0;  // LoginAt::upstream: which one, its place in the configuration
  std::string users_file = {};
  bool auth_in_clear = false;  // offer AUTH without TLS, to clients on this host alone

  // Whether who is not in `allow` can prove in another way that it may relay.
  bool offers_login() const noexcept {
    return login != LoginAt::nobody || !certificates.client_ca_file.empty();
  }
};

// RFC 5321 §4.5.3.2 gives the client's side; a server waits five minutes for a command (§4.5.3.2.7).
struct Timeouts {
  milliseconds handshake = seconds(30);   // TLS; a proxy's header
  milliseconds login = seconds(60);       // from the begin of a session that must log in
  milliseconds command = seconds(300);    // for the next command as a whole, inside a transaction too
  milliseconds data = seconds(180);       // for the next octets of a body
  milliseconds message = seconds(1800);   // for a whole body
  milliseconds rate_grace = seconds(30);  // of a body, before min_data_rate counts
  milliseconds write = seconds(60);       // for a client to take our replies
  milliseconds drain = seconds(30);       // at shutdown: for transactions under way; then doubt
};

struct Options {
  std::vector<Listener> listeners;
  std::string hostname;                             // in banner and EHLO; empty: the system's host name
  std::size_t workers = 0;                          // io_contexts, a thread each; 0: one a core
  std::uint64_t max_message_octets = 50'000'000;    // announced as SIZE, less if the upstream's is less
  std::size_t max_recipients = 1000;                // a transaction (RFC 5321 §4.5.3.1.8)
  std::size_t max_connections = 10'000;             // 421 4.7.0 beyond
  std::size_t max_connections_per_address = 1000;   // likewise; 0: as many as there are
  std::size_t max_unauthenticated_connections = 0;  // of who must log in and did not; 0: half of all
  std::size_t max_commands_without_message = 2000;  // 421 4.7.0 beyond
  std::size_t messages_per_minute = 0;              // of one client; 450 4.7.1 beyond; 0: as many as it likes
  std::uint64_t min_data_rate = 0;  // octets of a body a second, on average; 421 4.4.2 below; 0: any
  BlobOptions blob;                 // memory a message, and where larger ones go
  Timeouts timeouts;
};

}  // namespace mailonce::server
