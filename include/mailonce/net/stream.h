// A connected stream, plain or TLS, whose operations all end by a deadline. One io_context, one thread, at
// most one read and one write at a time. Timeouts cancel, they do not close: a session can still say 421.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "mailonce/base/clock.h"
#include "mailonce/base/result.h"

namespace mailonce::net {

using boost::asio::awaitable;
using boost::asio::ip::tcp;

class Stream {
 public:
  // Takes a connected socket; sets TCP_NODELAY and non-blocking.
  explicit Stream(tcp::socket socket);
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  // Resolves and connects, all addresses in turn. Errors: timed_out, the system's, or the resolver's.
  static awaitable<Result<Stream>> connect(std::string host, std::string service, milliseconds at_most);

  // Whatever is there, at least one octet. End of stream: boost::asio::error::eof, a truncated TLS stream
  // too.
  awaitable<Result<std::size_t>> read_some(std::span<char> into);
  // All of it, gathered; tried at once without a turn of the loop when the kernel takes it. `written`, if
  // given, is how many octets the kernel took (plain streams), also on failure.
  awaitable<Result<>> write(std::span<const std::string_view> pieces, std::size_t* written = nullptr);
  awaitable<Result<>> write(std::string_view octets);

  // Deadline for what follows, until set again: an operation still pending then fails with
  // boost::asio::error::timed_out. Lazy: moving it later costs no timer and no system call.
  void expires_after(milliseconds from_now);
  void never_expires();
  // A pending read fails with operation_aborted; nothing is lost. For a drain.
  void cancel_read();

  // True when octets or an end of stream wait unread: on an idle connection nobody may speak.
  bool readable_now();

  // Client side: verifies certificate and name unless the context says otherwise; SNI is sent for DNS names.
  awaitable<Result<>> start_tls_client(boost::asio::ssl::context& context, std::string name);
  awaitable<Result<>> start_tls_server(boost::asio::ssl::context& context);
  bool secure() const noexcept;
  std::string tls_description() const;  // "TLSv1.3 TLS_AES_256_GCM_SHA384", empty when plain

  tcp::endpoint remote_endpoint() const;
  boost::asio::any_io_executor executor();
  // TLS close_notify under a short deadline, then the socket.
  awaitable<void> shut_down();
  void close() noexcept;  // at once
  bool is_open() const noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace mailonce::net
