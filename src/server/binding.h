// Sockets that listen: TCP, one for each family, and Unix sockets with the permissions that say who may
// connect.
#pragma once
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "mailonce/server/options.h"

namespace mailonce::server {

using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>;

// Throws boost::system::system_error whose text names the address.
Acceptor bind_to(boost::asio::io_context& context, const Listener& listener);
// Of a TCP listener: the port that the system chose.
boost::asio::ip::tcp::endpoint bound_to(const Acceptor& acceptor);
// "127.0.0.1:2525", "unix:/run/mailonce/smtp.sock".
std::string text_of(const Listener& listener);

}  // namespace mailonce::server
