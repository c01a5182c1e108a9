#include "mailonce/server/door.h"

namespace mailonce::server {

Door::Door(const Listener& listener) : options_(listener) {
  reload();
}

void Door::reload() {
  std::shared_ptr<boost::asio::ssl::context> tls;
  std::shared_ptr<Users> users;
  if (options_.tls != ListenerTls::none)
    tls = std::make_shared<boost::asio::ssl::context>(net::make_server_context(options_.certificates));
  if (options_.login == LoginAt::users) users = std::make_shared<Users>(options_.users_file);
  tls_ = std::move(tls);
  users_ = std::move(users);
}

}  // namespace mailonce::server
