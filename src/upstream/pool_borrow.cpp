// How a borrower comes to its connection: an idle one, one made now, or its turn after others.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "pool_state.h"

namespace mailonce::upstream {
namespace {

// What one borrower waits while it is found out whether an upstream that failed answers again.
constexpr milliseconds patience_with_a_probe{1000};

}  // namespace

// Forwards to the session; gives it back at its end.
class LentConnection final : public Connection {
 public:
  LentConnection(std::shared_ptr<Pool::State> state, std::unique_ptr<Session> session)
      : state_(std::move(state)), session_(std::move(session)) {
    state_->live.sessions.insert(session_.get());
  }
  ~LentConnection() override {
    state_->live.sessions.erase(session_.get());
    state_->give_back(std::move(session_));
  }
  LentConnection(const LentConnection&) = delete;
  LentConnection& operator=(const LentConnection&) = delete;

  const smtp::Capabilities& capabilities() const noexcept override { return session_->capabilities(); }
  bool reused() const noexcept override { return session_->reused; }
  awaitable<Result<EnvelopeReplies>> envelope(const smtp::Sender& sender,
                                              std::span<const smtp::Recipient> recipients) override {
    return session_->envelope(sender, recipients);
  }
  awaitable<Result<std::vector<smtp::Reply>>> recipients(
      std::span<const smtp::Recipient> recipients) override {
    return session_->recipients(recipients);
  }
  awaitable<Result<smtp::Reply>> data() override { return session_->data(); }
  awaitable<Result<std::optional<smtp::Reply>>> content(std::span<const std::string_view> pieces) override {
    return session_->content(pieces);
  }
  awaitable<SendOutcome> send() override { return session_->send(); }

 private:
  const std::shared_ptr<Pool::State> state_;
  std::unique_ptr<Session> session_;
};

void Pool::State::note_failure(const error_code& error) {
  if (aborted) return;
  // Some say so at the greeting, some to AUTH (Office 365: 432); what is said of a client's credential is the
  // client's answer.
  const auto& to_auth = live.auth_refusal;
  const bool not_now =
      error == make_error_code(Errc::refused) || (error == make_error_code(Errc::auth_failed) &&
                                                  !clients_credentials && to_auth && to_auth->transient());
  const auto others = open - 1;
  if (not_now && others > 0) {
    // Who refuses a further session while it serves others is full, not down.
    note_crowd(others);
    return environment->breaker->gave_up();
  }
  end_crowd();
  if (error == make_error_code(Errc::auth_failed) && clients_credentials) return environment->reached();
  environment->lost(error.category() == category() ? static_cast<Errc>(error.value()) : Errc::unreachable);
}

awaitable<Result<std::unique_ptr<Session>>> Pool::State::connect(std::shared_ptr<State> state) {
  struct Place {  // given back unless a connection came into it
    State& state;
    bool taken = false;
    ~Place() {
      if (!taken) state.free_place();
    }
  } place{*state};
  if (state->aborted) co_return Errc::closed;  // while this one waited for its turn
  auto made = co_await Session::open(state->environment, state->live);
  if (!made) {
    state->note_failure(made.error());
    co_return made.error();
  }
  if (state->aborted) co_return Errc::closed;
  place.taken = true;
  state->environment->reached();
  state->announce((*made)->capabilities());
  if (!state->crowded()) {
    state->crowd_pause = {};
    state->offer_place();  // who waits behind a crowd that has gone is let in one by one
  }
  co_return std::move(*made);
}

bool Pool::State::probe() {
  if (!environment->breaker->take_probe(SteadyClock::now())) return false;
  if (!reserve()) {
    environment->breaker->gave_up();
    return false;
  }
  auto ask = [self = shared_from_this()]() -> awaitable<void> {
    auto made = co_await connect(self);
    if (made) self->give_back(std::move(*made));
  };
  boost::asio::co_spawn(executor, std::move(ask), [self = shared_from_this()](std::exception_ptr) {
    self->environment->breaker->gave_up();
    for (auto* timer : self->curious) timer->cancel();
  });
  return true;
}

awaitable<Result<std::unique_ptr<Connection>>> Pool::State::borrow(std::shared_ptr<State> state,
                                                                   Freshness freshness) {
  const auto until = SteadyClock::now() + state->limits().max_wait;
  const auto& breaker = *state->environment->breaker;
  for (;;) {
    if (state->aborted) co_return Errc::closed;
    const bool in_turn = state->waiters.empty();  // nobody is overtaken
    std::unique_ptr<Session> session;
    if (in_turn && freshness == Freshness::any) session = state->take_idle();
    if (session) co_return std::make_unique<LentConnection>(state, std::move(session));
    if (breaker.refuses()) {
      if (state->probe()) co_await state->learned(patience_with_a_probe);
      if (const auto why = breaker.refuses()) co_return *why;
      continue;
    }
    if (!in_turn || !state->reserve()) {
      Waiter waiter(*state, freshness, until);
      co_await waiter.turn.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
      if (!waiter.granted) {
        state->environment->report("borrow", Errc::exhausted, "all connections are in use");
        co_return Errc::exhausted;
      }
      if (state->aborted) {
        waiter.session ? state->discard(std::move(waiter.session)) : state->free_place();
        co_return Errc::closed;
      }
      if (waiter.session) co_return std::make_unique<LentConnection>(state, std::move(waiter.session));
      if (const auto why = breaker.refuses()) {
        state->free_place();
        co_return *why;
      }
    }
    auto made = co_await connect(state);
    if (made) co_return std::make_unique<LentConnection>(state, std::move(*made));
    if (!state->crowded() || SteadyClock::now() >= until) co_return made.error();
  }
}

}  // namespace mailonce::upstream
