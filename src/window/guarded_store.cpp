#include "mailonce/window/guarded_store.h"

#include <algorithm>

#include "mailonce/window/error.h"

namespace mailonce::window {
namespace {

// Longer than an upstream may take for its answer, whatever the window.
constexpr std::chrono::hours longest_attempt{1};

Action action_for(const Step& step, const Record& found, TimePoint now) {
  const auto kind = classify(found, step.particulars.owner, now);
  return table(step.verb)[static_cast<std::size_t>(kind)];
}

}  // namespace

GuardedStore::GuardedStore(boost::asio::any_io_executor executor, std::shared_ptr<Store> store,
                           MemoryStore& shadow, Outage& outage, observe::Log& log, WriteBackOptions options)
    : store_(std::move(store)),
      shadow_(shadow),
      outage_(outage),
      log_(log),
      write_back_(std::make_shared<WriteBack>(std::move(executor), store_, outage, log, options)) {}

GuardedStore::~GuardedStore() {
  write_back_->stop();
}

awaitable<Result<>> GuardedStore::visit(std::function<void(const StoredRecord&)> see) {
  return store_->visit(std::move(see));
}

awaitable<void> GuardedStore::settle(milliseconds at_most) {
  return write_back_->settle(at_most);
}

void GuardedStore::stop() {
  write_back_->stop();
}

awaitable<Result<StepResult>> GuardedStore::step(Step step) {
  switch (step.verb) {
    case Verb::claim_resend:
    case Verb::claim_suppress:
    case Verb::claim_defer:
      return claim(step);
    case Verb::begin:
      return begin(step);
    case Verb::commit:
    case Verb::doubt:
    case Verb::release:
      return end(step);
    case Verb::renew:
      return ask(step);
    case Verb::probe:
    case Verb::look:
    case Verb::forget:
    case Verb::resolve_sent:
    case Verb::resolve_not_sent:
      break;
  }
  return store_->step(step);
}

// The store's answer, or why there is none. While it is down it is not asked.
awaitable<Result<StepResult>> GuardedStore::ask(Step step) {
  if (outage_.down()) {
    write_back_->start();
    co_return make_error_code(Errc::store_down);
  }
  const auto epoch = outage_.epoch();
  auto answer = co_await store_->step(step);
  if (answer || concerns_one_step(answer.error())) co_return answer;
  outage_.failed(epoch, answer.error(), log_);
  write_back_->start();
  co_return answer;
}

// In this process an attempt always ends, so its shadow needs no lease that must be renewed.
StepResult GuardedStore::in_memory(const Step& step, Verb verb) {
  Step shadow = step;
  shadow.verb = verb;
  shadow.particulars.lease = std::max<milliseconds>(step.particulars.window, longest_attempt);
  auto result = shadow_.apply(shadow);
  result.source = Source::local;
  return result;
}

awaitable<Result<StepResult>> GuardedStore::claim(Step step) {
  // In normal times the store alone judges what was sent and what is in doubt; the shadow only holds the
  // attempt.
  const bool memory_judges = outage_.down() || outage_.kept > 0;
  auto local = in_memory(step, memory_judges ? step.verb : Verb::claim_resend);
  if (local.blocked) co_return local;
  if (!memory_judges) {
    auto answer = co_await ask_or_release(step);
    if (!answer) co_return claim_without_store(step, answer.error());
    drop_what_is_not_held(step, *answer);
    co_return answer;
  }
  co_return co_await ask_for(step, std::move(local));
}

// An exception leaves nobody to end the shadow, which has no lease.
awaitable<Result<StepResult>> GuardedStore::ask_or_release(Step step) {
  std::exception_ptr failure;
  try {
    auto answer = co_await ask(step);
    co_return answer;
  } catch (...) {
    failure = std::current_exception();
  }
  in_memory(step, Verb::release);
  std::rethrow_exception(failure);
}

// Asks for what the shadow does not settle by what it knows, and puts both answers together.
awaitable<Result<StepResult>> GuardedStore::ask_for(Step step, StepResult local) {
  std::vector<std::string> open;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < step.recipients.size(); ++i) {
    if (!writes(action_for(step, local.before[i], local.now))) continue;
    open.push_back(step.recipients[i]);
    places.push_back(i);
  }
  if (open.empty()) co_return local;
  Step rest = step;
  rest.recipients = open;
  auto answer = co_await ask_or_release(rest);
  if (!answer) co_return claim_without_store(step, answer.error());
  drop_what_is_not_held(rest, *answer);
  if (answer->blocked) {
    local.blocked = true;
    local.source = Source::store;
  }
  const auto ahead = answer->now - local.now;  // the store's clock, which ages are told by
  for (auto& record : local.before) {
    if (record.at != TimePoint{}) record.at += ahead;
    if (record.deadline != TimePoint{}) record.deadline += ahead;
  }
  for (std::size_t i = 0; i < places.size(); ++i) {
    auto& found = answer->before[i];
    auto& known = local.before[places[i]];
    const auto kind = classify(found, step.particulars.owner, answer->now);
    // A doubt that only this process knows of stays one, unless the store knows the end.
    const bool doubt = classify(known, step.particulars.owner, answer->now) == Class::doubt;
    if (kind == Class::absent || (doubt && kind != Class::sent && kind != Class::doubt)) continue;
    known = std::move(found);
  }
  local.now = answer->now;
  local.source = Source::store;
  co_return local;
}

