#include "mailonce/upstream/pool.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <stdexcept>

#include "mailonce/smtp/hello_name.h"
#include "pool_state.h"

namespace mailonce::upstream {

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

namespace {

std::shared_ptr<const Environment> make_environment(Options options,
                                                    std::shared_ptr<boost::asio::ssl::context> tls,
                                                    observe::Log& log) {
  if (options.ehlo_name.empty()) options.ehlo_name = default_ehlo_name();
  if (!smtp::HelloName::parse(options.ehlo_name))
    throw std::invalid_argument("ehlo_name is not one word of ASCII");
  if (options.security != Security::plain && !tls)
    throw std::invalid_argument("no TLS context for a TLS upstream");
  if (options.pool.max_connections == 0) throw std::invalid_argument("max_connections is 0");
  return std::make_shared<const Environment>(Environment{std::move(options), std::move(tls), log});
}

}  // namespace

std::shared_ptr<boost::asio::ssl::context> make_tls(const Options& options) {
  if (options.security == Security::plain) return nullptr;
  return std::make_shared<boost::asio::ssl::context>(net::make_client_context(options.tls));
}

Pool::Pool(boost::asio::any_io_executor executor, Options options,
           std::shared_ptr<boost::asio::ssl::context> tls, observe::Log& log)
    : state_(std::make_shared<State>(std::move(executor),
                                     make_environment(std::move(options), std::move(tls), log))) {}

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

awaitable<Result<std::unique_ptr<Connection>>> Pool::State::borrow(std::shared_ptr<State> state,
                                                                   Freshness freshness) {
  if (state->aborted) co_return Errc::closed;
  std::unique_ptr<Session> session;
  bool placed = false;
  if (state->waiters.empty()) {  // nobody is overtaken
    if (freshness == Freshness::any) session = state->take_idle();
    placed = session || state->reserve();
  }
  if (!placed) {
    Waiter waiter(*state, freshness);
    co_await waiter.turn.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    if (!waiter.granted) {
      state->environment->report("borrow", Errc::exhausted, "all connections are in use");
      co_return Errc::exhausted;
    }
    session = std::move(waiter.session);
  }
  if (!session) {
    struct Place {  // given back unless a connection came into it
      State& state;
      bool taken = false;
      ~Place() {
        if (!taken) state.free_place();
      }
    } place{*state};
    if (state->aborted) co_return Errc::closed;  // while this one waited for its turn
    auto made = co_await Session::open(state->environment, state->live);
    if (!made) co_return made.error();
    if (state->aborted) co_return Errc::closed;
    place.taken = true;
    session = std::move(*made);
    state->announce(session->capabilities());
  }
  co_return std::make_unique<LentConnection>(state, std::move(session));
}

awaitable<Result<smtp::Capabilities>> Pool::capabilities() {
  const auto state = state_;
  if (!state->announced) {
    state->learn();
    co_await state->learned(state->environment->options.timeouts.announce);
  }
  if (state->announced) co_return *state->announced;
  co_return state->learning ? make_error_code(Errc::timed_out) : state->why_not_learned;
}

}  // namespace mailonce::upstream
