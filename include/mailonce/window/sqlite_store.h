// Records in one SQLite file (WAL), shared by all relay processes of one machine: the embedded default.
//
// One thread a process owns the connection. What its workers ask for meanwhile is carried out in one
// transaction, so that all of it costs one write to the disk, and a slow disk delays those who wait for it
// and nobody else. Time is the system clock: it outlives a restart, and the processes share it.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <memory>
#include <string>

#include "mailonce/window/store.h"

namespace mailonce::window {

// When a step that must not be forgotten is answered.
enum class Durability {
  disk,    // once the disk has it: survives a power failure
  process  // once the system has it: survives the process, kill -9 too; a power failure may take the last
           // seconds
};

struct SqliteOptions {
  std::string path;
  Durability durability = Durability::disk;
  milliseconds deadline{1000};  // of a step, waiting for other processes' locks included
};

class SqliteWriter;

// One a worker, on that worker's thread; destroyed before its io_context.
class SqliteStore final : public Store {
 public:
  SqliteStore(boost::asio::any_io_executor executor, std::shared_ptr<SqliteWriter> writer);
  ~SqliteStore() override;

  // Errors: sqlite::category(), window::Errc.
  awaitable<Result<StepResult>> step(Step step) override;
  // Blocks; over a connection of its own.
  awaitable<Result<>> visit(std::function<void(const StoredRecord&)> see) override;

 private:
  struct Mailbox;
  boost::asio::any_io_executor executor_;
  std::shared_ptr<SqliteWriter> writer_;
  std::shared_ptr<Mailbox> mailbox_;
};

// The thread that owns the file. Opens it at the first step, and again after it failed or was removed; makes
// its folder. At its end what is queued is carried out first.
std::shared_ptr<SqliteWriter> make_sqlite_writer(SqliteOptions options);

}  // namespace mailonce::window
