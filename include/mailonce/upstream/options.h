// One upstream as configured: where it is, how it is spoken to, and how long is waited for it.
#pragma once
#include <boost/system/result.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "mailonce/base/clock.h"
#include "mailonce/net/tls.h"
#include "mailonce/upstream/pacer.h"

namespace mailonce::upstream {

enum class Security {
  plain,     // smtp://           never TLS
  starttls,  // smtp+starttls://  STARTTLS or nothing is sent (RFC 3207)
  tls,       // smtps://          TLS from the first octet (RFC 8314)
};

// RFC 5321 §4.5.3.2. Each is the wait for one step.
struct Timeouts {
  milliseconds connect = seconds(30);   // name, TCP and TLS
  milliseconds greeting = seconds(60);  // the RFC's 5 minutes outlast every client's patience
  milliseconds command = seconds(300);
  milliseconds data_block = seconds(180);
  milliseconds final = seconds(600);
  // What a client's EHLO waits to learn what the upstream offers; it may retry, a client may hang up.
  milliseconds announce = seconds(5);
};

// Limits of the pool.
struct PoolLimits {
  std::size_t max_connections = 50;
  milliseconds max_wait = seconds(30);  // for a free place, then Errc::exhausted
  milliseconds max_idle = seconds(8);   // below the 10 s after which SES closes
  milliseconds max_age = seconds(600);  // below the 20 min after which Office 365 closes
  std::uint64_t max_messages = 1000;    // on one connection
};

struct Options {
  std::string name = "default";  // in logs and records
  std::string host;
  std::uint16_t port = 25;
  Security security = Security::plain;
  std::string username;  // empty: no AUTH
  std::string password;
  bool bearer = false;                // the password is an OAuth 2.0 access token: AUTH XOAUTH2
  bool allow_plaintext_auth = false;  // a password without TLS to a host that is not this one
  // Our own name, never a client's: Gmail refuses "localhost". See default_ehlo_name().
  std::string ehlo_name;
  Timeouts timeouts;
  PoolLimits pool;
  Rate max_rate;  // of recipients
  net::ClientTlsOptions tls;
};

// What is known of a provider's sessions: limits that hold where the operator says nothing else. Nothing: no
// such profile.
struct Profile {
  std::string_view name;  // "ses", "office365", …
  PoolLimits pool;
  Rate max_rate;
};
const Profile* find_profile(std::string_view name) noexcept;
std::span<const Profile> profiles() noexcept;

// scheme://[user@]host[:port] into host, port, security and username; the rest is as in Options{}. The error
// is a sentence for the operator. A password in a URL is refused: URLs stand in process lists and logs.
struct UrlProblem {
  std::string reason;
};
using UrlResult = boost::system::result<Options, UrlProblem>;
UrlResult parse_url(std::string_view url);

// The system's host name when it is fully qualified, else the address literal "[127.0.0.1]" (RFC 5321
// §4.1.3).
std::string default_ehlo_name();

}  // namespace mailonce::upstream
