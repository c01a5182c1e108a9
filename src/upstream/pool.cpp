#include "mailonce/upstream/pool.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <stdexcept>

#include "mailonce/smtp/hello_name.h"
#include "pool_state.h"

namespace mailonce::upstream {

namespace {

constexpr milliseconds learn_pause = seconds(10);
constexpr milliseconds short_patience{200};

std::shared_ptr<const Environment> make_environment(Options options,
                                                    std::shared_ptr<boost::asio::ssl::context> tls,
                                                    observe::Log& log, PoolTies ties) {
  if (options.ehlo_name.empty()) options.ehlo_name = default_ehlo_name();
  if (!smtp::HelloName::parse(options.ehlo_name))
    throw std::invalid_argument("ehlo_name is not one word of ASCII");
  if (options.security != Security::plain && !tls)
    throw std::invalid_argument("no TLS context for a TLS upstream");
  if (options.pool.max_connections == 0) throw std::invalid_argument("max_connections is 0");
  if (!ties.breaker) ties.breaker = std::make_shared<Breaker>();
  return std::make_shared<const Environment>(
      Environment{std::move(options), std::move(tls), log, std::move(ties.breaker), std::move(ties.pacer)});
}

}  // namespace

std::shared_ptr<boost::asio::ssl::context> make_tls(const Options& options) {
  if (options.security == Security::plain) return nullptr;
  return std::make_shared<boost::asio::ssl::context>(net::make_client_context(options.tls));
}

Pool::Pool(boost::asio::any_io_executor executor, Options options,
           std::shared_ptr<boost::asio::ssl::context> tls, observe::Log& log, PoolTies ties)
    : state_(std::make_shared<State>(std::move(executor),
                                     make_environment(std::move(options), std::move(tls), log, ties),
                                     ties.clients_credentials)) {}

Pool::~Pool() {
  close_idle();
}

void Pool::close_idle() {
  state_->draining = true;
  state_->close_idle();
}

void Pool::abort() {
  state_->aborted = true;
  close_idle();
  state_->live.abort();
  for (auto* waiter : state_->waiters) waiter->turn.cancel();
  for (auto* timer : state_->pacing) timer->cancel();
}

const std::string& Pool::name() const noexcept {
  return state_->environment->options.name;
}

const std::optional<smtp::Reply>& Pool::auth_refusal() const noexcept {
  return state_->live.auth_refusal;
}

void Pool::forget_auth_refusal() noexcept {
  state_->live.auth_refusal.reset();
}

Pool::Counts Pool::counts() const noexcept {
  return {state_->open, state_->idle.size(), state_->waiters.size()};
}

awaitable<Result<std::unique_ptr<Connection>>> Pool::borrow(Freshness freshness) {
  return State::borrow(state_, freshness);
}

Result<milliseconds> Pool::book(std::size_t recipients) {
  const auto& shared = *state_->environment;
  if (!shared.pacer) return milliseconds(0);
  const auto wait = shared.pacer->book(recipients, SteadyClock::now(), state_->limits().max_wait);
  if (wait) return *wait;
  shared.report("pace", Errc::too_fast, "max_rate is used up for longer than max_wait");
  return Errc::too_fast;
}

awaitable<void> Pool::wait(milliseconds time) {
  const auto state = state_;
  if (state->aborted) co_return;
  boost::asio::steady_timer timer(state->executor, time);
  state->pacing.insert(&timer);
  co_await timer.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  state->pacing.erase(&timer);
}

awaitable<Result<smtp::Capabilities>> Pool::capabilities() {
  const auto state = state_;
  if (!state->announced) {
    // One that hangs delays one EHLO in a while, not every one.
    const bool in_vain = SteadyClock::now() < state->learn_again;
    const auto whole = state->environment->options.timeouts.announce;
    state->learn();
    co_await state->learned(in_vain ? std::min(whole, short_patience) : whole);
    if (!state->announced && !in_vain) state->learn_again = SteadyClock::now() + learn_pause;
  }
  if (state->announced) co_return *state->announced;
  co_return state->learning ? make_error_code(Errc::timed_out) : state->why_not_learned;
}

}  // namespace mailonce::upstream
