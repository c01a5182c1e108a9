// The header with which a proxy says whose connection it passes on (the PROXY protocol, versions 1 and 2, as
// HAProxy's proxy-protocol.txt has it). Pure: octets in, result out; any split of the input gives the same.
//
// A sender that is trusted to speak it must speak it first, and whole. The first octet that can not belong to
// a header makes it malformed, so that a client that speaks SMTP is noticed at once. Nothing is kept but a
// version 1 line (107 octets at most) or the addresses of a version 2 header; what stands behind those (TLVs)
// is skipped.
#pragma once
#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <optional>
#include <string_view>

namespace mailonce::net {

class ProxyHeader {
 public:
  enum class State { need_more, complete, malformed };
  static constexpr std::size_t longest_line = 107;           // version 1, CRLF included
  static constexpr std::size_t longest_block = 16UL * 1024;  // version 2: addresses and TLVs

  // Takes what belongs to the header off `octets`; once complete, what is left there is the client's.
  State receive(std::string_view& octets);
  // Whence the client comes. Nothing: the connection's own address holds (LOCAL, UNKNOWN, a family that is
  // not IP's). An IPv4-mapped address is given as the IPv4 address.
  const std::optional<boost::asio::ip::tcp::endpoint>& source() const noexcept { return source_; }
  std::string_view reason() const noexcept { return reason_; }  // why it is malformed
  bool begun() const noexcept { return size_ != 0; }

 private:
  State fail(std::string_view reason);
  State take_line(char octet);
  State end_line();
  State take_binary();
  State end_addresses();
  std::string_view held() const noexcept { return {held_.data(), size_}; }

  std::array<char, longest_line> held_;
  std::size_t size_ = 0;
  std::size_t skip_ = 0;  // octets of a version 2 header that are still to come and are not read
  bool complete_ = false;
  std::optional<boost::asio::ip::tcp::endpoint> source_;
  std::string_view reason_;
};

}  // namespace mailonce::net
