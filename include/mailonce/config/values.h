// Values with units and addresses, out of their text. Pure.
#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <string>
#include <string_view>

#include "mailonce/base/clock.h"
#include "mailonce/config/problem.h"
#include "mailonce/server/options.h"

namespace mailonce::config {

// "500ms", "90s", "15min", "2h", "7d", and sums of them, "1h30min".
Parsed<milliseconds> parse_duration(std::string_view text);
std::string format_duration(milliseconds duration);

// "512B", "64kB", "50MB", "1GB" (powers of 1000), "64KiB", "16MiB", "1GiB" (powers of 1024).
Parsed<std::uint64_t> parse_octets(std::string_view text);
std::string format_octets(std::uint64_t octets);

// "127.0.0.1:2525", "[::1]:2525". No names: what is listened on must not depend on a resolver.
Parsed<boost::asio::ip::tcp::endpoint> parse_endpoint(std::string_view text);

// Adds "10.0.0.0/8", "2001:db8::/32", or one address, to `networks`.
Parsed<void> add_network(std::string_view text, server::Networks& networks);

// A header field's name (RFC 5322 §2.2: printable ASCII but the colon).
Parsed<std::string> parse_field_name(std::string_view text);

// A name for banner and EHLO: a domain or an address literal (RFC 5321 §4.1.2).
Parsed<std::string> parse_hostname(std::string_view text);

// `url`, with what may be a password in it replaced.
std::string printable_url(std::string_view url);

}  // namespace mailonce::config
