// The window of one process: what its workers share, and the maker of each worker's Window.
#pragma once
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>

#include "mailonce/observe/log.h"
#include "mailonce/redis/options.h"
#include "mailonce/window/memory_store.h"
#include "mailonce/window/sqlite_store.h"
#include "mailonce/window/window.h"
#include "mailonce/window/write_back.h"

namespace mailonce::window {

enum class Kind { memory, sqlite, redis };

struct Options {
  Kind kind = Kind::sqlite;
  SqliteOptions sqlite;
  redis::Options redis;        // its command_deadline bounds what a message waits for the store
  std::string prefix;          // before every key in Redis
  milliseconds lease{30'000};  // of a claim that outlives its process; renewed while the attempt lives
  MemoryOptions memory;        // the store `memory`; beside others, what this process remembers for an outage
  WriteBackOptions write_back;
};

struct Figures {
  bool store_down = false;
  std::size_t to_write_back = 0;  // commits, doubts and releases that the store does not have yet
  std::size_t memory_records = 0;
};

// The store alone, without what makes a window of it: for an operator's work on its records. Not for
// `memory`, which no other process sees.
std::shared_ptr<Store> open_store(boost::asio::any_io_executor executor, const Options& options);

// Made once a process, before its workers; thread-safe. Windows keep what they need of it alive.
class Shared {
 public:
  explicit Shared(Options options);

  // One a worker, used on that io_context's thread, destroyed before the io_context. `log` must outlive it.
  std::unique_ptr<Window> open(boost::asio::io_context& worker, observe::Log& log);
  // Asks the store which of its settings may lose records, and logs them. `context` and `log` must outlive
  // it.
  awaitable<void> inspect(boost::asio::io_context& context, observe::Log& log);
  Figures figures() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace mailonce::window
