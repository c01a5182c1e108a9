// Sender, recipients and ESMTP parameters of one transaction (RFC 5321 §2.3.1).
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "mailonce/smtp/address.h"

namespace mailonce::smtp {

enum class BodyType { unspecified, seven_bit, eight_bit_mime };  // MAIL's BODY= (RFC 6152)

struct Sender {
  Address address;
  std::optional<std::uint64_t> size;  // octets the client declared (RFC 1870)
  BodyType body = BodyType::unspecified;
  bool auth = false;  // AUTH= was given (RFC 4954 §5); it is not passed on
};

struct Recipient {
  Address address;
};

struct Envelope {
  Sender sender;
  std::vector<Recipient> recipients;  // those answered 2xx so far
};

}  // namespace mailonce::smtp
