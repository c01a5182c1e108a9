// The client against a real server: pipelining, loss, hanging, logging in.
#include "mailonce/redis/client.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/detached.hpp>
#include <charconv>
#include <initializer_list>
#include <string>

#include "redis_server.h"
#include "run.h"

namespace mailonce::redis {
namespace {

using test::eventually;
using test::RedisServer;
using test::run;

awaitable<Result<std::string>> ask(Client& client, std::vector<std::string> words) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  auto reply = co_await client.command(views);
  if (!reply) co_return Result<std::string>(boost::system::in_place_error, reply.error());
  const auto value = reply->value();
  if (value.integer()) co_return std::to_string(*value.integer());
  co_return std::string(value.text().value_or("(nil)"));
}

template <class... Words>
std::vector<std::string> words(Words... texts) {
  return {std::string(texts)...};
}

awaitable<bool> answers(Client& client) {
  auto ping = words("PING");
  auto pong = co_await ask(client, ping);
  co_return pong&&* pong == "PONG";
}

// A figure of INFO's `section`.
awaitable<long> figure(Client& client, std::string section, std::string name) {
  auto info = words("INFO", section);
  auto text = co_await ask(client, info);
  if (!text) co_return -1;
  const auto at = text->find(name + ':');
  if (at == std::string::npos) co_return -1;
  long value = -1;
  const auto* from = text->data() + at + name.size() + 1;
  std::from_chars(from, text->data() + text->size(), value);
  co_return value;
}

TEST(RedisClient, KeepsValuesOctetForOctet) {
  RedisServer server;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Client client(io.get_executor(), server.options());
    std::string octets;
    for (int i = 0; i < 256; ++i) octets += static_cast<char>(i);
    octets += "\r\n$5\r\n";
    auto set = words("SET", "key", octets);
    auto stored = co_await ask(client, set);
    EXPECT_TRUE(stored && *stored == "OK");
    auto get = words("GET", "key");
    auto found = co_await ask(client, get);
    EXPECT_TRUE(found && *found == octets);
    auto missing = words("GET", "no such key");
    auto nil = co_await ask(client, missing);
    EXPECT_TRUE(nil && *nil == "(nil)");
  });
}

TEST(RedisClient, AnErrorReplyIsAValueAndTheConnectionGoesOn) {
  RedisServer server;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Client client(io.get_executor(), server.options());
    const std::array<std::string_view, 1> wrong{"NONSENSE"};
    auto reply = co_await client.command(wrong);
    EXPECT_TRUE(reply && reply->value().is_error());
    bool up = co_await answers(client);
    EXPECT_TRUE(up);
  });
}

TEST(RedisClient, AThousandCommandsOfOneTurnLeaveInFewWritesAndEachGetsItsAnswer) {
  RedisServer server;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Client client(io.get_executor(), server.options());
    const long before = co_await figure(client, "stats", "total_reads_processed");
    int right = 0;
    int ended = 0;
    for (int i = 0; i < 1000; ++i) {
      boost::asio::co_spawn(
          io,
          [&client, &right, i]() -> awaitable<void> {
            auto echo = words("ECHO", std::to_string(i));
            auto answer = co_await ask(client, echo);
            if (answer && *answer == std::to_string(i)) ++right;
          },
          [&ended](std::exception_ptr) { ++ended; });
    }
    const auto all_ended = [&]() -> awaitable<bool> { co_return ended == 1000; };
    bool done = co_await eventually(all_ended);
    EXPECT_TRUE(done);
    EXPECT_EQ(right, 1000);
    const long after = co_await figure(client, "stats", "total_reads_processed");
    EXPECT_GE(before, 0);
    EXPECT_LT(after - before, 50);  // 1000 commands are some 30 kB, and the server reads 16 kB at a time
  });
}

TEST(RedisClient, CommandsFailWhenTheServerDiesAndWorkAgainAfterItsRestart) {
  RedisServer server;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Client client(io.get_executor(), server.options());
    bool up = co_await answers(client);
    EXPECT_TRUE(up);
    server.stop();
    auto ping = words("PING");
    const auto down = [&]() -> awaitable<bool> {
      auto answer = co_await ask(client, ping);
      co_return !answer;
    };
    bool failed = co_await eventually(down);
    EXPECT_TRUE(failed);
    server.start();
    const auto back = [&]() -> awaitable<bool> { return answers(client); };
    bool again = co_await eventually(back);
    EXPECT_TRUE(again);
  });
}

TEST(RedisClient, ACommandInFlightFailsAsClosedWhenTheConnectionIsLost) {
  RedisServer server;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    auto options = server.options();
    options.command_deadline = milliseconds(20000);
    Client client(io.get_executor(), options);
    bool up = co_await answers(client);
    EXPECT_TRUE(up);
    boost::asio::steady_timer soon(io, milliseconds(50));
    soon.async_wait([&](error_code) { server.stop(); });
    auto wait = words("BLPOP", "nothing", "0");
    auto answer = co_await ask(client, wait);
    EXPECT_FALSE(answer);
    EXPECT_EQ(answer.error(), Errc::closed);
  });
}

