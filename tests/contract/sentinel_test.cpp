// Redis Sentinel: the window follows the master wherever it goes.
#include "window_contract.h"

namespace mailonce::window {
namespace {

using test::eventually;
using test::redis_sentinels;
using test::run;

// One owner's step on the record of one message.
awaitable<Result<StepResult>> step(Store& store, Verb verb, std::string message) {
  const std::vector<std::string> recipients{"AAAA"};
  Step out;
  out.verb = verb;
  out.fingerprint = sha256(message);
  out.recipients = recipients;
  out.particulars.owner = "me";
  out.particulars.lease = milliseconds(30'000);
  out.particulars.window = milliseconds(7'200'000);
  out.particulars.reply_code = 250;
  co_return co_await store.step(out);
}

// What a step writes survives a failover.
redis::Options options() {
  auto out = redis_sentinels().options();
  out.min_replicas = 1;
  out.replica_timeout = milliseconds(400);
  return out;
}

awaitable<bool> carried_out(Store& store, Verb verb, std::string message) {
  const auto done = [&]() -> awaitable<bool> {
    auto answer = co_await step(store, verb, message);
    co_return answer && !answer->blocked;
  };
  co_return co_await eventually(done);
}

awaitable<bool> is_there(Store& store, std::string message) {
  const auto there = [&]() -> awaitable<bool> {
    auto answer = co_await step(store, Verb::look, message);
    co_return answer && answer->before.at(0).state != State::absent;
  };
  co_return co_await eventually(there);
}

// In the middle of a message's life: claimed at one master, begun at the next, committed at the first again.
TEST(RedisSentinel, AClaimOutlivesAnOrderedFailover) {
  auto& sentinels = redis_sentinels();
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), options(), random_token() + ":");
    auto claimed = co_await step(store, Verb::claim_resend, "mail");
    EXPECT_TRUE(claimed && !claimed->blocked);
    sentinels.fail_over();
    bool begun = co_await carried_out(store, Verb::begin, "mail");
    EXPECT_TRUE(begun);
    sentinels.heal();
    sentinels.fail_over();
    bool committed = co_await carried_out(store, Verb::commit, "mail");
    EXPECT_TRUE(committed);
    bool sent = co_await is_there(store, "mail");
    EXPECT_TRUE(sent);
  });
  sentinels.heal();
}

// The connection is lost, the Sentinels are asked, and the first command after they agree is carried out.
TEST(RedisSentinel, AKilledMasterIsLeftForTheOneTheSentinelsName) {
  auto& sentinels = redis_sentinels();
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), options(), random_token() + ":");
    auto claimed = co_await step(store, Verb::claim_resend, "mail");
    bool begun = co_await carried_out(store, Verb::begin, "mail");
    EXPECT_TRUE(begun);
    sentinels.kill_master();
    auto at_once = co_await step(store, Verb::claim_resend, "mail");
    EXPECT_TRUE(at_once) << at_once.error().message();
    bool there = co_await is_there(store, "mail");
    EXPECT_TRUE(there);
    bool another = co_await carried_out(store, Verb::commit, "another mail");
    EXPECT_TRUE(another);
  });
  sentinels.heal();
}

// Frozen, not dead: it takes connections, and answers no one; thawed, it is a master for a moment.
TEST(RedisSentinel, AFrozenMasterIsLeftToo) {
  auto& sentinels = redis_sentinels();
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), options(), random_token() + ":");
    auto claimed = co_await step(store, Verb::claim_resend, "mail");
    bool begun = co_await carried_out(store, Verb::begin, "mail");
    EXPECT_TRUE(begun);
    auto& old = sentinels.master();
    old.freeze();
    bool another = co_await carried_out(store, Verb::commit, "another mail");
    EXPECT_TRUE(another);
    EXPECT_NE(&sentinels.master(), &old);
    old.thaw();
    sentinels.heal();
    for (const auto* each : {"mail", "another mail"}) {
      bool there = co_await is_there(store, each);
      EXPECT_TRUE(there) << each;
    }
  });
}

TEST(RedisSentinel, OneOfThreeSentinelsIsEnough) {
  auto& sentinels = redis_sentinels();
  sentinels.sentinel(0).freeze();
  sentinels.sentinel(1).stop();
  for (int i = 0; i < 3; ++i) {
    run([&](boost::asio::io_context& io) -> awaitable<void> {
      RedisStore store(io.get_executor(), options(), random_token() + ":");
      auto claimed = co_await step(store, Verb::claim_resend, "mail");
      EXPECT_TRUE(claimed) << claimed.error().message();
    });
  }
  sentinels.sentinel(0).thaw();
  sentinels.start_sentinel(1);
}

TEST(RedisSentinel, AnUnknownServiceIsAnErrorThatSaysSo) {
  auto options = redis_sentinels().options();
  options.service = "nobody";
  options.command_deadline = milliseconds(300);
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), options, "");
    auto claimed = co_await step(store, Verb::claim_resend, "mail");
    EXPECT_FALSE(claimed);
    EXPECT_EQ(claimed.error(), redis::Errc::unknown_service) << claimed.error().message();
  });
}

}  // namespace
}  // namespace mailonce::window
