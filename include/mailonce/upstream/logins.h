// AUTH pass-through: the credentials that clients brought, each tried at the upstream, and a pool of
// connections for each (DESIGN.md §3). One a worker, used on that worker's thread. Credentials live in memory
// only, and no longer than somebody uses them.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ssl/context.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mailonce/base/digest.h"
#include "mailonce/observe/log.h"
#include "mailonce/smtp/credential.h"
#include "mailonce/upstream/options.h"
#include "mailonce/upstream/pool.h"

namespace mailonce::upstream {

struct LoginLimits {
  milliseconds remember{300'000};  // how long a credential that was right is not tried again
  milliseconds keep{900'000};      // how long after its last use its pool stays
  std::size_t max_credentials = 1000;
};

struct Login {
  smtp::Reply reply;               // the upstream's to AUTH; 235 of ours when it was right a moment ago
  std::shared_ptr<Pool> upstream;  // with that credential; null unless the reply is 235
};

class Logins {
 public:
  // As for a Pool; `options` without its user and password.
  Logins(boost::asio::any_io_executor executor, Options options,
         std::shared_ptr<boost::asio::ssl::context> tls, observe::Log& log, std::shared_ptr<Pacer> pacer = {},
         LoginLimits limits = {});

  // Errors: upstream::Errc when the upstream could not be asked.
  awaitable<Result<Login>> log_in(smtp::Credential credential);
  // At the end of a drain.
  void abort();

 private:
  struct Entry {
    std::shared_ptr<Pool> pool;
    SteadyClock::time_point verified_until{};
    SteadyClock::time_point used{};
  };
  Digest digest_of(const smtp::Credential& credential) const;
  std::shared_ptr<Pool> pool_for(const Digest& digest, const smtp::Credential& credential);
  void forget_unused(SteadyClock::time_point now);

  boost::asio::any_io_executor executor_;
  Options options_;
  std::shared_ptr<boost::asio::ssl::context> tls_;
  observe::Log& log_;
  LoginLimits limits_;
  PoolTies ties_;
  std::string key_;  // of the digests, so that they are worth nothing elsewhere
  std::map<Digest, Entry> entries_;
  std::vector<std::weak_ptr<Pool>> pools_;  // all that were made and live
  bool aborted_ = false;
};

}  // namespace mailonce::upstream
