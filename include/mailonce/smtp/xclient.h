// What a trusted host says with XCLIENT of the client whose session it passes on (Postfix's XCLIENT_README):
// attributes, their values in xtext (RFC 3461 §4). Only their form is judged here.
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace mailonce::smtp {

struct ClientFacts {
  struct Fact {
    bool given = false;      // what is not given stays as it was
    std::string value = {};  // empty: [UNAVAILABLE] or [TEMPUNAVAIL]
  };
  Fact address;  // ADDR, an IPv4 or IPv6 address as inet_ntop(3) writes it
  Fact login;    // LOGIN: 1 to 255 octets without control characters
  Fact name;     // NAME, and HELO: likewise; for the log
  Fact hello;
  // PORT, PROTO, DESTADDR and DESTPORT must be well-formed; nothing depends on them.
};

// `arguments`: what stands behind the verb. Nothing: at least one attribute is unknown, repeated, malformed,
// or there is none at all.
std::optional<ClientFacts> parse_xclient(std::string_view arguments);

}  // namespace mailonce::smtp