TEST(RedisClient, AServerThatHangsCostsTheDeadlineOnceThenFailsAtOnceAndComesBack) {
  RedisServer server;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    auto options = server.options();
    options.command_deadline = milliseconds(300);
    options.first_reconnect_pause = milliseconds(2000);
    Client client(io.get_executor(), options);
    bool up = co_await answers(client);
    EXPECT_TRUE(up);
    server.freeze();
    auto ping = words("PING");
    const auto from = SteadyClock::now();
    auto late = co_await ask(client, ping);
    const auto took = SteadyClock::now() - from;
    EXPECT_FALSE(late);
    EXPECT_EQ(late.error(), Errc::timed_out);
    EXPECT_GE(took, milliseconds(250));
    EXPECT_LT(took, milliseconds(2000));
    const auto second = SteadyClock::now();
    auto at_once = co_await ask(client, ping);
    EXPECT_FALSE(at_once);
    EXPECT_LT(SteadyClock::now() - second, milliseconds(200));
    server.thaw();
    const auto back = [&]() -> awaitable<bool> { return answers(client); };
    bool again = co_await eventually(back);
    EXPECT_TRUE(again);
  });
}

TEST(RedisClient, NobodyListeningIsTheSystemsError) {
  RedisServer server;
  server.stop();
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Client client(io.get_executor(), server.options());
    auto ping = words("PING");
    auto answer = co_await ask(client, ping);
    EXPECT_FALSE(answer);
    EXPECT_EQ(answer.error(), boost::system::errc::connection_refused);
  });
}

TEST(RedisClient, LogsInAsAnAclUserIntoItsDatabase) {
  RedisServer server;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Client admin(io.get_executor(), server.options());
    auto user = words("ACL", "SETUSER", "relay", "on", ">secret", "~*", "+@all");
    auto made = co_await ask(admin, user);
    EXPECT_TRUE(made && *made == "OK");

    auto options = server.options();
    options.username = "relay";
    options.password = "secret";
    options.database = 3;
    Client client(io.get_executor(), options);
    auto who_am_i = words("ACL", "WHOAMI");
    auto name = co_await ask(client, who_am_i);
    EXPECT_TRUE(name && *name == "relay");
    auto set = words("SET", "here", "1");
    auto stored = co_await ask(client, set);
    EXPECT_TRUE(stored && *stored == "OK");
    auto get = words("GET", "here");
    auto elsewhere = co_await ask(admin, get);
    EXPECT_TRUE(elsewhere && *elsewhere == "(nil)");
  });
}

TEST(RedisClient, AWrongPasswordOrDatabaseFailsEveryCommandBeforeItIsSent) {
  RedisServer server;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    auto wrong_password = server.options();
    wrong_password.username = "nobody";
    wrong_password.password = "wrong";
    auto wrong_database = server.options();
    wrong_database.database = 99;
    for (const auto& options : {wrong_password, wrong_database}) {
      Client client(io.get_executor(), options);
      auto set = words("SET", "must not be", "written");
      auto answer = co_await ask(client, set);
      EXPECT_FALSE(answer);
      EXPECT_EQ(answer.error(), Errc::auth_failed);
    }
    Client plain(io.get_executor(), server.options());
    auto get = words("EXISTS", "must not be");
    auto exists = co_await ask(plain, get);
    EXPECT_TRUE(exists && *exists == "0");
  });
}

TEST(RedisClient, DestroyingItEndsWhatIsPending) {
  RedisServer server;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    auto client = std::make_unique<Client>(io.get_executor(), server.options());
    bool up = co_await answers(*client);
    EXPECT_TRUE(up);
    boost::asio::steady_timer soon(io, milliseconds(20));
    soon.async_wait([&](error_code) { client.reset(); });
    const std::array<std::string_view, 3> wait{"BLPOP", "nothing", "0"};
    auto answer = co_await client->command(wait);
    EXPECT_FALSE(answer);
    EXPECT_EQ(answer.error(), Errc::closed);
  });
}

// What waits owns the client, as a store's coroutine does: nothing but the end of the context can end it.
TEST(RedisClient, WhatIsPendingEndsWithItsContext) {
  RedisServer server;
  auto ended = std::make_shared<int>();
  {
    boost::asio::io_context io;
    const auto client = std::make_shared<Client>(io.get_executor(), server.options());
    const auto waits = [client, ended]() -> awaitable<void> {
      const std::array<std::string_view, 3> wait{"BLPOP", "nothing", "0"};
      auto answer = co_await client->command(wait);
      ADD_FAILURE() << "an answer, or a failure, of what cannot be answered";
    };
    boost::asio::co_spawn(io, waits, boost::asio::detached);
    io.run_for(milliseconds(100));
  }
  EXPECT_EQ(ended.use_count(), 1);
}

}  // namespace
}  // namespace mailonce::redis
