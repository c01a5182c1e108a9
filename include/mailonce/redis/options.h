// Where a Redis server is and how it is spoken to.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "mailonce/base/clock.h"
#include "mailonce/base/result.h"

namespace mailonce::redis {

struct Options {
  std::string host = "127.0.0.1";
  std::uint16_t port = 6379;
  std::string username;                       // ACL user; empty: the default user
  std::string password;                       // empty: no AUTH
  unsigned database = 0;                      // SELECT
  milliseconds command_deadline{1000};        // from the call to the answer, connecting included
  milliseconds first_reconnect_pause{50};     // doubled after each failure, with jitter
  milliseconds longest_reconnect_pause{100};  // a command that comes within it waits, if its deadline allows
};

// redis://[user[:password]@]host[:port][/database], user and password percent-encoded, IPv6 in brackets.
// Errors: the bad_url_… of redis::Errc.
Result<Options> parse_url(std::string_view url);

}  // namespace mailonce::redis
