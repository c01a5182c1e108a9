#include "mailonce/net/proxy_header.h"

#include <algorithm>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <string>

#include "mailonce/net/address.h"

namespace mailonce::net {
namespace {

using boost::asio::ip::tcp;
namespace ip = boost::asio::ip;

constexpr std::string_view line_start = "PROXY ";
constexpr std::string_view signature{"\r\n\r\n\0\r\nQUIT\n", 12};
constexpr std::size_t fixed_octets = 16;  // signature, version and command, family, length

unsigned octet_at(std::string_view octets, std::size_t at) {
  return static_cast<unsigned char>(octets[at]);
}

unsigned number_at(std::string_view octets, std::size_t at) {
  return octet_at(octets, at) << 8U | octet_at(octets, at + 1);
}

template <class Bytes>
Bytes bytes_at(std::string_view octets, std::size_t at) {
  Bytes out;
  std::transform(octets.begin() + static_cast<std::ptrdiff_t>(at),
                 octets.begin() + static_cast<std::ptrdiff_t>(at + out.size()), out.begin(),
                 [](char c) { return static_cast<unsigned char>(c); });
  return out;
}

std::string_view take_word(std::string_view& text) {
  const auto at = text.find(' ');
  const auto word = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return word;
}

std::optional<ip::address> parse_address(std::string_view text, bool v6) {
  const std::string word(text);
  boost::system::error_code error;
  if (!v6) {
    const auto address = ip::make_address_v4(word, error);
    return error ? std::nullopt : std::optional<ip::address>(address);
  }
  const auto address = ip::make_address_v6(word, error);
  if (error || word.find('%') != std::string::npos) return std::nullopt;
  return unmapped(address);
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  return port;
}

}  // namespace

ProxyHeader::State ProxyHeader::fail(std::string_view reason) {
  reason_ = reason;
  return State::malformed;
}

ProxyHeader::State ProxyHeader::receive(std::string_view& octets) {
  while (!complete_ && reason_.empty() && !octets.empty()) {
    if (skip_ != 0) {
      const auto skipped = std::min(skip_, octets.size());
      octets.remove_prefix(skipped);
      skip_ -= skipped;
      complete_ = skip_ == 0;
      continue;
    }
    const char octet = octets.front();
    octets.remove_prefix(1);
    held_[size_++] = octet;
    const auto state = held_.front() == line_start.front() ? take_line(octet) : take_binary();
    complete_ = state == State::complete;
  }
  if (!reason_.empty()) return State::malformed;
  return complete_ ? State::complete : State::need_more;
}

ProxyHeader::State ProxyHeader::take_line(char octet) {
  if (size_ <= line_start.size()) {
    if (!line_start.starts_with(held())) return fail("it is no PROXY header");
    return State::need_more;
  }
  if (octet == '\n') return end_line();
  if (size_ == longest_line) return fail("its line is longer than 107 octets");
  return State::need_more;
}

// "TCP4 source destination port port", and nothing else with "TCP6"; what stands behind "UNKNOWN" is ignored.
ProxyHeader::State ProxyHeader::end_line() {
  auto line = held().substr(line_start.size());
  if (!line.ends_with("\r\n")) return fail("its line does not end with CRLF");
  line.remove_suffix(2);
  const auto protocol = take_word(line);
  if (protocol == "UNKNOWN") return State::complete;
  if (protocol != "TCP4" && protocol != "TCP6") return fail("its protocol is not TCP4, TCP6 or UNKNOWN");
  const bool v6 = protocol == "TCP6";
  const auto source = parse_address(take_word(line), v6);
  const auto destination = parse_address(take_word(line), v6);
  const auto port = parse_port(take_word(line));
  const bool ended = line.find(' ') == std::string_view::npos;
  const auto destination_port = parse_port(line);
  if (!source || !destination || !port || !destination_port || !ended)
    return fail("its addresses or ports are malformed");
  source_.emplace(*source, *port);
  return State::complete;
}

ProxyHeader::State ProxyHeader::take_binary() {
  if (size_ <= signature.size())
    return signature.starts_with(held()) ? State::need_more : fail("it is no PROXY header");
  if (size_ < fixed_octets) return State::need_more;
  const auto block = number_at(held(), 14);
  if (size_ > fixed_octets) {
    // Addresses, up to the length that the family has.
    const std::size_t addresses = octet_at(held(), 13) == 0x11 ? 12 : 36;
    if (size_ < fixed_octets + addresses) return State::need_more;
    return end_addresses();
  }
  const auto version_and_command = octet_at(held(), 12);
  const auto family = octet_at(held(), 13);
  if (version_and_command >> 4U != 2) return fail("its version is not 2");
  const auto command = version_and_command & 15U;
  if (command > 1) return fail("its command is not LOCAL or PROXY");
  if (block > longest_block) return fail("it is longer than 16 kB");
  if (command == 1) {
    if (family >> 4U > 3 || (family & 15U) > 2) return fail("its address family is none that there is");
    const std::size_t addresses = family == 0x11 ? 12 : family == 0x21 ? 36 : 0;
    if (block < addresses) return fail("it is too short for its addresses");
    if (addresses != 0) return State::need_more;
  }
  // LOCAL, UNSPEC, UDP and Unix sockets: the connection's own address holds; the block is skipped.
  skip_ = block;
  return skip_ == 0 ? State::complete : State::need_more;
}

ProxyHeader::State ProxyHeader::end_addresses() {
  const bool v6 = octet_at(held(), 13) == 0x21;
  const std::size_t addresses = v6 ? 36 : 12;
  const auto port = static_cast<std::uint16_t>(number_at(held(), fixed_octets + addresses - 4));
  if (v6) {
    source_.emplace(unmapped(ip::address_v6(bytes_at<ip::address_v6::bytes_type>(held(), fixed_octets))),
                    port);
  } else {
    source_.emplace(ip::address_v4(bytes_at<ip::address_v4::bytes_type>(held(), fixed_octets)), port);
  }
  skip_ = number_at(held(), 14) - addresses;
  return skip_ == 0 ? State::complete : State::need_more;
}

}  // namespace mailonce::net
