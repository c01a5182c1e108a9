// A connected stream, plain or TLS, whose operations all end by a deadline. One io_context, one thread, at
// most one read and one write at a time. Timeouts cancel, they do not close: a session can still say 421.
//
// Errors are the system's, the resolver's or OpenSSL's (boost::asio::error::get_ssl_category()), and
//   boost::asio::error::timed_out          the deadline came first
//   boost::asio::error::eof                end of stream; a truncated TLS stream and a close_notify too
//   boost::asio::error::operation_aborted  cancel_read() or close()
// Destroying a stream closes it; what is still pending on it then fails with operation_aborted.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
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
using Socket = boost::asio::generic::stream_protocol::socket;  // TCP's and Unix sockets convert to it

class Stream {
 public:
  // Takes a connected socket; sets non-blocking and, for TCP, TCP_NODELAY.
  explicit Stream(Socket socket);
  ~Stream();
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;

  // Resolves and connects, all addresses in turn, each with its share of the time. With a Connector
  // (connector.h) it can be given up meanwhile.
  static awaitable<Result<Stream>> connect(std::string host, std::string service, milliseconds at_most);

  // Whatever is there, at least one octet; `into` must not be empty.
  awaitable<Result<std::size_t>> read_some(std::span<char> into);
  // All of it, gathered; tried at once without a turn of the loop when the kernel takes it. `written`, if
  // given, is how many octets the kernel took (plain streams; 0 with TLS), also on failure. The octets must
  // stay until it returns.
  awaitable<Result<>> write(std::span<const std::string_view> pieces, std::size_t* written = nullptr);
  awaitable<Result<>> write(std::string_view octets);

  // Deadline for what follows, until set again: an operation still pending then fails with
  // boost::asio::error::timed_out. Lazy: moving it later costs no timer and no system call.
  void expires_after(milliseconds from_now);
  void never_expires();
  // A pending read fails with operation_aborted; nothing is lost. For a drain.
  void cancel_read();

  // True when octets or an end of stream wait unread: on an idle connection nobody may speak. No read may be
  // pending.
  bool readable_now();
  // True when the peer has ended the connection and has nothing to say before that. No read may be pending.
  bool ended_now() const noexcept;

  // Client side: verifies certificate and name (a DNS name or an IP address) unless the context says
  // otherwise; SNI is sent for DNS names. After a failure only close() is left. What the caller read but did
  // not use of the plain stream is the caller's to treat as an attack.
  awaitable<Result<>> start_tls_client(boost::asio::ssl::context& context, std::string name);
  // `early`: what was read of the client's handshake already (behind a proxy's header); not kept.
  awaitable<Result<>> start_tls_server(boost::asio::ssl::context& context, std::string_view early = {});
  bool secure() const noexcept;
  std::string tls_description() const;  // "TLSv1.3 TLS_AES_256_GCM_SHA384[ resumed]", empty when plain
  std::string tls_failure()
      const;  // why the peer's certificate was not accepted; empty when it was, or plain
  // The common name in the certificate that the peer showed and that was accepted, or the certificate's
  // SHA-256 where it has none; empty: it showed none.
  std::string peer_name() const;
  error_code certificate_error() const;  // the same as an error of certificate_category() (tls.h)

  tcp::endpoint remote_endpoint() const;  // unspecified when the peer is gone, or no TCP
  boost::asio::any_io_executor executor();
  // TLS close_notify, then FIN, then a short wait for the peer's end so that a reset does not destroy what it
  // has not read yet; then close().
  awaitable<void> shut_down();
  void close() noexcept;  // at once
  bool is_open() const noexcept;

 private:
  friend class Connector;
  struct State;
  explicit Stream(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace mailonce::net
