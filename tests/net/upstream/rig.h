// A pool before the scripted upstream, and whole transactions through it.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "mailonce/upstream/pool.h"
#include "net/run.h"
#include "support/scripted_upstream.h"

namespace mailonce::upstream {

using boost::asio::awaitable;

inline smtp::Sender sender(std::string path = "<app@sender.example>") {
  return {smtp::Address::parse_reverse_path(path).value(), {}, smtp::BodyType::unspecified};
}

inline std::vector<smtp::Recipient> recipients(std::size_t count = 1) {
  std::vector<smtp::Recipient> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back({smtp::Address::parse_forward_path("<r" + std::to_string(i) + "@rcpt.example>").value()});
  }
  return all;
}

// How far a transaction came.
struct Attempt {
  std::string step;   // borrow, envelope, data, content, send
  error_code error;   // none: there was an answer
  smtp::Reply reply;  // the last one
  bool reused = false;
  bool dot_sent = false;
};

class Rig {
 public:
  explicit Rig(test::Profile profile = test::Profile::load("plain"), test::UpstreamOptions listen = {})
      : provider(std::move(profile), std::move(listen)) {
    options.name = "provider";
    options.host = "127.0.0.1";
    options.port = provider.port();
    options.ehlo_name = "relay.example";
    options.tls.ca_file = MAILONCE_TEST_CERTIFICATES "/ca.pem";
  }
  ~Rig() {
    pool_.reset();
    log_.reset();
    std::filesystem::remove(log_file_);
  }

  // The pool is made with `options` and `ties` as they are then.
  Pool& pool() {
    if (!pool_) pool_ = std::make_unique<Pool>(io.get_executor(), options, make_tls(options), *log_, ties);
    return *pool_;
  }
  void end_pool() { pool_.reset(); }
  observe::Log& log() { return *log_; }

  Attempt attempt(std::string message = "Subject: x\r\n\r\nHello\r\n", Freshness freshness = Freshness::any) {
    Attempt result;
    pool();
    test::run(io, [&]() -> awaitable<void> { co_await transact(message, freshness, result); });
    return result;
  }

  awaitable<void> transact(const std::string& message, Freshness freshness, Attempt& result) {
    result.step = "borrow";
    auto borrowed = co_await pool_->borrow(freshness);
    if (!borrowed) {
      result.error = borrowed.error();
      co_return;
    }
    const auto connection = std::move(*borrowed);
    result.reused = connection->reused();
    result.step = "envelope";
    const auto from = sender();
    const auto to = recipients();
    auto envelope = co_await connection->envelope(from, to);
    if (!envelope) {
      result.error = envelope.error();
      co_return;
    }
    result.reply = envelope->recipients.front();
    if (!result.reply.completed()) co_return;
    result.step = "data";
    auto data = co_await connection->data();
    if (!data) {
      result.error = data.error();
      co_return;
    }
    result.reply = *data;
    if (result.reply.code != 354) co_return;
    result.step = "content";
    const std::vector<std::string_view> pieces{message};
    auto content = co_await connection->content(pieces);
    if (!content) {
      result.error = content.error();
      co_return;
    }
    if (content->has_value()) {
      result.reply = **content;
      co_return;
    }
    result.step = "send";
    auto outcome = co_await connection->send();
    result.dot_sent = outcome.dot_sent;
    if (outcome.reply) {
      result.reply = *outcome.reply;
    } else {
      result.error = outcome.reply.error();
    }
  }

  // Background work ended: what is open is idle.
  bool settled() {
    return test::run_until(io, [&] { return pool().counts().open == pool().counts().idle; });
  }

  std::string logged() {
    log_->flush();
    std::ifstream file(log_file_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static std::string temporary_name() {
    static int count = 0;
    return (std::filesystem::temp_directory_path() /
            ("mailonce-upstream-" + std::to_string(::getpid()) + "-" + std::to_string(++count)))
        .string();
  }

 private:
  static observe::LogOptions log_options(const std::string& file) {
    observe::LogOptions options;
    options.level = observe::Level::debug;
    options.file = file;
    return options;
  }

  const std::string log_file_ = temporary_name();
  std::unique_ptr<observe::Log> log_ = std::make_unique<observe::Log>(log_options(log_file_));

 public:
  boost::asio::io_context io;
  test::ScriptedUpstream provider;
  Options options;
  PoolTies ties;

 private:
  std::unique_ptr<Pool> pool_;
};

}  // namespace mailonce::upstream
