#include "mailonce/upstream/logins.h"

#include "mailonce/base/random.h"

namespace mailonce::upstream {

Logins::Logins(boost::asio::any_io_executor executor, Options options,
               std::shared_ptr<boost::asio::ssl::context> tls, observe::Log& log, LoginLimits limits)
    : executor_(std::move(executor)),
      options_(std::move(options)),
      tls_(std::move(tls)),
      log_(log),
      limits_(limits),
      key_(random_token(32)) {}

awaitable<Result<Login>> Logins::log_in(smtp::Credential credential) {
  Hasher hasher(key_);
  hasher.update_framed(credential.kind == smtp::Credential::Kind::bearer ? "bearer" : "password");
  hasher.update_framed(credential.user);
  hasher.update_framed(credential.secret);
  const auto digest = hasher.finish();
  const auto now = SteadyClock::now();
  forget_unused(now);

  auto known = entries_.find(digest);
  std::shared_ptr<Pool> pool;
  if (known != entries_.end()) {
    known->second.used = now;
    pool = known->second.pool;
    if (now < known->second.verified_until && !pool->auth_refusal())
      co_return Login{{235, "2.7.0 Authentication successful"}, pool};
  }
  if (aborted_) co_return Errc::closed;
  if (!pool) {
    auto own = options_;
    own.username = credential.user;
    own.password = credential.secret;
    own.bearer = credential.kind == smtp::Credential::Kind::bearer;
    pool = std::make_shared<Pool>(executor_, std::move(own), tls_, log_);
  }
  pool->forget_auth_refusal();
  {
    // Given back logged in: the mail that follows finds it.
    auto connection = co_await pool->borrow(Freshness::fresh);
    if (!connection) {
      entries_.erase(digest);
      const auto refusal = pool->auth_refusal();
      if (connection.error() == Errc::auth_failed && refusal) co_return Login{*refusal, nullptr};
      co_return connection.error();
    }
  }
  if (entries_.size() < limits_.max_credentials || entries_.contains(digest)) {
    const auto verified = SteadyClock::now();
    entries_[digest] = {pool, verified + limits_.remember, verified};
  }
  co_return Login{{235, "2.7.0 Authentication successful"}, pool};
}

void Logins::forget_unused(SteadyClock::time_point now) {
  std::erase_if(entries_, [&](const auto& each) {
    const Entry& entry = each.second;
    return entry.pool.use_count() == 1 && now - entry.used > limits_.keep;
  });
}

void Logins::abort() {
  aborted_ = true;
  for (auto& [digest, entry] : entries_) entry.pool->abort();
}

}  // namespace mailonce::upstream
