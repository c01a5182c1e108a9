// Each line as a value of the configuration: what is accepted, written down again, reads the same; a network
// holds the addresses its prefix says; no password of a URL is shown.
#include <algorithm>
#include <string>

#include "fuzz.h"
#include "mailonce/config/values.h"
#include "mailonce/redis/options.h"
#include "mailonce/upstream/options.h"

namespace {

using namespace mailonce;

using boost::asio::ip::address_v6;
using mailonce::fuzz::check;
using mailonce::fuzz::hex_encoded;

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

void quantity(std::string_view line) {
  if (const auto duration = config::parse_duration(line)) {
    check(duration->count() >= 0 && *config::parse_duration(config::format_duration(*duration)) == *duration);
  }
  if (const auto octets = config::parse_octets(line))
    check(*config::parse_octets(config::format_octets(*octets)) == *octets);
}

void name(std::string_view line) {
  if (const auto field = config::parse_field_name(line))
    check(*field == line && is_printable(line) && line.find(':') == std::string_view::npos);
  if (const auto host = config::parse_hostname(line)) check(*host == line && is_printable(line));
}

void endpoint(std::string_view line) {
  const auto parsed = config::parse_endpoint(line);
  if (!parsed) return;
  check(is_printable(line));
  const auto host = parsed->address().to_string();
  const auto written =
      (parsed->address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(parsed->port());
  check(*config::parse_endpoint(written) == *parsed);
}

// The address with one bit changed, the first of them bit 0.
template <class Address>
Address flipped(const Address& of, std::size_t bit) {
  auto octets = of.to_bytes();
  octets[bit / 8] = static_cast<unsigned char>(octets[bit / 8] ^ 0x80U >> bit % 8);
  return Address(octets);
}

template <class Network>
void holds_by_its_prefix(const server::Networks& networks, const Network& network) {
  const auto first = network.address();
  check(networks.contains(first));
  for (std::size_t bit = 0; bit < first.to_bytes().size() * 8; ++bit)
    check(networks.contains(flipped(first, bit)) == (bit >= network.prefix_length()));
}

void network(std::string_view line) {
  server::Networks networks;
  if (!config::add_network(line, networks)) {
    check(networks.v4.empty() && networks.v6.empty());
    return;
  }
  check(is_printable(line) && networks.v4.size() + networks.v6.size() == 1);
  server::Networks again;
  if (!networks.v4.empty()) {
    const auto& v4 = networks.v4.front();
    holds_by_its_prefix(networks, v4);
    check(networks.contains(make_address_v6(boost::asio::ip::v4_mapped, v4.address())));
    check(config::add_network(v4.to_string(), again) && again.v4 == networks.v4);
  } else {
    holds_by_its_prefix(networks, networks.v6.front());
    check(networks.contains(address_v6(networks.v6.front().address().to_bytes(), 4)));
    check(config::add_network(networks.v6.front().to_string(), again) && again.v6 == networks.v6);
  }
}

std::string in_brackets(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

void upstream_url(std::string_view line) {
  const auto options = upstream::parse_url(line);
  if (!options) {
    check(!options.error().reason.empty());
    return;
  }
  check(is_printable(options->host) && options->port != 0 && options->password.empty());
  constexpr std::string_view schemes[] = {"smtp://", "smtp+starttls://", "smtps://"};
  std::string written(schemes[static_cast<std::size_t>(options->security)]);
  if (!options->username.empty()) written += hex_encoded(options->username, '%') + "@";
  written += in_brackets(options->host) + ":" + std::to_string(options->port);
  const auto again = upstream::parse_url(written);
  check(again && again->host == options->host && again->port == options->port &&
        again->security == options->security && again->username == options->username);
}

bool same(const redis::Options& a, const redis::Options& b) {
  return a.username == b.username && a.password == b.password && a.database == b.database;
}

void redis_url(std::string_view line) {
  const auto options = redis::parse_url(line);
  if (!options) return;
  const auto scheme = line.substr(0, line.find("://") + 3);
  const auto user_end = line.rfind('@');
  const auto place = line.substr(user_end == std::string_view::npos ? scheme.size() : user_end + 1);
  const auto credential =
      hex_encoded(options->username, '%') + ":" + hex_encoded(options->password, '%') + "@";
  const auto again = redis::parse_url(std::string(scheme) + credential + std::string(place));
  check(again && same(*again, *options));
  auto shown = *options;
  const auto printed = redis::parse_url(config::printable_url(line));
  check(printed && (printed->password == "***" || options->password.empty()));
  shown.password = printed->password;
  check(same(*printed, shown));
}

// Whoever writes a URL wrongly has its password kept as well.
void password_is_hidden(std::string_view line) {
  const std::string secret = "Zq9-secret";
  if (line.find(secret) != std::string_view::npos) return;
  const auto hides = [&](const std::string& url) {
    return config::printable_url(url).find(secret) == std::string::npos;
  };
  const std::string words(line);
  for (const auto* scheme : {"redis://", "smtps://"}) {
    check(hides(scheme + words + "user:" + secret + "@host/1"));
    check(hides(scheme + std::string("user:") + words + secret + "@host/1"));
  }
  if (!line.starts_with("//")) check(hides("user:" + words + secret + "@host/1"));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto text = mailonce::fuzz::text(data, size);
  while (!text.empty()) {
    const auto line = mailonce::fuzz::take_line(text);
    quantity(line);
    name(line);
    endpoint(line);
    network(line);
    upstream_url(line);
    redis_url(line);
    password_is_hidden(line);
  }
  return 0;
}