Result<StepResult> GuardedStore::claim_without_store(const Step& step, error_code why) {
  in_memory(step, Verb::release);
  // No relay can claim it now, and the client may try again.
  if (why == Errc::record_moving) {
    StepResult busy;
    busy.blocked = true;
    busy.now = in_memory(step, Verb::look).now;
    busy.before.resize(step.recipients.size());
    return busy;
  }
  // Unanswered is not undone: a store that was only slow carries the claim out, and a repeat would be told
  // `busy` until its lease ends.
  const bool may_be_held = why != Errc::store_down;
  if (step.store_down == StoreDownPolicy::defer) {
    ++outage_.figures.claims_deferred;
    Step undo = step;
    undo.verb = Verb::release;
    if (may_be_held) write_back_->keep(undo);
    return why;
  }
  if (step.store_down == StoreDownPolicy::local) {
    ++outage_.figures.claims_local;
    auto local = in_memory(step, step.verb);
    if (may_be_held) expect_end(step, local);
    return local;
  }
  ++outage_.figures.claims_unasked;
  auto known = in_memory(step, Verb::look);
  for (auto& record : known.before) {
    if (record.state != State::sent) record = Record{};
  }
  known.source = Source::unasked;
  if (may_be_held) expect_end(step, known);
  return known;
}

// Who goes on tells the store how it ends; when nobody does, what the store may hold is undone now.
void GuardedStore::expect_end(const Step& step, const StepResult& local) {
  bool goes_on = false;
  for (const auto& record : local.before) goes_on = goes_on || writes(action_for(step, record, local.now));
  if (goes_on && !local.blocked) {
    unanswered_.emplace(step.particulars.owner);
    return;
  }
  Step undo = step;
  undo.verb = Verb::release;
  write_back_->keep(undo);
}

void GuardedStore::drop_what_is_not_held(const Step& step, const StepResult& answer) {
  if (answer.blocked) {
    in_memory(step, Verb::release);
    return;
  }
  std::vector<std::string> others;
  for (std::size_t i = 0; i < step.recipients.size(); ++i) {
    if (!writes(action_for(step, answer.before[i], answer.now))) others.push_back(step.recipients[i]);
  }
  if (others.empty()) return;
  Step dropped = step;
  dropped.recipients = others;
  in_memory(dropped, Verb::release);
}

awaitable<Result<StepResult>> GuardedStore::begin(Step step) {
  if (step.held == Source::unasked) co_return StepResult{};
  if (step.held == Source::local) co_return co_await begin_local(step);
  auto answer = co_await ask(step);
  if (!answer && answer.error() == Errc::record_moving) {
    answer = StepResult();
    answer->blocked = true;
  }
  if (answer && answer->blocked) in_memory(step, Verb::release);
  if (answer || step.store_down == StoreDownPolicy::defer) co_return answer;
  co_return in_memory(step, Verb::begin);
}

// Claimed in memory; when the store is back by now, other relays shall see the attempt before its dot is
// written. Whatever the store knows of the message makes it a lost claim, so that it is claimed again there.
awaitable<Result<StepResult>> GuardedStore::begin_local(Step step) {
  if (outage_.down()) co_return in_memory(step, Verb::begin);
  unanswered_.emplace(step.particulars.owner);
  Step claim = step;
  claim.verb = Verb::claim_defer;
  auto claimed = co_await ask(claim);
  if (!claimed) co_return in_memory(step, Verb::begin);
  bool mine = !claimed->blocked;
  // An own claim after doubt: carried out unanswered, so that nobody knows of the doubt yet.
  for (const auto& found : claimed->before)
    mine = mine && !found.doubtful && writes(action_for(claim, found, claimed->now));
  if (mine) {
    auto begun = co_await ask(step);
    mine = !begun || !begun->blocked;
    auto local = in_memory(step, mine ? Verb::begin : Verb::look);
    if (begun) local.source = Source::store;
    if (mine) co_return local;
  }
  Step undo = step;
  undo.verb = Verb::release;
  co_await end(undo);
  StepResult lost;
  lost.blocked = true;
  co_return lost;
}

// The store first and the shadow when its answer is known: until then a repeat meets the attempt in the
// shadow and waits, and never a store that has not heard yet.
awaitable<Result<StepResult>> GuardedStore::end(Step step) {
  std::exception_ptr failure;
  try {
    auto ended = co_await end_in_store(step);
    auto local = in_memory(step, step.verb);
    if (ended) co_return ended;
    local.kept = true;
    co_return local;
  } catch (...) {
    failure = std::current_exception();
  }
  in_memory(step, step.verb);
  std::rethrow_exception(failure);
}

// An error: it is kept, to be written back.
awaitable<Result<StepResult>> GuardedStore::end_in_store(Step step) {
  const auto asked = unanswered_.find(step.particulars.owner);
  const bool may_be_held = asked != unanswered_.end();
  if (may_be_held) unanswered_.erase(asked);
  // What was never asked for in the store has nothing to release there.
  if (step.verb == Verb::release && !may_be_held &&
      (step.held == Source::unasked || (step.held == Source::local && outage_.down()))) {
    co_return StepResult{};
  }
  auto answer = co_await ask(step);
  // A refused message whose `sending` stayed would become doubt: a release is as much a fact as a commit.
  if (!answer) write_back_->keep(step);
  co_return answer;
}

}  // namespace mailonce::window
