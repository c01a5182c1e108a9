// How a client proves who it is: by its TLS certificate, or by AUTH against the file of users or the
// provider.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "mailonce/base/digest.h"
#include "mailonce/relay/replies.h"
#include "session.h"

namespace mailonce::server {
namespace {

// Where the user's name is the token itself (Postmark), it is a secret like one.
std::string log_name(const smtp::Credential& credential) {
  return credential.user == credential.secret ? "sha256:" + sha256(credential.secret).base64url(12)
                                              : credential.user;
}

// Many providers give all accounts one user name ("apikey"): the password tells them apart. A token is
// another one each hour, and the user's name its account's; a user of our own file of that name is another.
std::string scope_name(const smtp::Credential& credential, LoginAt login) {
  if (login != LoginAt::upstream) return credential.user;
  if (credential.kind == smtp::Credential::Kind::bearer) return "token\n" + credential.user;
  return credential.user + '\n' + sha256(credential.secret).base64url();
}

}  // namespace

// False: the stream is closed. A certificate that the client showed, and we trust, is a login.
awaitable<bool> Session::make_tls() {
  stream_.expires_after(options_.timeouts.handshake);
  const auto context = door_->tls();
  handshaking_ = true;
  auto made = co_await stream_.start_tls_server(*context, early_);
  handshaking_ = false;
  early_ = {};
  if (!made) {
    const auto certificate = stream_.tls_failure();
    relay_.log.event(
        observe::Level::warning, "tls_failed", "A client's TLS handshake failed",
        {{"session", id_},
         {"client", client_},
         {"error", certificate.empty() ? made.error().message() : "certificate: " + certificate}});
    stream_.close();
    co_return false;
  }
  // RFC 3207 §4.2: a login from before is forgotten.
  upstream_.reset();
  assumed_user_.clear();
  user_ = stream_.peer_name();
  credential_ = user_.empty() ? std::string() : "certificate\n" + user_;
  co_return true;
}

void Session::trust_certificate() {
  if (user_.empty()) return;
  machine_.trust();
  place_.logged_in();
}

awaitable<void> Session::check(const smtp::Credential& credential) {
  smtp::Reply reply{535, "5.7.8 Error: authentication credentials invalid"};
  if (door_->options().login == LoginAt::upstream) {
    auto answered = co_await log_in_upstream(credential);
    reply = std::move(answered);
  } else if (credential.kind == smtp::Credential::Kind::password) {
    auto checked = co_await check_user(credential);
    reply = std::move(checked);
  }
  if (reply.completed()) {
    user_ = log_name(credential);
    place_.logged_in();
    credential_ = scope_name(credential, door_->options().login);
  } else {
    relay_.log.event(
        observe::Level::warning, "login_failed", "A client could not log in",
        {{"session", id_}, {"client", client_}, {"user", log_name(credential)}, {"reply", reply.summary()}});
  }
  machine_.answer_auth(reply);
}

// A hash is made to take long: on a thread of its own, and few at once, because large messages wait there,
// too.
awaitable<smtp::Reply> Session::check_user(const smtp::Credential& credential) {
  constexpr int most_waiting = 16;
  const smtp::Reply right{235, "2.7.0 Authentication successful"};
  const auto users = door_->users();
  if (users->known(credential.user, credential.secret)) co_return right;
  if (users->waiting >= most_waiting)
    co_return smtp::Reply{454, "4.7.0 Too many logins at once, try again later"};
  struct Waiting {
    explicit Waiting(Users& of) : users(of) { ++users.waiting; }
    ~Waiting() { --users.waiting; }
    Users& users;
  } const waiting(*users);
  auto verify = [users, credential]() -> awaitable<bool> {
    co_return users->verify(credential.user, credential.secret);
  };
  const bool found = co_await boost::asio::co_spawn(relay_.helpers, verify, boost::asio::use_awaitable);
  if (found) co_return right;
  co_return smtp::Reply{535, "5.7.8 Error: authentication credentials invalid"};
}

awaitable<smtp::Reply> Session::log_in_upstream(const smtp::Credential& credential) {
  auto login = co_await backend_.logins(door_->options().login_upstream).log_in(credential);
  if (!login) {
    // RFC 4954 §6: 454 says that it may work later; any other 4xx would, too, and is less well known.
    auto reply = relay::reply_to_upstream_error(login.error());
    reply.code = 454;
    co_return reply;
  }
  upstream_ = std::move(login->upstream);
  co_return std::move(login->reply);
}

}  // namespace mailonce::server
