// A listener's options with what they name: the certificate as it stands in its files now, and the users.
// Shared by the listener's sessions; thread-safe.
#pragma once
#include <atomic>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <optional>

#include "mailonce/server/options.h"
#include "mailonce/server/users.h"

namespace mailonce::server {

class Door {
 public:
  // Throws std::runtime_error when a file can not be used, and names it.
  explicit Door(const Listener& listener);

  const Listener& options() const noexcept { return options_; }
  // For new handshakes; null without TLS.
  std::shared_ptr<boost::asio::ssl::context> tls() const { return tls_.load(); }
  std::shared_ptr<Users> users() const { return users_.load(); }
  // Reads the files again. Throws as the constructor does; what was read before then stays.
  void reload();

 private:
  const Listener options_;
  std::atomic<std::shared_ptr<boost::asio::ssl::context>> tls_;
  std::atomic<std::shared_ptr<Users>> users_;
};

}  // namespace mailonce::server
