#include "tls_sessions.h"

#include <ctime>
#include <new>

namespace mailonce::net {
namespace {

void free_sessions(void*, void* held, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<TlsSessions*>(held);
}

void free_name(void*, void* held, CRYPTO_EX_DATA*, int, long, void*) {
  delete static_cast<std::string*>(held);
}

int index_of_sessions() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_sessions);
  return index;
}

int index_of_name() {
  static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, free_name);
  return index;
}

TlsSessions* sessions_of(SSL_CTX* context) {
  return static_cast<TlsSessions*>(SSL_CTX_get_ex_data(context, index_of_sessions()));
}

bool too_old(const SSL_SESSION* session) {
  const auto age = std::chrono::seconds(std::time(nullptr) - SSL_SESSION_get_time(session));
  return age < std::chrono::seconds(0) || age > TlsSessions::longest_life;
}

}  // namespace

void TlsSessions::keep_in(SSL_CTX* context) {
  auto sessions = std::make_unique<TlsSessions>();
  if (SSL_CTX_set_ex_data(context, index_of_sessions(), sessions.get()) != 1) throw std::bad_alloc();
  sessions.release();
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  SSL_CTX_sess_set_new_cb(context, &on_new_session);
}

void TlsSessions::use(SSL* client, const std::string& name) {
  auto* sessions = sessions_of(SSL_get_SSL_CTX(client));
  if (sessions == nullptr) return;
  auto own_name = std::make_unique<std::string>(name);
  if (SSL_set_ex_data(client, index_of_name(), own_name.get()) != 1) throw std::bad_alloc();
  own_name.release();
  if (const auto session = sessions->take(name)) SSL_set_session(client, session.get());
}

// The session's reference is ours then.
int TlsSessions::on_new_session(SSL* client, SSL_SESSION* session) {
  auto* sessions = sessions_of(SSL_get_SSL_CTX(client));
  const auto* name = static_cast<std::string*>(SSL_get_ex_data(client, index_of_name()));
  if (sessions == nullptr || name == nullptr || SSL_SESSION_is_resumable(session) == 0) return 0;
  sessions->add(*name, Session(session));
  return 1;
}

void TlsSessions::add(const std::string& name, Session session) {
  const std::lock_guard lock(mutex_);
  auto& own = sessions_[name];
  if (own.size() >= most_of_a_server) own.erase(own.begin());
  own.push_back(std::move(session));
}

TlsSessions::Session TlsSessions::take(const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(name);
  if (found == sessions_.end()) return nullptr;
  auto& own = found->second;
  std::erase_if(own, [](const Session& each) { return too_old(each.get()); });
  if (own.empty()) return nullptr;
  auto newest = std::move(own.back());
  own.pop_back();
  // RFC 8446 §C.4: a ticket is used once. Before 1.3 there is one session for all, and no new one when it is
  // used.
  if (SSL_SESSION_get_protocol_version(newest.get()) < TLS1_3_VERSION) {
    SSL_SESSION_up_ref(newest.get());
    own.emplace_back(newest.get());
  }
  return newest;
}

}  // namespace mailonce::net
