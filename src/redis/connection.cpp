#include "connection.h"

#include <hiredis/hiredis.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <new>

namespace mailonce::redis {
namespace {

void append_command(std::string& out, std::span<const std::string_view> words) {
  std::array<const char*, 24> few_texts;
  std::array<std::size_t, 24> few_sizes;
  std::vector<const char*> many_texts;
  std::vector<std::size_t> many_sizes;
  const char** texts = few_texts.data();
  std::size_t* sizes = few_sizes.data();
  if (words.size() > few_texts.size()) {
    many_texts.resize(words.size());
    many_sizes.resize(words.size());
    texts = many_texts.data();
    sizes = many_sizes.data();
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    texts[i] = words[i].data();
    sizes[i] = words[i].size();
  }
  char* formatted = nullptr;
  const int octets = redisFormatCommandArgv(&formatted, static_cast<int>(words.size()), texts, sizes);
  if (octets < 0) throw std::bad_alloc();
  out.append(formatted, static_cast<std::size_t>(octets));
  redisFreeCommand(formatted);
}

// How the end of an established connection looks to its commands.
error_code as_loss(error_code ec) {
  if (ec == boost::asio::error::timed_out) return Errc::timed_out;
  return Errc::closed;
}

}  // namespace

void Connection::FreeReader::operator()(redisReader* reader) const noexcept {
  redisReaderFree(reader);
}

Connection::Connection(boost::asio::any_io_executor executor, const Options& options)
    : executor_(std::move(executor)), options_(options), reader_(redisReaderCreate()), work_(executor_) {
  if (!reader_) throw std::bad_alloc();
}

Connection::~Connection() {
  fail_all(Errc::closed);
}

void Connection::enqueue(std::span<const std::string_view> words, std::shared_ptr<Pending> pending) {
  append_command(outgoing_, words);
  const bool first = queue_.empty();
  queue_.push_back(std::move(pending));
  if (!ready_) return;
  if (first) stream_->expires_after(options_.command_deadline);
  work_.wake();
}

void Connection::close() {
  lost_ = true;
  if (stream_) stream_->close();
  work_.wake();
  fail_all(Errc::closed);
}

void Connection::fail_all(error_code why) {
  while (!queue_.empty()) {
    const auto pending = std::move(queue_.front());
    queue_.pop_front();
    pending->finish(why);
  }
}

awaitable<error_code> Connection::serve() {
  auto ec = co_await open();
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
  if (stream_) stream_->close();
  work_.wake();
  fail_all(ec);
  co_return ec;
}

awaitable<error_code> Connection::open() {
  const auto until = SteadyClock::now() + options_.command_deadline;
  auto service = std::to_string(options_.port);
  auto stream = co_await net::Stream::connect(options_.host, std::move(service), options_.command_deadline);
  if (!stream) {
    const bool late = stream.error() == boost::asio::error::timed_out;
    co_return late ? make_error_code(Errc::timed_out) : stream.error();
  }
  if (lost_) co_return make_error_code(Errc::closed);
  stream_.emplace(std::move(*stream));
  const auto left = std::chrono::duration_cast<milliseconds>(until - SteadyClock::now());
  stream_->expires_after(left);
  co_return co_await log_in();
}

// AUTH and SELECT are answered before any command leaves: it must not run as another user or in another
// database.
awaitable<error_code> Connection::log_in() {
  std::string commands;
  std::size_t expected = 0;
  const auto add = [&](std::initializer_list<std::string_view> words) {
    append_command(commands, {words.begin(), words.size()});
    ++expected;
  };
  if (!options_.password.empty() && options_.username.empty()) {
    add({"AUTH", options_.password});
  } else if (!options_.password.empty() || !options_.username.empty()) {
    add({"AUTH", options_.username, options_.password});
  }
  if (options_.database != 0) add({"SELECT", std::to_string(options_.database)});
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
      if (!reply.value().is_error()) continue;
      const auto meaning = meaning_of(*reply.value().text());
      co_return make_error_code(meaning == Errc::refused ? Errc::auth_failed : meaning);
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
    pending->finish(std::move(reply));
  }
}

// The first command in the queue is the one that must be answered first, and its deadline the connection's: a
// server that does not answer it answers none behind it either.
void Connection::watch() {
  if (queue_.empty()) return stream_->never_expires();
  const auto left = queue_.front()->deadline - SteadyClock::now();
  stream_->expires_after(std::chrono::duration_cast<milliseconds>(left));
}

awaitable<void> Connection::write_loop(std::shared_ptr<Connection> self) {
  while (!self->lost_) {
    if (self->outgoing_.empty()) {
      co_await self->work_.wait();
      continue;
    }
    self->writing_.swap(self->outgoing_);
    auto written = co_await self->stream_->write(self->writing_);
    self->writing_.clear();
    // The reader sees the closed stream and ends the connection.
    if (!written) self->stream_->close();
    if (!written) co_return;
  }
}

}  // namespace mailonce::redis
