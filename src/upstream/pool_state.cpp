#include "pool_state.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>

namespace mailonce::upstream {
namespace {

// Until one more connection is tried where one was one too many; doubled while it still is.
constexpr milliseconds shortest_crowd{500};
constexpr milliseconds longest_crowd{16'000};

awaitable<void> say_goodbye(std::shared_ptr<void>, std::unique_ptr<Session> session) {
  co_await session->quit();
}

}  // namespace

Pool::State::Waiter::Waiter(State& of, Freshness wanted, SteadyClock::time_point until)
    : state(of), freshness(wanted), turn(of.executor), position(of.waiters.insert(of.waiters.end(), this)) {
  turn.expires_at(until);
}

Pool::State::Waiter::~Waiter() {
  if (!granted) state.waiters.erase(position);
}

void Pool::State::Waiter::grant(std::unique_ptr<Session> given) {
  state.waiters.erase(position);
  granted = true;
  session = std::move(given);
  turn.cancel();
}

bool Pool::State::worn_out(const Session& session) const {
  return session.messages() >= limits().max_messages ||
         SteadyClock::now() - session.opened_at() >= limits().max_age;
}

void Pool::State::note_crowd(std::size_t others) {
  if (!crowded()) {
    crowd_pause = std::clamp(crowd_pause * 2, shortest_crowd, longest_crowd);
    crowd_ends.expires_after(crowd_pause);
    crowd_ends.async_wait([weak = weak_from_this()](error_code error) {
      const auto self = weak.lock();
      if (!self || error) return;
      self->taken_at_most = 0;
      self->offer_place();
    });
  }
  taken_at_most = others;
}

void Pool::State::end_crowd() {
  taken_at_most = 0;
  crowd_ends.cancel();
}

std::size_t Pool::State::places() const noexcept {
  return crowded() ? taken_at_most : limits().max_connections;
}

void Pool::State::offer_place() {
  if (waiters.empty() || open >= places()) return;
  ++open;
  waiters.front()->grant(nullptr);
}

bool Pool::State::reserve() {
  if (open >= places()) {
    if (idle.empty()) return false;
    auto oldest = std::move(idle.front());
    idle.pop_front();
    discard(std::move(oldest));
  }
  ++open;
  return true;
}

void Pool::State::free_place() {
  --open;
  offer_place();
}

std::unique_ptr<Session> Pool::State::take_idle() {
  const auto now = SteadyClock::now();
  while (!idle.empty()) {
    auto session = std::move(idle.back());
    idle.pop_back();
    if (now - session->idle_since < limits().max_idle && !worn_out(*session) && session->quiet())
      return session;
    discard(std::move(session));
  }
  return nullptr;
}

void Pool::State::give_back(std::unique_ptr<Session> session) {
  if (session->stage() == Session::Stage::envelope && !draining)
    return reset_then_give_back(std::move(session));
  if (session->stage() != Session::Stage::idle || draining || worn_out(*session))
    return discard(std::move(session));
  session->reused = true;
  session->idle_since = SteadyClock::now();
  if (waiters.empty()) {
    idle.push_back(std::move(session));
    arm_reaper();
  } else if (waiters.front()->freshness == Freshness::any || (crowded() && !clients_credentials)) {
    // Fresh enough, it served a moment ago; making another is what the upstream refuses.
    waiters.front()->grant(std::move(session));
  } else {
    discard(std::move(session));
  }
}

void Pool::State::spawn(awaitable<void> (*work)(std::shared_ptr<State>, std::unique_ptr<Session>),
                        std::unique_ptr<Session> session) {
  auto start = [self = shared_from_this(), work, session = std::move(session)]() mutable {
    return work(std::move(self), std::move(session));
  };
  boost::asio::co_spawn(executor, std::move(start), [shared = environment](std::exception_ptr error) {
    if (!error) return;
    shared->log.event(observe::Level::error, "upstream_background_failed",
                      "an exception ended background work", {{"upstream", shared->options.name}});
  });
}

void Pool::State::discard(std::unique_ptr<Session> session) {
  free_place();
  if (session->stage() == Session::Stage::broken || session->stage() == Session::Stage::body) return;
  spawn([](std::shared_ptr<State> self,
           std::unique_ptr<Session> leaving) { return say_goodbye(self, std::move(leaving)); },
        std::move(session));
}

void Pool::State::reset_then_give_back(std::unique_ptr<Session> session) {
  spawn(
      [](std::shared_ptr<State> self, std::unique_ptr<Session> used) -> awaitable<void> {
        co_await used->reset();
        self->give_back(std::move(used));
      },
      std::move(session));
}

void Pool::State::announce(const smtp::Capabilities& capabilities) {
  announced = capabilities;
  for (auto* timer : curious) timer->cancel();
}

void Pool::State::learn() {
  if (learning) return;
  learning = true;
  auto ask = [self = shared_from_this()]() -> awaitable<error_code> {
    auto borrowed = co_await borrow(self, Freshness::any);
    co_return borrowed ? error_code() : borrowed.error();
  };
  boost::asio::co_spawn(executor, std::move(ask),
                        [self = shared_from_this()](std::exception_ptr failed, error_code why) {
                          self->learning = false;
                          self->why_not_learned = failed ? make_error_code(Errc::unreachable) : why;
                          for (auto* timer : self->curious) timer->cancel();
                        });
}

awaitable<void> Pool::State::learned(milliseconds at_most) {
  const auto self = shared_from_this();
  boost::asio::steady_timer timer(executor, at_most);
  curious.insert(&timer);
  co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  curious.erase(&timer);
}

void Pool::State::close_idle() {
  while (!idle.empty()) {
    auto session = std::move(idle.front());
    idle.pop_front();
    discard(std::move(session));
  }
  reaper.cancel();
}

void Pool::State::arm_reaper() {
  if (reaper_armed || idle.empty()) return;
  reaper_armed = true;
  reaper.expires_at(idle.front()->idle_since + limits().max_idle);
  reaper.async_wait([weak = weak_from_this()](error_code) {
    const auto self = weak.lock();
    if (!self) return;
    self->reaper_armed = false;
    self->reap();
  });
}

void Pool::State::reap() {
  const auto now = SteadyClock::now();
  while (!idle.empty() && now - idle.front()->idle_since >= limits().max_idle) {
    auto session = std::move(idle.front());
    idle.pop_front();
    discard(std::move(session));
  }
  arm_reaper();
}

}  // namespace mailonce::upstream
