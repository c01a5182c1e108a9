#include "mailonce/config/values.h"

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "mailonce/smtp/hello_name.h"

namespace mailonce::config {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr std::array<Unit, 5> duration_units = {
    {{"ms", 1}, {"s", 1000}, {"min", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
constexpr std::array<Unit, 8> octet_units = {{{"B", 1},
                                              {"kB", 1000},
                                              {"KB", 1000},
                                              {"KiB", 1024},
                                              {"MB", 1'000'000},
                                              {"MiB", 1024 * 1024},
                                              {"GB", 1'000'000'000},
                                              {"GiB", 1024 * 1024 * 1024}}};
// More is a mistake, and sums of what is allowed can not overflow.
constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max() / 4;

// Takes a number and its unit from the front of `text`.
template <std::size_t N>
std::optional<std::uint64_t> take_quantity(std::string_view& text, const std::array<Unit, N>& units) {
  std::uint64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return {};
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  const auto name = text.substr(0, text.find_first_of("0123456789"));
  const auto unit = std::find_if(units.begin(), units.end(), [&](const Unit& u) { return u.name == name; });
  if (unit == units.end() || number > largest / unit->factor) return {};
  text.remove_prefix(name.size());
  return number * unit->factor;
}

// Asio reads an address up to a NUL, and anything as a zone.
bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || rest != text.data() + text.size()) return {};
  return port;
}

}  // namespace

Parsed<milliseconds> parse_duration(std::string_view text) {
  const Mistake mistake{"is not a duration",
                        "write a number and a unit (ms, s, min, h, d), as in \"90s\" or \"2h\""};
  if (text.empty()) return mistake;
  std::uint64_t sum = 0;
  while (!text.empty()) {
    const auto part = take_quantity(text, duration_units);
    if (!part || *part > largest - sum) return mistake;
    sum += *part;
  }
  return milliseconds(static_cast<milliseconds::rep>(sum));
}

std::string format_duration(milliseconds duration) {
  auto rest = static_cast<std::uint64_t>(std::max<milliseconds::rep>(duration.count(), 0));
  std::string out;
  for (auto unit = duration_units.rbegin(); unit != duration_units.rend(); ++unit) {
    if (rest < unit->factor) continue;
    out += std::to_string(rest / unit->factor) + std::string(unit->name);
    rest %= unit->factor;
  }
  return out.empty() ? "0s" : out;
}

Parsed<std::uint64_t> parse_octets(std::string_view text) {
  const auto octets = take_quantity(text, octet_units);
  if (!octets || !text.empty()) {
    return Mistake{"is not a size",
                   "write a number and a unit (B, kB, MB, GB, KiB, MiB, GiB), as in \"50MB\""};
  }
  return *octets;
}

std::string format_octets(std::uint64_t octets) {
  constexpr std::array<Unit, 6> by_size = {{{"GiB", 1024 * 1024 * 1024},
                                            {"GB", 1'000'000'000},
                                            {"MiB", 1024 * 1024},
                                            {"MB", 1'000'000},
                                            {"KiB", 1024},
                                            {"kB", 1000}}};
  for (const auto& unit : by_size) {
    if (octets >= unit.factor && octets % unit.factor == 0) {
      return std::to_string(octets / unit.factor) + std::string(unit.name);
    }
  }
  return std::to_string(octets) + "B";
}

Parsed<boost::asio::ip::tcp::endpoint> parse_endpoint(std::string_view text) {
  const std::string_view whole = text;
  const auto colon = text.rfind(':');
  const auto port =
      colon == std::string_view::npos ? std::optional<std::uint16_t>() : parse_port(text.substr(colon + 1));
  if (!port) {
    return Mistake{"has no port", "write ADDRESS:PORT, as in \"127.0.0.1:2525\" or \"[::1]:2525\""};
  }
  auto host = text.substr(0, colon);
  if (host.empty() || host == "*") {
    const auto digits = std::string(whole.substr(colon));
    return Mistake{"names no address", "write \"0.0.0.0" + digits + "\" for every IPv4 address, \"[::]" +
                                           digits + "\" for IPv6 too"};
  }
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(host, error);
  if (error || address.is_v6() != bracketed || !is_visible(host)) {
    return Mistake{"is not an IP address with a port",
                   "write ADDRESS:PORT, as in \"127.0.0.1:2525\" or \"[::1]:2525\"; names are not resolved"};
  }
  return boost::asio::ip::tcp::endpoint(address, *port);
}

namespace {

// `network` as parsed, `canonical` without the bits beyond its prefix.
template <class Network>
Parsed<void> add(std::vector<Network>& networks, const Network& network, const Network& canonical) {
  if (network != canonical) {
    return Mistake{"has address bits beyond its prefix", "write \"" + canonical.to_string() + "\""};
  }
  networks.push_back(network);
  return {};
}

}  // namespace

Parsed<void> add_network(std::string_view text, server::Networks& networks) {
  namespace ip = boost::asio::ip;
  boost::system::error_code error;
  const bool one_address = text.find('/') == std::string_view::npos;
  const bool v6 = text.find(':') != std::string_view::npos;
  const auto cidr = std::string(text) + (!one_address ? "" : v6 ? "/128" : "/32");
  const Mistake mistake{"is not a network",
                        "write it as in \"10.0.0.0/8\", \"2001:db8::/32\" or \"192.0.2.7\""};
  if (!is_visible(text) || text.find('%') != std::string_view::npos) return mistake;
  if (!v6) {
    const auto network = ip::make_network_v4(cidr, error);
    if (!error) return add(networks.v4, network, network.canonical());
  } else {
    const auto network = ip::make_network_v6(cidr, error);
    if (!error && network.address().is_v4_mapped()) {
      return Mistake{"is an IPv4 network in IPv6 form", "write it as IPv4, as in \"10.0.0.0/8\""};
    }
    if (!error) return add(networks.v6, network, network.canonical());
  }
  return mistake;
}

Parsed<std::string> parse_field_name(std::string_view text) {
  const bool valid =
      !text.empty() && text.size() <= 77 && is_visible(text) && text.find(':') == std::string_view::npos;
  if (!valid)
    return Mistake{"is not the name of a header field", "write it without colon, as in \"X-Job-Id\""};
  return std::string(text);
}

Parsed<std::string> parse_hostname(std::string_view text) {
  constexpr auto usual = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";
  if (!smtp::HelloName::parse(text) || text.find_first_not_of(usual) != std::string_view::npos) {
    return Mistake{"is not a host name",
                   "write a domain, as in \"relay.example.org\", or an address in brackets"};
  }
  return std::string(text);
}

std::string printable_url(std::string_view url) {
  const auto first = std::min(url.find(':'), url.size());
  const auto begin = url.substr(first).starts_with("://") ? first + 3 : 0;
  const auto at = url.rfind('@');
  const auto colon = url.find(':', begin);
  if (at == std::string_view::npos || colon == std::string_view::npos || colon > at) return std::string(url);
  return std::string(url.substr(0, colon)) + ":***" + std::string(url.substr(at));
}

}  // namespace mailonce::config
