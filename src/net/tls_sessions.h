// TLS sessions that a client may go on with (RFC 8446 §2.2, RFC 5077), so that a further connection to the
// same server costs neither side a signature and a certificate. One store a context, by the server's name as
// it was verified; thread-safe, for the workers share their contexts. In memory only.
//
// A session is as good as the verification it began with: the key is the name, the context is the trust, and
// none is older than `longest_life`.
#pragma once
#include <openssl/ssl.h>

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace mailonce::net {

class TlsSessions {
 public:
  static constexpr std::chrono::hours longest_life{1};
  static constexpr std::size_t most_of_a_server = 32;  // the oldest goes

  struct Free {
    void operator()(SSL_SESSION* session) const noexcept { SSL_SESSION_free(session); }
  };
  using Session = std::unique_ptr<SSL_SESSION, Free>;

  // From now on the context's clients keep their sessions. The store lives as long as the context.
  static void keep_in(SSL_CTX* context);

  // Before the handshake: `name` is the server's, and a session of it is gone on with if there is one.
  static void use(SSL* client, const std::string& name);

  TlsSessions() = default;
  TlsSessions(const TlsSessions&) = delete;
  TlsSessions& operator=(const TlsSessions&) = delete;

 private:
  static int on_new_session(SSL* client, SSL_SESSION* session);
  void add(const std::string& name, Session session);
  Session take(const std::string& name);

  std::mutex mutex_;
  std::map<std::string, std::vector<Session>> sessions_;  // the newest at the back
};

}  // namespace mailonce::net
