#include "mailonce/redis/client.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <random>

#include "connection.h"

namespace mailonce::redis {

struct Client::State : std::enable_shared_from_this<State> {
  State(boost::asio::any_io_executor on, Options given)
      : executor(std::move(on)), options(std::move(given)), pause(options.first_reconnect_pause) {}

  // The connection to queue on, or why there is none now.
  Result<Connection*> current();
  static awaitable<void> serve(std::shared_ptr<State> self, std::shared_ptr<Connection> connection);
  void back_off(error_code why);

  boost::asio::any_io_executor executor;
  Options options;
  std::shared_ptr<Connection> connection;
  milliseconds pause;
  SteadyClock::time_point not_before{};
  error_code last_failure;
  std::minstd_rand jitter{std::random_device{}()};
  bool stopped = false;
};

Result<Connection*> Client::State::current() {
  if (stopped) return make_error_code(Errc::closed);
  if (connection && !connection->lost()) return connection.get();
  if (last_failure && SteadyClock::now() < not_before) return last_failure;
  connection = std::make_shared<Connection>(executor, options);
  boost::asio::co_spawn(
      executor, [self = shared_from_this(), made = connection] { return serve(self, made); },
      [made = connection](std::exception_ptr failed) {
        if (failed) made->close();
      });
  return connection.get();
}

awaitable<void> Client::State::serve(std::shared_ptr<State> self, std::shared_ptr<Connection> made) {
  auto why = co_await made->serve();
  // A connection that worked and was lost is made anew at once; a server that hangs or was never reached is
  // left alone for a while.
  if (made->established() && why != Errc::timed_out) {
    self->last_failure = {};
    self->pause = self->options.first_reconnect_pause;
  } else {
    self->back_off(why);
  }
}

void Client::State::back_off(error_code why) {
  last_failure = why;
  std::uniform_int_distribution<milliseconds::rep> around(pause.count() / 2, pause.count());
  not_before = SteadyClock::now() + milliseconds(around(jitter));
  pause = std::min(pause * 2, options.longest_reconnect_pause);
}

Client::Client(boost::asio::any_io_executor executor, Options options)
    : state_(std::make_shared<State>(std::move(executor), std::move(options))) {}

Client::~Client() {
  state_->stopped = true;
  if (state_->connection) state_->connection->close();
}

awaitable<Result<Reply>> Client::command(std::span<const std::string_view> words) {
  const auto deadline = SteadyClock::now() + state_->options.command_deadline;
  auto connection = state_->current();
  // The server may be back, as another worker found: a short pause of ours is no failure of the command.
  if (!connection && !state_->stopped && state_->not_before < deadline) {
    const auto state = state_;
    boost::asio::steady_timer pause(state->executor, state->not_before);
    co_await pause.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
    connection = state->current();
  }
  if (!connection) co_return connection.error();
  const auto pending = std::make_shared<Pending>(state_->executor);
  pending->deadline = deadline;
  (*connection)->enqueue(words, pending);
  co_await pending->answered.wait();
  co_return std::move(*pending->outcome);
}

}  // namespace mailonce::redis
