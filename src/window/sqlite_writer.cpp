#include "sqlite_writer.h"

#include <algorithm>
#include <utility>

#include "mailonce/sqlite/error.h"
#include "mailonce/window/error.h"

namespace mailonce::window {
namespace {

constexpr seconds look_after_each{1};
constexpr std::size_t sweep_at_once = 500;
// Other processes try for the lock once a millisecond (database.cpp): so long it is theirs alone, so often.
constexpr milliseconds way_for_others{3};
constexpr milliseconds longest_run{50};

// What a power failure may take without harm: a claim that is forgotten allows no dot, a renewal only
// lengthens it.
bool must_last(Verb verb) noexcept {
  switch (verb) {
    case Verb::claim_resend:
    case Verb::claim_suppress:
    case Verb::claim_defer:
    case Verb::renew:
    case Verb::look:
      return false;
    default:
      return true;
  }
}

}  // namespace

Step SqliteJob::step() const {
  auto out = attempt_.step(verb_);
  out.particulars.age = age_;
  return out;
}

SqliteWriter::SqliteWriter(SqliteOptions options)
    : options_(std::move(options)), thread_([this] { run(); }) {}

SqliteWriter::~SqliteWriter() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void SqliteWriter::enqueue(std::shared_ptr<SqliteJob> job) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = queue_.empty();
    queue_.push_back(std::move(job));
  }
  if (first) wake_.notify_one();
}

void SqliteWriter::run() {
  for (;;) {
    const auto batch = wait_for_work();
    if (!batch) return;
    if (!batch->empty()) {
      let_others_in();
      carry_out(*batch);
    }
    if (SteadyClock::now() >= look_at_) look_after_file();
  }
}

// All that is queued, perhaps nothing when it is time to look after the file; none at all at the end.
std::optional<SqliteWriter::Batch> SqliteWriter::wait_for_work() {
  std::unique_lock lock(mutex_);
  const auto work = [this] { return stopping_ || !queue_.empty(); };
  if (!work()) busy_since_ = SteadyClock::time_point::max();
  wake_.wait_until(lock, look_at_, work);
  if (stopping_ && queue_.empty()) return std::nullopt;
  return std::exchange(queue_, {});
}

// A process that always has work would hold the lock but for moments in which nobody else happens to try.
void SqliteWriter::let_others_in() {
  const auto now = SteadyClock::now();
  if (busy_since_ > now) busy_since_ = now;
  if (now - busy_since_ < longest_run) return;
  std::this_thread::sleep_for(way_for_others);
  busy_since_ = SteadyClock::now();
}

void SqliteWriter::carry_out(const Batch& batch) {
  auto results = write(batch);
  if (!results) {
    if (records_) records_->roll_back();
    if (sqlite::is_fatal(results.error())) records_.reset();
    for (const auto& job : batch) job->answer(results.error());
    return;
  }
  for (std::size_t i = 0; i < batch.size(); ++i) batch[i]->answer(std::move((*results)[i]));
}

// One transaction for all: what fails, fails for all of them.
Result<std::vector<StepResult>> SqliteWriter::write(const Batch& batch) {
  const bool all_late = std::all_of(batch.begin(), batch.end(), [](const auto& job) { return job->late(); });
  if (all_late) return make_error_code(Errc::timed_out);
  if (std::exchange(file_gone_, false)) return make_error_code(Errc::file_gone);
  if (!records_) {
    auto opened = SqliteRecords::open(options_);
    if (!opened) return opened.error();
    records_ = std::move(*opened);
  }
  const bool durable =
      options_.durability == Durability::disk &&
      std::any_of(batch.begin(), batch.end(), [](const auto& job) { return must_last(job->verb()); });
  const auto begun = records_->begin(durable);
  if (!begun) return begun.error();
  std::vector<StepResult> results;
  results.reserve(batch.size());
  const auto now = clock_.now();
  for (const auto& job : batch) {
    auto result = records_->step(job->step(), now);
    if (!result) return result.error();
    results.push_back(std::move(*result));
  }
  const auto committed = records_->commit();
  if (!committed) return committed.error();
  return results;
}

// Ended records go, and a file that was removed or replaced is not written to for ever: that is an outage,
// so that it is told. A failure shows at the next step.
void SqliteWriter::look_after_file() {
  look_at_ = SteadyClock::now() + look_after_each;
  if (!records_) return;
  if (!records_->in_place()) {
    records_.reset();
    file_gone_ = true;
    return;
  }
  if (!records_->begin(false)) return;
  const auto swept = records_->sweep(clock_.now(), sweep_at_once);
  const bool done = swept && records_->commit();
  if (!done) return records_->roll_back();
  if (*swept == sweep_at_once) look_at_ = SteadyClock::now();
}

}  // namespace mailonce::window
