// One client, one address, however it is written.
#pragma once
#include <boost/asio/ip/address.hpp>

namespace mailonce::net {

// An IPv4-mapped IPv6 address (::ffff:192.0.2.1) as the IPv4 address it carries.
inline boost::asio::ip::address unmapped(const boost::asio::ip::address& address) {
  namespace ip = boost::asio::ip;
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return ip::make_address_v4(ip::v4_mapped, address.to_v6());
  return address;
}

}  // namespace mailonce::net
