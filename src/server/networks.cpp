#include <algorithm>

#include "mailonce/net/address.h"
#include "mailonce/server/options.h"

namespace mailonce::server {

using boost::asio::ip::make_address_v4;
using boost::asio::ip::make_address_v6;

bool Networks::contains(const boost::asio::ip::address& address) const {
  if (const auto plain = net::unmapped(address); plain != address) return contains(plain);
  if (address.is_v4()) {
    return std::any_of(v4.begin(), v4.end(), [&](const auto& network) {
      return boost::asio::ip::network_v4(address.to_v4(), network.prefix_length()).canonical() ==
             network.canonical();
    });
  }
  // A link-local client comes with its interface as zone, and a network has none.
  const auto without_zone = make_address_v6(address.to_v6().to_bytes());
  return std::any_of(v6.begin(), v6.end(), [&](const auto& network) {
    return boost::asio::ip::network_v6(without_zone, network.prefix_length()).canonical() ==
           network.canonical();
  });
}

Networks Networks::loopback() {
  return {{boost::asio::ip::network_v4(make_address_v4("127.0.0.0"), 8)},
          {boost::asio::ip::network_v6(make_address_v6("::1"), 128)}};
}

}  // namespace mailonce::server
