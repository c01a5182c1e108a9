#include "mailonce/window/sqlite_store.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "mailonce/window/error.h"
#include "sqlite_writer.h"

namespace mailonce::window {

// The way from the writer's thread to the worker's, closed when the worker ends.
struct SqliteStore::Mailbox {
  explicit Mailbox(boost::asio::any_io_executor on) : executor(std::move(on)) {}
  std::mutex mutex;
  bool open = true;
  const boost::asio::any_io_executor executor;  // valid while open
};

namespace {

// Who waits for a job: touched on the worker's thread only, null once it has gone.
class Waiting {
 public:
  Waiting(boost::asio::steady_timer*& place, boost::asio::steady_timer& timer) : place_(place) {
    place_ = &timer;
  }
  ~Waiting() { place_ = nullptr; }
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;

 private:
  boost::asio::steady_timer*& place_;
};

template <class Mailbox>
class PostedJob final : public SqliteJob, public std::enable_shared_from_this<PostedJob<Mailbox>> {
 public:
  PostedJob(const Step& step, SteadyClock::time_point until, std::shared_ptr<Mailbox> mailbox)
      : SqliteJob(step, until), mailbox_(std::move(mailbox)) {}

  void answer(Result<StepResult> result) override {
    const std::lock_guard lock(mailbox_->mutex);
    if (!mailbox_->open) return;
    auto wake = [job = this->shared_from_this(), result = std::move(result)]() mutable {
      job->outcome.emplace(std::move(result));
      if (job->waiting) job->waiting->cancel();
    };
    boost::asio::post(mailbox_->executor, std::move(wake));
  }

  // On the worker's thread.
  std::optional<Result<StepResult>> outcome;
  boost::asio::steady_timer* waiting = nullptr;

 private:
  std::shared_ptr<Mailbox> mailbox_;
};

}  // namespace

SqliteStore::SqliteStore(boost::asio::any_io_executor executor, std::shared_ptr<SqliteWriter> writer)
    : executor_(executor), writer_(std::move(writer)), mailbox_(std::make_shared<Mailbox>(executor)) {}

SqliteStore::~SqliteStore() {
  const std::lock_guard lock(mailbox_->mutex);
  mailbox_->open = false;
}

awaitable<Result<StepResult>> SqliteStore::step(Step step) {
  const auto until = SteadyClock::now() + writer_->options().deadline;
  const auto job = std::make_shared<PostedJob<Mailbox>>(step, until, mailbox_);
  boost::asio::steady_timer answered(executor_, until);
  const Waiting waiting(job->waiting, answered);
  writer_->enqueue(job);
  co_await answered.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  if (job->outcome) co_return std::move(*job->outcome);
  co_return make_error_code(Errc::timed_out);
}

awaitable<Result<>> SqliteStore::visit(std::function<void(const StoredRecord&)> see) {
  auto records = SqliteRecords::open(writer_->options());
  if (!records) co_return records.error();
  co_return (*records)->visit(SystemClock().now(), see);
}

std::shared_ptr<SqliteWriter> make_sqlite_writer(SqliteOptions options) {
  return std::make_shared<SqliteWriter>(std::move(options));
}

}  // namespace mailonce::window
