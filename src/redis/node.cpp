#include "node.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace mailonce::redis {

Node::Node(boost::asio::any_io_executor executor, std::shared_ptr<const Options> options, Address address,
           std::shared_ptr<Locator> locator)
    : executor_(std::move(executor)),
      options_(std::move(options)),
      address_(std::move(address)),
      locator_(std::move(locator)),
      pause_(options_->first_reconnect_pause) {}

Result<Connection*> Node::current(SteadyClock::time_point deadline) {
  if (stopped_) return make_error_code(Errc::closed);
  if (connection_ && connection_->usable()) return connection_.get();
  if (last_failure_ && SteadyClock::now() < not_before_) return last_failure_;
  connection_ = std::make_shared<Connection>(executor_, options_, address_, locator_);
  // Whatever ends its serving closes it, also the end of the thread: what still waits for an answer then goes
  // with it.
  const std::shared_ptr<Connection> served(connection_.get(),
                                           [kept = connection_](Connection* it) { it->close(); });
  boost::asio::co_spawn(
      executor_, [self = shared_from_this(), served, deadline] { return serve(self, served, deadline); },
      [](std::exception_ptr) {});
  return connection_.get();
}

awaitable<void> Node::serve(std::shared_ptr<Node> self, std::shared_ptr<Connection> made,
                            SteadyClock::time_point until) {
  auto why = co_await made->serve(until);
  if (self->connection_ != made) co_return;  // retired
  // A connection that worked and was lost is made anew at once; a server that hangs or was never reached is
  // left alone for a while.
  if (made->established() && why != Errc::timed_out) {
    self->last_failure_ = {};
    self->pause_ = self->options_->first_reconnect_pause;
  } else {
    self->back_off(why);
  }
}

void Node::back_off(error_code why) {
  last_failure_ = why;
  std::uniform_int_distribution<milliseconds::rep> around(pause_.count() / 2, pause_.count());
  not_before_ = SteadyClock::now() + milliseconds(around(jitter_));
  pause_ = std::min(pause_ * 2, options_->longest_reconnect_pause);
}

void Node::retire() {
  retired_ = true;
  if (connection_) connection_->retire();
}

void Node::close() {
  stopped_ = true;
  if (connection_) connection_->close();
}

// The server may be back, as another worker found: a short pause of ours is no failure of the command.
awaitable<void> Node::pause_over() {
  boost::asio::steady_timer pause(executor_, not_before_);
  co_await pause.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
}

awaitable<Result<Reply>> Node::command(Call call) {
  const auto self = shared_from_this();
  auto connection = current(call.deadline);
  if (!connection && worth_trying(call.deadline)) {
    co_await pause_over();
    connection = current(call.deadline);
  }
  if (!connection) co_return connection.error();
  const auto pending = std::make_shared<Pending>(executor_);
  (*connection)->enqueue(call, pending);
  if (retired_) (*connection)->retire();
  co_await pending->answered.wait();
  if (call.sent != nullptr) *call.sent = pending->sent;
  if (call.replication != nullptr) *call.replication = pending->replication;
  co_return std::move(*pending->outcome);
}

awaitable<Result<std::vector<Reply>>> Node::batch(std::vector<Client::Words> commands,
                                                  SteadyClock::time_point deadline) {
  const auto self = shared_from_this();
  auto connection = current(deadline);
  if (!connection && worth_trying(deadline)) {
    co_await pause_over();
    connection = current(deadline);
  }
  if (!connection) co_return connection.error();
  std::vector<std::shared_ptr<Pending>> pendings;
  for (const auto& command : commands) {
    const std::vector<std::string_view> words(command.begin(), command.end());
    Call call{words, deadline};
    pendings.push_back(std::make_shared<Pending>(executor_));
    (*connection)->enqueue(call, pendings.back());
  }
  if (retired_) (*connection)->retire();
  std::vector<Reply> replies;
  for (const auto& pending : pendings) {
    co_await pending->answered.wait();
    if (!*pending->outcome) co_return pending->outcome->error();
    replies.push_back(std::move(**pending->outcome));
  }
  co_return replies;
}

awaitable<Result<Reply>> inquire(boost::asio::any_io_executor executor,
                                 std::shared_ptr<const Options> options, Address address, Client::Words words,
                                 milliseconds at_most) {
  const auto node = std::make_shared<Node>(std::move(executor), std::move(options), std::move(address));
  const std::vector<std::string_view> views(words.begin(), words.end());
  Call call{views, SteadyClock::now() + at_most};
  auto reply = co_await node->command(call);
  node->close();
  co_return reply;
}

}  // namespace mailonce::redis
