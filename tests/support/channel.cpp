#include "support/channel.h"

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace mailonce::test {

namespace asio = boost::asio;
using asio::awaitable;

namespace {
constexpr auto token = asio::as_tuple(asio::use_awaitable);
}

Channel::Channel(Socket socket) : socket_(std::move(socket)), timer_(socket_.get_executor()) {
  Error ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
}

awaitable<Channel::Read> Channel::read_some(std::span<char> into) {
  auto buffer = asio::buffer(into.data(), into.size());
  Read read;
  if (tls_) {
    auto [error, octets] = co_await tls_->async_read_some(buffer, token);
    read.error = error;
    read.octets = octets;
  } else {
    auto [error, octets] = co_await socket_.async_read_some(buffer, token);
    read.error = error;
    read.octets = octets;
  }
  co_return read;
}

awaitable<Channel::Error> Channel::write(std::string_view octets) {
  auto buffer = asio::buffer(octets.data(), octets.size());
  if (tls_) {
    auto [error, written] = co_await asio::async_write(*tls_, buffer, token);
    co_return error;
  }
  auto [error, written] = co_await asio::async_write(socket_, buffer, token);
  co_return error;
}

awaitable<Channel::Error> Channel::handshake(asio::ssl::context& context) {
  auto tls = std::make_unique<asio::ssl::stream<Socket&>>(socket_, context);
  auto [error] = co_await tls->async_handshake(asio::ssl::stream_base::server, token);
  if (!error) tls_ = std::move(tls);
  co_return error;
}

awaitable<void> Channel::sleep(std::chrono::milliseconds time) {
  timer_.expires_after(time);
  [[maybe_unused]] auto [error] = co_await timer_.async_wait(token);
}

void Channel::cancel() {
  Error ignored;
  socket_.cancel(ignored);
}

awaitable<void> Channel::close_gently() {
  // Whatever the client does, this ends.
  timer_.expires_after(std::chrono::seconds(2));
  timer_.async_wait([this, alive = std::weak_ptr<bool>(alive_)](Error error) {
    if (!error && alive.lock()) close();
  });
  if (tls_) {
    [[maybe_unused]] auto [error] = co_await tls_->async_shutdown(token);
  }
  Error error;
  if (socket_.is_open()) socket_.shutdown(Socket::shutdown_send, error);
  std::array<char, 4096> away;
  auto buffer = asio::buffer(away);
  while (!error && socket_.is_open()) {
    auto [failure, octets] = co_await socket_.async_read_some(buffer, token);
    error = failure;
  }
  timer_.cancel();
  close();
}

void Channel::close() {
  Error ignored;
  socket_.close(ignored);
}

void Channel::reset() {
  Error ignored;
  socket_.set_option(asio::socket_base::linger(true, 0), ignored);
  socket_.close(ignored);
}

}  // namespace mailonce::test
