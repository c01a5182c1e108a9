// Sender, recipients and ESMTP parameters of one transaction (RFC 5321 §2.3.1).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mailonce/smtp/address.h"

namespace mailonce::smtp {

enum class BodyType { unspecified, seven_bit, eight_bit_mime };  // MAIL's BODY= (RFC 6152)

struct Sender {
  Address address;
  std::optional<std::uint64_t> size;  // octets the client declared (RFC 1870)
  BodyType body = BodyType::unspecified;
  bool auth = false;        // AUTH= was given (RFC 4954 §5); it is not passed on
  bool smtputf8 = false;    // RFC 6531: addresses or header may hold UTF-8
  bool requiretls = false;  // RFC 8689: not to go on but by verified TLS to who promises the same
  // Delivery status notifications (RFC 3461), as the client wrote them.
  std::string ret = {};    // FULL or HDRS; empty: not given
  std::string envid = {};  // xtext
  bool asks_for_dsn() const noexcept { return !ret.empty() || !envid.empty(); }
};

struct Recipient {
  Address address;
  std::string notify = {};  // NEVER, or any of SUCCESS, FAILURE and DELAY (RFC 3461 §4.1)
  std::string orcpt = {};   // address type, semicolon, xtext (§4.2)
  bool asks_for_dsn() const noexcept { return !notify.empty() || !orcpt.empty(); }
};

struct Envelope {
  Sender sender;
  std::vector<Recipient> recipients;  // those answered 2xx so far
};

}  // namespace mailonce::smtp
