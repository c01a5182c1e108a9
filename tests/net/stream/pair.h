// Two streams connected over loopback.
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "mailonce/net/stream.h"

namespace mailonce::net {

struct Pair {
  Stream near;
  Stream far;
};

inline Pair make_pair(boost::asio::io_context& io) {
  const tcp::endpoint any(boost::asio::ip::address_v4::loopback(), 0);
  tcp::acceptor acceptor(io, any);
  tcp::socket near(io);
  near.connect(acceptor.local_endpoint());
  tcp::socket far = acceptor.accept();
  return {Stream(std::move(near)), Stream(std::move(far))};
}

inline std::size_t count_of(const Result<std::size_t>& octets) {
  return octets ? *octets : 0;
}
inline char letter(int i) {
  return static_cast<char>('a' + i % 26);
}

}  // namespace mailonce::net
