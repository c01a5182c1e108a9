#include "binding.h"

#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <cerrno>
#include <cstring>
#include <sstream>

namespace mailonce::server {
namespace {

using boost::asio::ip::tcp;
using Local = boost::asio::local::stream_protocol;

// A socket that nobody listens on any more is what a process left that was killed.
void remove_stale(boost::asio::io_context& context, const Local::endpoint& endpoint) {
  Local::socket probe(context);
  error_code error;
  probe.connect(endpoint, error);
  struct stat found {};
  const bool socket = ::lstat(endpoint.path().c_str(), &found) == 0 && S_ISSOCK(found.st_mode);
  if (socket && error == boost::asio::error::connection_refused) ::unlink(endpoint.path().c_str());
}

void bind_tcp(Acceptor& acceptor, const tcp::endpoint& endpoint) {
  acceptor.open(endpoint.protocol());
  acceptor.set_option(tcp::acceptor::reuse_address(true));
  // Two listeners, one for each family on the same port, are two sockets.
  if (endpoint.address().is_v6()) acceptor.set_option(boost::asio::ip::v6_only(true));
  acceptor.bind(endpoint);
}

void bind_local(boost::asio::io_context& context, Acceptor& acceptor, const Listener& listener) {
  const Local::endpoint endpoint(listener.unix_path);
  remove_stale(context, endpoint);
  acceptor.open(endpoint.protocol());
  // Nobody connects before the permissions stand.
  const auto mask = ::umask(0777);
  error_code error;
  acceptor.bind(endpoint, error);
  ::umask(mask);
  if (!error && ::chmod(listener.unix_path.c_str(), static_cast<mode_t>(listener.unix_mode)) != 0)
    error = error_code(errno, boost::system::system_category());
  if (error) throw boost::system::system_error(error);
}

}  // namespace

std::string text_of(const Listener& listener) {
  if (!listener.unix_path.empty()) return "unix:" + listener.unix_path;
  std::ostringstream out;
  out << listener.endpoint;
  return out.str();
}

tcp::endpoint bound_to(const Acceptor& acceptor) {
  const auto local = acceptor.local_endpoint();
  tcp::endpoint out;
  std::memcpy(out.data(), local.data(), local.size());
  out.resize(local.size());
  return out;
}

Acceptor bind_to(boost::asio::io_context& context, const Listener& listener) {
  Acceptor acceptor(context);
  try {
    if (listener.unix_path.empty()) {
      bind_tcp(acceptor, listener.endpoint);
    } else {
      bind_local(context, acceptor, listener);
    }
    acceptor.listen();
  } catch (const boost::system::system_error& failure) {
    throw boost::system::system_error(failure.code(), "can not listen on " + text_of(listener));
  }
  return acceptor;
}

}  // namespace mailonce::server
