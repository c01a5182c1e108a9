// The thread that owns the SQLite file of a process, and its queue.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "mailonce/window/attempt.h"
#include "mailonce/window/sqlite_store.h"
#include "sqlite_records.h"

namespace mailonce::window {

// One step in the queue: a copy, as who asked may give up first.
class SqliteJob {
 public:
  SqliteJob(const Step& step, SteadyClock::time_point until)
      : attempt_(attempt_of(step)), verb_(step.verb), age_(step.particulars.age), until_(until) {}
  virtual ~SqliteJob() = default;

  Step step() const;
  Verb verb() const noexcept { return verb_; }
  // Nobody waits for it any more.
  bool late() const noexcept { return SteadyClock::now() >= until_; }
  // On the writer's thread, once.
  virtual void answer(Result<StepResult> result) = 0;

 private:
  Attempt attempt_;
  Verb verb_;
  milliseconds age_;
  SteadyClock::time_point until_;
};

class SqliteWriter {
 public:
  explicit SqliteWriter(SqliteOptions options);
  // Carries out what is queued, then ends the thread.
  ~SqliteWriter();

  // From any thread.
  void enqueue(std::shared_ptr<SqliteJob> job);
  const SqliteOptions& options() const noexcept { return options_; }

 private:
  using Batch = std::vector<std::shared_ptr<SqliteJob>>;

  void run();
  std::optional<Batch> wait_for_work();
  void let_others_in();
  void carry_out(const Batch& batch);
  Result<std::vector<StepResult>> write(const Batch& batch);
  void look_after_file();

  const SqliteOptions options_;
  const SystemClock clock_;
  std::mutex mutex_;
  std::condition_variable wake_;
  Batch queue_;
  bool stopping_ = false;
  // Of the thread alone.
  std::unique_ptr<SqliteRecords> records_;
  bool file_gone_ = false;  // told to the next who asks
  SteadyClock::time_point look_at_{};
  SteadyClock::time_point busy_since_ =
      SteadyClock::time_point::max();  // without a pause between two batches
  std::thread thread_;
};

}  // namespace mailonce::window
