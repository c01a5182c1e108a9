// What an EHLO response announces (RFC 5321 §4.1.1.1), as far as mailonce acts on it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mailonce/smtp/reply.h"

namespace mailonce::smtp {

struct Capabilities {
  bool pipelining = false;                           // RFC 2920
  bool eight_bit_mime = false;                       // RFC 6152
  bool enhanced_status_codes = false;                // RFC 2034
  bool starttls = false;                             // RFC 3207
  bool smtputf8 = false;                             // RFC 6531
  bool dsn = false;                                  // RFC 3461
  bool chunking = false;                             // RFC 3030, without BINARYMIME
  bool requiretls = false;                           // RFC 8689
  bool size = false;                                 // RFC 1870
  std::optional<std::uint64_t> max_size;             // octets; absent or 0 on the wire: no fixed maximum
  std::optional<std::size_t> max_recipients;         // LIMITS (RFC 9422): RCPTMAX, of a transaction
  std::optional<std::size_t> max_recipient_domains;  // RCPTDOMAINMAX, likewise
  std::vector<std::string> auth;  // mechanisms in upper case (RFC 4954); "AUTH=LOGIN" counts too
  bool operator==(const Capabilities&) const = default;

  bool offers_auth(std::string_view mechanism) const noexcept;

  // Reads the reply to EHLO: the first line is the greeting; unknown keywords (SES's "Ok") are passed over.
  static Capabilities parse(const Reply& ehlo);
  // The reply to EHLO that announces these, `hostname` first.
  Reply announce(std::string_view hostname) const;
};

// What both offer; the smaller SIZE.
Capabilities common(const Capabilities& a, const Capabilities& b);

}  // namespace mailonce::smtp
