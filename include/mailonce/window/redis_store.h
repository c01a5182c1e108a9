// Records in Redis 7: one string a record, one Lua script a step, called by EVALSHA. One store a worker.
#pragma once
#include <memory>
#include <string>

#include "mailonce/redis/client.h"
#include "mailonce/window/store.h"

namespace mailonce::window {

class RedisStore final : public Store {
 public:
  // Keys are `<prefix>mailonce:{<fingerprint>}:<recipient digest>`.
  RedisStore(boost::asio::any_io_executor executor, redis::Options options, std::string prefix);

  // Repeated once when the connection was lost under it: an idle one may have been closed by the server.
  // Errors: redis::Errc, the system's, window::Errc.
  awaitable<Result<StepResult>> step(Step step) override;
  awaitable<Result<>> visit(std::function<void(const StoredRecord&)> see) override;

 private:
  redis::Client client_;
  std::string prefix_;
};

}  // namespace mailonce::window
