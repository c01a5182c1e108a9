// One connection of a client to the scripted upstream, plain or TLS. Lives on one io_context.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>
#include <span>
#include <string_view>

namespace mailonce::test {

class Channel {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using Error = boost::system::error_code;

  explicit Channel(Socket socket);

  struct Read {
    Error error;
    std::size_t octets = 0;
  };
  boost::asio::awaitable<Read> read_some(std::span<char> into);
  boost::asio::awaitable<Error> write(std::string_view octets);
  boost::asio::awaitable<Error> handshake(boost::asio::ssl::context& context);
  boost::asio::awaitable<void> sleep(std::chrono::milliseconds time);

  // A pending read ends with operation_aborted.
  void cancel();
  // Says goodbye (close_notify, FIN) and reads away what the client still sends, so that it gets all we said.
  boost::asio::awaitable<void> close_gently();
  void close();  // FIN, or RST when octets stand unread, as the kernel does
  void reset();  // RST
  bool secure() const { return tls_ != nullptr; }
  boost::asio::any_io_executor executor() { return socket_.get_executor(); }

 private:
  Socket socket_;
  std::unique_ptr<boost::asio::ssl::stream<Socket&>> tls_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace mailonce::test
