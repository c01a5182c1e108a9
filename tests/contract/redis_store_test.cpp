// What is Redis's own: keys, lifetimes, the script's cache, a server that restarts or hangs.
#include <gtest/gtest.h>

#include "mailonce/window/error.h"
#include "mailonce/window/shared.h"
#include "run.h"
#include "stores.h"

namespace mailonce::window {
namespace {

using test::eventually;
using test::quiet_log;
using test::RedisServer;
using test::run;

awaitable<std::string> ask(redis::Client& client, std::vector<std::string> words) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  auto reply = co_await client.command(views);
  if (!reply) co_return "error: " + reply.error().message();
  const auto value = reply->value();
  if (value.integer()) co_return std::to_string(*value.integer());
  co_return std::string(value.text().value_or("(other)"));
}

awaitable<Result<StepResult>> step(Store& store, Verb verb) {
  const auto attempt = test::attempt_on();
  co_return co_await store.step(attempt.step(verb));
}

std::string key() {
  return "test:mailonce:{" + sha256("mail").base64url() + "}:AAAA";
}

TEST(RedisRecords, LiveForTheirLeaseThenForTheWindow) {
  RedisServer server;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), server.options(), "test:");
    redis::Client client(io.get_executor(), server.options());
    const auto lives = [&](Verb verb) -> awaitable<long> {
      auto done = co_await step(store, verb);
      EXPECT_TRUE(done && !done->blocked);
      std::vector<std::string> pttl{"PTTL", key()};
      auto left = co_await ask(client, pttl);
      co_return std::stol(left);
    };
    long left = co_await lives(Verb::claim_resend);
    EXPECT_GT(left, 20'000);
    EXPECT_LE(left, 30'000);
    left = co_await lives(Verb::begin);
    EXPECT_GT(left, 7'190'000);
    left = co_await lives(Verb::doubt);
    EXPECT_GT(left, 7'190'000);
    left = co_await lives(Verb::claim_resend);  // a resend that ends without a word is doubt again
    EXPECT_GT(left, 7'190'000);
    left = co_await lives(Verb::commit);
    EXPECT_GT(left, 7'190'000);
    EXPECT_LE(left, 7'200'000);
  });
}

TEST(RedisRecords, TheScriptIsSentOnceAndAgainAfterARestart) {
  RedisServer server;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), server.options(), "test:");
    for (int life = 0; life < 2; ++life) {
      for (int i = 0; i < 5; ++i) {
        const auto answered = [&]() -> awaitable<bool> {
          auto done = co_await step(store, Verb::claim_resend);
          co_return done.has_value();
        };
        bool done = co_await eventually(answered);
        EXPECT_TRUE(done);
      }
      redis::Client client(io.get_executor(), server.options());
      std::vector<std::string> info{"INFO", "commandstats"};
      auto figures = co_await ask(client, info);
      EXPECT_NE(figures.find("cmdstat_eval:calls=1,"), std::string::npos) << figures;
      if (life == 0) server.stop();
      if (life == 0) server.start();
    }
  });
}

