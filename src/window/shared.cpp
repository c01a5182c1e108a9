#include "mailonce/window/shared.h"

#include "mailonce/window/guarded_store.h"
#include "mailonce/window/hub.h"
#include "mailonce/window/protocol_window.h"
#include "mailonce/window/redis_store.h"

namespace mailonce::window {

namespace {

// One context for all workers: reading the system's authorities takes a while.
Options with_tls(Options options) {
  if (options.kind == Kind::redis && !options.redis.tls_context)
    options.redis.tls_context = redis::make_tls(options.redis);
  return options;
}

}  // namespace

struct Shared::State {
  explicit State(Options given) : options(with_tls(std::move(given))), memory(options.memory, clock) {
    if (options.kind == Kind::sqlite) sqlite = make_sqlite_writer(options.sqlite);
  }

  const Options options;
  std::shared_ptr<SqliteWriter> sqlite;
  const SteadySystemClock clock;
  MemoryStore memory;
  Outage outage;
  ReplicaWatch replicas;
  Hub hub;
};

namespace {

std::shared_ptr<Store> store_of(boost::asio::any_io_executor executor, const Options& options,
                                std::shared_ptr<SqliteWriter> sqlite, ReplicaWatch* replicas = nullptr,
                                observe::Log* log = nullptr) {
  if (sqlite) return std::make_shared<SqliteStore>(std::move(executor), std::move(sqlite));
  return std::make_shared<RedisStore>(std::move(executor), options.redis, options.prefix, replicas, log);
}

}  // namespace

std::shared_ptr<Store> open_store(boost::asio::any_io_executor executor, const Options& options) {
  const bool sqlite = options.kind == Kind::sqlite;
  return store_of(std::move(executor), options, sqlite ? make_sqlite_writer(options.sqlite) : nullptr);
}

Shared::Shared(Options options) : state_(std::make_shared<State>(std::move(options))) {}

std::unique_ptr<Window> Shared::open(boost::asio::io_context& worker, observe::Log& log) {
  // Aliases of the shared state: it lives as long as any window or claim does.
  const std::shared_ptr<Hub> hub(state_, &state_->hub);
  const auto& options = state_->options;
  if (options.kind == Kind::memory) {
    const std::shared_ptr<Store> memory(state_, &state_->memory);
    return std::make_unique<ProtocolWindow>(worker.get_executor(), memory, std::nullopt, hub, log);
  }
  auto store = store_of(worker.get_executor(), options, state_->sqlite, &state_->replicas, &log);
  auto guarded = std::make_shared<GuardedStore>(worker.get_executor(), std::move(store), state_->memory,
                                                state_->outage, log, options.write_back);
  return std::make_unique<ProtocolWindow>(worker.get_executor(), std::move(guarded), options.lease, hub, log);
}

awaitable<void> Shared::inspect(boost::asio::io_context& context, observe::Log& log) {
  const auto state = state_;
  if (state->options.kind == Kind::memory) co_return;
  const auto store = store_of(context.get_executor(), state->options, state->sqlite);
  const auto warnings = co_await store->warnings();
  for (const auto& warning : warnings) log.event(observe::Level::warning, "store_settings", warning);
}

Figures Shared::figures() const {
  return {state_->outage.down(), state_->outage.kept, state_->memory.size()};
}

}  // namespace mailonce::window
