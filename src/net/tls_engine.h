// TLS as a pure machine over OpenSSL: ciphertext in and out by memory, no socket. The Stream moves the
// octets.
//
// Why not asio's ssl::stream: it costs a turn of the loop for each record written, can not say whether an
// unread record holds data or only a session ticket, and can not be written to without waiting.
#pragma once
#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "gather.h"
#include "mailonce/base/result.h"

namespace mailonce::net {

class TlsEngine {
 public:
  enum class Step {
    done,
    need_input,  // feed() more ciphertext and call again
    closed,      // the peer's close_notify
    failed,      // error() says why; the alert for the peer may be in output()
  };

  // `context` must live while this is constructed. `name` (client): verified if the context verifies, sent as
  // SNI.
  static TlsEngine client(SSL_CTX* context, const std::string& name);
  static TlsEngine server(SSL_CTX* context);

  Step handshake();
  Step read(std::span<char> into, std::size_t& octets);
  // Done: decrypted octets wait.
  Step peek();
  // Encrypts the next record's worth (at most 16 kB); small pieces share it.
  Step write(Gather& from);
  void close_notify();

  void feed(std::string_view ciphertext);
  // Ciphertext for the peer; valid until the next call on the engine.
  std::string_view output() const;
  void consume_output(std::size_t octets);

  error_code error() const noexcept { return error_; }
  std::string description() const;
  std::string peer_name() const;  // see Stream::peer_name()
  long verification_result() const;  // X509_V_OK too when nothing is verified

 private:
  struct Free {
    void operator()(SSL* ssl) const noexcept {
      // OpenSSL would spoil the session of a connection that just ended: a rule of TLS 1.0 (RFC 2246 §7.2.1).
      SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
      SSL_free(ssl);
    }
  };
  explicit TlsEngine(SSL_CTX* context);
  Step step(int result);

  std::unique_ptr<SSL, Free> ssl_;
  error_code error_;
};

}  // namespace mailonce::net