TEST(RedisRecords, SlideWithinTheirCapAndNeverGetShorter) {
  RedisServer server;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), server.options(), "test:");
    redis::Client client(io.get_executor(), server.options());
    const std::vector<std::string> recipients{"AAAA"};
    const auto lives = [&](Verb verb, milliseconds age, milliseconds slide_cap) -> awaitable<long> {
      Step out;
      out.verb = verb;
      out.fingerprint = sha256("mail");
      out.recipients = recipients;
      out.particulars.owner = verb == Verb::commit ? "me" : "another";
      out.particulars.lease = milliseconds(30'000);
      out.particulars.window = milliseconds(600'000);
      out.particulars.reply_code = 250;
      out.particulars.age = age;
      out.particulars.slide_cap = slide_cap;
      auto done = co_await store.step(out);
      EXPECT_TRUE(done && !done->blocked);
      std::vector<std::string> pttl{"PTTL", key()};
      auto left = co_await ask(client, pttl);
      co_return std::stol(left);
    };
    const milliseconds none{0};
    long left = co_await lives(Verb::commit, milliseconds(300'000), none);
    EXPECT_LE(left, 300'000);
    left = co_await lives(Verb::claim_resend, none, none);
    EXPECT_LE(left, 300'000) << "without a cap nothing slides";
    left = co_await lives(Verb::claim_resend, none, milliseconds(400'000));
    EXPECT_LE(left, 300'000) << "400 s after the first is sooner than the record's end";
    EXPECT_GT(left, 200'000);
    left = co_await lives(Verb::claim_resend, none, milliseconds(700'000));
    EXPECT_LE(left, 400'000);
    EXPECT_GT(left, 350'000);
    left = co_await lives(Verb::claim_suppress, none, milliseconds(86'400'000));
    EXPECT_LE(left, 600'000);
    EXPECT_GT(left, 550'000);
  });
}

// The connection is lost under the step, the server is there: one repeat, and nobody notices.
TEST(RedisRecords, AConnectionTheServerClosedIsReplacedUnnoticed) {
  RedisServer server;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), server.options(), "test:");
    redis::Client admin(io.get_executor(), server.options());
    for (int i = 0; i < 5; ++i) {
      auto done = co_await step(store, Verb::claim_resend);
      EXPECT_TRUE(done);
      std::vector<std::string> kill{"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"};
      co_await ask(admin, kill);
    }
  });
}

const std::vector<std::string> no_records{"9 from a later version",
                                          "",
                                          "1S0 0 1700000000123 other 0:0:0:250 9:short",
                                          "1S0 0 1 other 0:0:0:x 0:",
                                          "1S0 0 1 other 0:0:0:550 0:",
                                          "1S0 0 1 other 0:0:0:4294967546 0:",
                                          "1c0 99999999999999 1 other 0:0:0:1000 0:",
                                          "1S0 0 1 ot\ther 0:0:0:250 0:",
                                          "1c0 1111111111111111 1 other 0:0:0:0 0:",
                                          "1S0 0 1700000000123 other 0:0:0:250 2:Okx"};

// A later version may have sent it, or a hand at the console spoilt it: not known is doubt, of that recipient
// alone.
TEST(RedisRecords, WhatIsNoRecordIsDoubtAndTheOthersStandAsTheyAre) {
  RedisServer server;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), server.options(), "test:");
    redis::Client client(io.get_executor(), server.options());
    for (const auto& spoilt : no_records) {
      std::vector<std::string> set{"SET", key(), spoilt};
      co_await ask(client, set);
      auto found = co_await step(store, Verb::look);
      EXPECT_TRUE(found && found->before.at(0).unreadable) << spoilt;
      auto begun = co_await step(store, Verb::begin);
      EXPECT_TRUE(begun && begun->blocked) << spoilt;
      auto defer = co_await step(store, Verb::claim_defer);
      EXPECT_TRUE(defer && defer->blocked) << spoilt;
      std::vector<std::string> get{"GET", key()};
      auto value = co_await ask(client, get);
      EXPECT_EQ(value, spoilt);
      auto resend = co_await step(store, Verb::claim_resend);
      EXPECT_TRUE(resend && !resend->blocked) << spoilt;
      auto held = co_await step(store, Verb::look);
      EXPECT_TRUE(held && held->before.at(0).state == State::claimed && held->before.at(0).doubtful)
          << spoilt;
      auto sent = co_await step(store, Verb::commit);
      EXPECT_TRUE(sent && !sent->blocked) << spoilt;
      auto kept = co_await step(store, Verb::look);
      EXPECT_TRUE(kept && kept->before.at(0).state == State::sent) << spoilt;
    }
  });
}

TEST(RedisRecords, AServerThatRefusesWritesIsAnErrorThatSaysWhy) {
  RedisServer server;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), server.options(), "test:");
    redis::Client client(io.get_executor(), server.options());
    std::vector<std::string> limit{"CONFIG", "SET", "maxmemory", "1"};
    co_await ask(client, limit);
    auto full = co_await step(store, Verb::claim_resend);
    EXPECT_FALSE(full);
    EXPECT_EQ(full.error(), redis::Errc::out_of_memory) << full.error().message();
    auto probed = co_await probe_store(store);
    EXPECT_FALSE(probed);
  });
}

// The whole window of a process, as the relay opens it, through a hanging Redis and a restart.
TEST(RedisWindow, AHangingStoreDelaysACommitNoLongerThanItsDeadlineAndGetsItLater) {
  RedisServer server;
  Options options;
  options.kind = Kind::redis;
  options.redis = server.options();
  options.redis.command_deadline = milliseconds(400);
  Shared shared(options);
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    auto window = shared.open(io, quiet_log());
    const auto request = test::claim_on();
    auto answer = co_await window->claim(request);
    EXPECT_TRUE(answer && answer->claim);
    std::string goes_out = "<first@example>";
    auto begun = co_await answer->claim->begin(std::move(goes_out));
    EXPECT_TRUE(begun && *begun == Begun::sending);
    server.freeze();
    const auto from = SteadyClock::now();
    smtp::Reply reply{250, "Ok"};
    bool stored = co_await answer->claim->commit(reply, "ses");
    EXPECT_FALSE(stored);
    EXPECT_LT(SteadyClock::now() - from, milliseconds(2000));
    EXPECT_TRUE(shared.figures().store_down);
    EXPECT_EQ(shared.figures().to_write_back, 1U);
    auto repeat = co_await window->claim(request);
    EXPECT_TRUE(repeat && repeat->verdicts.at(0).verdict == Verdict::duplicate);
    server.thaw();
    const auto back = [&]() -> awaitable<bool> {
      const auto figures = shared.figures();
      co_return !figures.store_down && figures.to_write_back == 0;
    };
    bool settled = co_await eventually(back);
    EXPECT_TRUE(settled);
    repeat = co_await window->claim(request);
    EXPECT_TRUE(repeat && repeat->verdicts.at(0).verdict == Verdict::duplicate);
    EXPECT_EQ(repeat->source, Source::store);
    window.reset();
  });
}

TEST(RedisWindow, AServerThatDiesAndReturnsGetsWhatWasSentMeanwhile) {
  RedisServer server;
  Options options;
  options.kind = Kind::redis;
  options.redis = server.options();
  Shared shared(options);
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    auto window = shared.open(io, quiet_log());
    server.stop();
    const auto request = test::claim_on();
    auto answer = co_await window->claim(request);
    EXPECT_TRUE(answer && answer->claim);
    EXPECT_EQ(answer->source, Source::local);
    smtp::Reply reply{250, "Ok"};
    co_await answer->claim->commit(reply, "ses");
    server.start();
    RedisStore store(io.get_executor(), server.options(), "");
    const auto sent = [&]() -> awaitable<bool> {
      auto found = co_await step(store, Verb::look);
      co_return found && found->before[0].state == State::sent;
    };
    bool written = co_await eventually(sent);
    EXPECT_TRUE(written);
    window.reset();
  });
}

}  // namespace
}  // namespace mailonce::window
