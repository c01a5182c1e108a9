#include "mailonce/upstream/logins.h"

#include "mailonce/base/random.h"

namespace mailonce::upstream {

Logins::Logins(boost::asio::any_io_executor executor, Options options,
               std::shared_ptr<boost::asio::ssl::context> tls, observe::Log& log,
               std::shared_ptr<Pacer> pacer, LoginLimits limits)
    : executor_(std::move(executor)),
      options_(std::move(options)),
      tls_(std::move(tls)),
      log_(log),
      limits_(limits),
      ties_{std::move(pacer), std::make_shared<Breaker>(), true},
      key_(random_token(32)) {}

Digest Logins::digest_of(const smtp::Credential& credential) const {
  Hasher hasher(key_);
  hasher.update_framed(credential.kind == smtp::Credential::Kind::bearer ? "bearer" : "password");
  hasher.update_framed(credential.user);
  hasher.update_framed(credential.secret);
  return hasher.finish();
}

// The pool that others with this credential use, or a new one. What is not kept among the entries, because
// there are too many, lives with its session.
std::shared_ptr<Pool> Logins::pool_for(const Digest& digest, const smtp::Credential& credential) {
  const auto known = entries_.find(digest);
  if (known != entries_.end()) return known->second.pool;
  auto own = options_;
  own.username = credential.user;
  own.password = credential.secret;
  own.bearer = credential.kind == smtp::Credential::Kind::bearer;
  auto pool = std::make_shared<Pool>(executor_, std::move(own), tls_, log_, ties_);
  pools_.push_back(pool);
  if (entries_.size() < limits_.max_credentials) entries_[digest] = {pool, {}, SteadyClock::now()};
  return pool;
}

awaitable<Result<Login>> Logins::log_in(smtp::Credential credential) {
  const smtp::Reply right{235, "2.7.0 Authentication successful"};
  const auto digest = digest_of(credential);
  const auto now = SteadyClock::now();
  forget_unused(now);
  if (aborted_) co_return Errc::closed;
  const auto pool = pool_for(digest, credential);
  const auto known = entries_.find(digest);
  if (known != entries_.end()) {
    known->second.used = now;
    if (now < known->second.verified_until && !pool->auth_refusal()) co_return Login{right, pool};
  }
  pool->forget_auth_refusal();
  // Given back logged in: the mail that follows finds it.
  auto connection = co_await pool->borrow(Freshness::fresh);
  const auto entry = entries_.find(digest);
  const bool kept = entry != entries_.end() && entry->second.pool == pool;
  if (connection) {
    if (kept) entry->second.verified_until = SteadyClock::now() + limits_.remember;
    co_return Login{right, pool};
  }
  if (connection.error() != Errc::auth_failed) co_return connection.error();
  const auto refusal = pool->auth_refusal();
  if (kept) entries_.erase(entry);
  // RFC 4954 §4: the last word is 235, 4xx or 5xx.
  if (!refusal || refusal->code < 400) co_return Errc::auth_failed;
  co_return Login{*refusal, nullptr};
}

void Logins::forget_unused(SteadyClock::time_point now) {
  std::erase_if(entries_, [&](const auto& each) {
    const Entry& entry = each.second;
    return entry.pool.use_count() == 1 && now - entry.used > limits_.keep;
  });
  std::erase_if(pools_, [](const auto& each) { return each.expired(); });
}

void Logins::abort() {
  aborted_ = true;
  for (const auto& each : pools_) {
    if (const auto pool = each.lock()) pool->abort();
  }
}

}  // namespace mailonce::upstream
