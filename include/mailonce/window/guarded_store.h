// A store that may fail, with this process's memory beside it (DESIGN.md §4, "When the store fails").
//
// The memory is a shadow: every attempt of this process is claimed there too, and what it sent is committed
// there. So
// - a repeat that meets an attempt of this process is told `busy` without asking the store;
// - when the store is down the memory knows what this process sent before and what is under way;
// - while facts wait to be written back it answers for them.
// Steps that fail are decided by their store_down policy; an error is never read as an answer (P8).
// One a worker; the shadow and the outage are the process's.
#pragma once
#include <memory>
#include <set>
#include <string>

#include "mailonce/window/memory_store.h"
#include "mailonce/window/write_back.h"

namespace mailonce::window {

class GuardedStore final : public Store {
 public:
  // `shadow`, `outage` and `log` must outlive it.
  GuardedStore(boost::asio::any_io_executor executor, std::shared_ptr<Store> store, MemoryStore& shadow,
               Outage& outage, observe::Log& log, WriteBackOptions options = {});
  ~GuardedStore() override;

  awaitable<Result<StepResult>> step(Step step) override;
  awaitable<Result<>> visit(std::function<void(const StoredRecord&)> see) override;
  awaitable<void> settle(milliseconds at_most) override;
  void stop() override;

 private:
  awaitable<Result<StepResult>> claim(Step step);
  awaitable<Result<StepResult>> begin(Step step);
  awaitable<Result<StepResult>> begin_local(Step step);
  awaitable<Result<StepResult>> end(Step step);  // commit, doubt, release
  awaitable<Result<StepResult>> end_in_store(Step step);
  awaitable<Result<StepResult>> ask(Step step);
  awaitable<Result<StepResult>> ask_or_release(Step step);
  awaitable<Result<StepResult>> ask_for(Step step, StepResult local);
  Result<StepResult> claim_without_store(const Step& step, error_code why);
  void expect_end(const Step& step, const StepResult& local);
  void drop_what_is_not_held(const Step& step, const StepResult& answer);
  StepResult in_memory(const Step& step, Verb verb);

  std::shared_ptr<Store> store_;
  MemoryStore& shadow_;
  Outage& outage_;
  observe::Log& log_;
  std::shared_ptr<WriteBack> write_back_;
  // Owners that went on without the store's answer to their claim: it may hold the claim all the same.
  std::set<std::string, std::less<>> unanswered_;
};

}  // namespace mailonce::window
