#include "connection.h"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <new>

#include "format.h"

namespace mailonce::redis {
namespace {

// How the end of an established connection looks to its commands.
error_code as_loss(error_code ec) {
  if (ec == boost::asio::error::timed_out) return Errc::timed_out;
  if (ec.category() == boost::asio::error::get_ssl_category()) return ec;
  return Errc::closed;
}

Errc login_failure(std::string_view error_reply) {
  if (error_reply == "ERR max number of clients reached") return Errc::refused;
  const auto meaning = meaning_of(error_reply);
  return meaning == Errc::refused ? Errc::auth_failed : meaning;
}

}  // namespace

void Connection::FreeReader::operator()(redisReader* reader) const noexcept {
  redisReaderFree(reader);
}

Connection::Connection(boost::asio::any_io_executor executor, std::shared_ptr<const Options> options,
                       Address address, std::shared_ptr<Locator> locator)
    : executor_(std::move(executor)),
      options_(std::move(options)),
      address_(std::move(address)),
      locator_(std::move(locator)),
      reader_(redisReaderCreate()),
      work_(executor_) {
  if (!reader_) throw std::bad_alloc();
}

Connection::~Connection() {
  fail_all(Errc::closed);
}

void Connection::enqueue(const Call& call, std::shared_ptr<Pending> pending) {
  // One that could not even begin to connect ends before its first command is queued.
  if (lost_) return pending->finish(ended_);
  const bool first = queue_.empty();
  if (call.asking) {
    constexpr std::array<std::string_view, 1> asking{"ASKING"};
    append_command(outgoing_, asking);
    auto allowed = std::make_shared<Pending>(executor_);
    allowed->deadline = call.deadline;
    push(std::move(allowed));
  }
  append_command(outgoing_, call.words);
  pending->deadline = call.deadline;
  if (call.replication != nullptr) {
    pending->awaits_replicas = true;
    uncovered_.push_back(pending);
  }
  push(std::move(pending));
  if (!ready_) return;
  if (first || hasty_ > 0) watch();
  work_.wake();
}

void Connection::push(std::shared_ptr<Pending> pending) {
  if (!queue_.empty() && pending->deadline < queue_.back()->deadline) ++hasty_;
  queue_.push_back(std::move(pending));
}

void Connection::retire() {
  retired_ = true;
  if (queue_.empty()) close();
}

void Connection::close() {
  lost_ = true;
  if (stream_) stream_->close();
  work_.wake();
  fail_all(Errc::closed);
}

void Connection::fail_all(error_code why) {
  for (const auto& each : uncovered_) each->awaits_replicas = false;
  uncovered_.clear();
  hasty_ = 0;
  while (!queue_.empty()) {
    const auto pending = std::move(queue_.front());
    queue_.pop_front();
    for (const auto& each : pending->covers) each->sent = ready_;
    pending->sent = ready_;
    pending->finish(why);
  }
}

awaitable<error_code> Connection::serve(SteadyClock::time_point until) {
  auto ec = co_await open(until);
  if (!ec && !lost_) {
    ready_ = true;
    watch();
    boost::asio::co_spawn(
        executor_, [self = shared_from_this()] { return write_loop(self); },
        [self = shared_from_this()](std::exception_ptr failed) {
          if (failed) self->close();
        });
    ec = co_await read_loop();
  }
  lost_ = true;
  ended_ = ec;
  if (stream_) stream_->close();
  work_.wake();
  fail_all(ec);
  co_return ec;
}

awaitable<error_code> Connection::open(SteadyClock::time_point until) {
  const auto left = [until] { return std::chrono::duration_cast<milliseconds>(until - SteadyClock::now()); };
  if (locator_) {
    auto located = co_await locator_->locate(until);
    if (!located) co_return located.error();
    address_ = std::move(*located);
  }
  if (lost_) co_return make_error_code(Errc::closed);
  auto service = std::to_string(address_.port);
  auto stream = co_await net::Stream::connect(address_.host, std::move(service), left());
  if (!stream) {
    const bool late = stream.error() == boost::asio::error::timed_out;
    co_return late ? make_error_code(Errc::timed_out) : stream.error();
  }
  if (lost_) co_return make_error_code(Errc::closed);
  stream_.emplace(std::move(*stream));
  stream_->expires_after(left());
  if (options_->tls_context) {
    auto made = co_await stream_->start_tls_client(*options_->tls_context, address_.host);
    if (!made) {
      const auto certificate = stream_->certificate_error();
      co_return certificate ? certificate : as_loss(made.error());
    }
  }
  co_return co_await log_in();
}

// AUTH, SELECT and ROLE are answered before any command leaves: it must not run as another user, in another
// database, or at a replica.
awaitable<error_code> Connection::log_in() {
  std::string commands;
  std::size_t expected = 0;
  const auto add = [&](std::initializer_list<std::string_view> words) {
    append_command(commands, {words.begin(), words.size()});
    ++expected;
  };
  const Options& options = *options_;
  if (!options.password.empty() && options.username.empty()) {
    add({"AUTH", options.password});
  } else if (!options.password.empty() || !options.username.empty()) {
    add({"AUTH", options.username, options.password});
  }
  if (options.database != 0) add({"SELECT", std::to_string(options.database)});
  if (locator_) add({"ROLE"});
  if (expected == 0) co_return error_code();
  auto written = co_await stream_->write(commands);
  if (!written) co_return as_loss(written.error());
  while (expected > 0) {
    auto octets = co_await stream_->read_some(input_);
    if (!octets) co_return as_loss(octets.error());
    if (redisReaderFeed(reader_.get(), input_.data(), *octets) != REDIS_OK)
      co_return make_error_code(Errc::protocol);
    for (; expected > 0; --expected) {
      void* tree = nullptr;
      if (redisReaderGetReply(reader_.get(), &tree) != REDIS_OK) co_return make_error_code(Errc::protocol);
      if (tree == nullptr) break;
      const Reply reply(tree);
      const Value value = reply.value();
      if (value.is_error()) co_return make_error_code(login_failure(*value.text()));
      const bool is_role = locator_ && expected == 1;
      if (is_role && (value.size() == 0 || value[0].text() != "master"))
        co_return make_error_code(Errc::not_master);
    }
  }
  co_return error_code();
}

awaitable<error_code> Connection::read_loop() {
  for (;;) {
    auto octets = co_await stream_->read_some(input_);
    if (lost_) co_return make_error_code(Errc::closed);
    if (!octets) co_return as_loss(octets.error());
    const auto ec = feed({input_.data(), *octets});
    if (ec) co_return ec;
    watch();
  }
}

error_code Connection::feed(std::string_view octets) {
  if (redisReaderFeed(reader_.get(), octets.data(), octets.size()) != REDIS_OK) return Errc::protocol;
  return deliver();
}

error_code Connection::deliver() {
  for (;;) {
    void* tree = nullptr;
    if (redisReaderGetReply(reader_.get(), &tree) != REDIS_OK) return Errc::protocol;
    if (tree == nullptr) return {};
    Reply reply(tree);
    if (queue_.empty()) return Errc::protocol;
    const auto pending = std::move(queue_.front());
    queue_.pop_front();
    if (hasty_ > 0 && !queue_.empty() && queue_.front()->deadline < pending->deadline) --hasty_;
    // A master that was demoted and still takes connections.
    if (locator_ && reply.value().is_error() && meaning_of(*reply.value().text()) == Errc::read_only)
      retired_ = true;
    if (!pending->covers.empty()) {
      awaits_replicas_ = false;
      work_.wake();
    }
    pending->finish(std::move(reply));
    if (retired_ && queue_.empty()) return Errc::closed;
  }
}

// The first command in the queue is the one that must be answered first, and its deadline the connection's: a
// server that does not answer it answers none behind it either. Only a command that was redirected may have
// less time than those before it.
void Connection::watch() {
  if (queue_.empty()) return stream_->never_expires();
  auto until = queue_.front()->deadline;
  if (hasty_ > 0) {
    for (const auto& each : queue_) until = std::min(until, each->deadline);
  }
  stream_->expires_after(std::chrono::duration_cast<milliseconds>(until - SteadyClock::now()));
}

// One WAIT for all commands of a write that want one. The server carries out nothing of this connection until
// it is answered, so that what comes meanwhile is not written either: it shares the next WAIT.
void Connection::add_wait() {
  auto wait = std::make_shared<Pending>(executor_);
  wait->deadline = queue_.back()->deadline;
  wait->covers.swap(uncovered_);
  const auto replicas = std::to_string(options_->min_replicas);
  const auto timeout = std::to_string(options_->replica_timeout.count());
  const std::array<std::string_view, 3> words{"WAIT", replicas, timeout};
  append_command(outgoing_, words);
  push(std::move(wait));
  awaits_replicas_ = true;
}

awaitable<void> Connection::write_loop(std::shared_ptr<Connection> self) {
  while (!self->lost_) {
    if (self->outgoing_.empty() || self->awaits_replicas_) {
      co_await self->work_.wait();
      continue;
    }
    if (!self->uncovered_.empty()) self->add_wait();
    self->writing_.swap(self->outgoing_);
    auto written = co_await self->stream_->write(self->writing_);
    self->writing_.clear();
    // The reader sees the closed stream and ends the connection.
    if (!written) self->stream_->close();
    if (!written) co_return;
  }
}

}  // namespace mailonce::redis
