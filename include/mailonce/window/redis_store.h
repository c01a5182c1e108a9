// Records in Redis 7: one string a record, one Lua script a step, called by EVALSHA. One store a worker.
#pragma once
#include <memory>
#include <string>

#include "mailonce/observe/log.h"
#include "mailonce/redis/client.h"
#include "mailonce/window/replica_watch.h"
#include "mailonce/window/store.h"

namespace mailonce::window {

class RedisStore final : public Store {
 public:
  // Keys are `<prefix>mailonce:{<fingerprint>}:<recipient digest>`. `watch` and `log` hear of begins and
  // commits that reach fewer replicas than options.min_replicas; if given, they must outlive the store.
  RedisStore(boost::asio::any_io_executor executor, redis::Options options, std::string prefix,
             ReplicaWatch* watch = nullptr, observe::Log* log = nullptr);

  // Repeated once when the connection was lost under it: an idle one may have been closed by the server.
  // With min_replicas a begin that is not known to be on as many is Errc::not_replicated, and carried out; a
  // commit stands. Errors: redis::Errc, the system's, window::Errc.
  awaitable<Result<StepResult>> step(Step step) override;
  awaitable<Result<>> visit(std::function<void(const StoredRecord&)> see) override;
  // Masters that evict, or have too few replicas. A user without the right to INFO, and a server that is
  // down, hear nothing.
  awaitable<std::vector<std::string>> warnings() override;

 private:
  awaitable<Result<std::string>> visit_page(redis::Address master, std::string cursor,
                                            const std::function<void(const StoredRecord&)>& see);
  awaitable<Result<>> ask_again(const std::string& key, redis::Reply& value, redis::Reply& left);
  Result<StepResult> judge(const Step& step, const redis::Replication& replication, StepResult result);

  const unsigned min_replicas_;
  redis::Client client_;
  std::string prefix_;
  ReplicaWatch* watch_;
  observe::Log* log_;
};

}  // namespace mailonce::window
