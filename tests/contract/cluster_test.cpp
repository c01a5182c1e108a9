// Redis Cluster: slots that move and masters that die while steps run.
#include "mailonce/window/error.h"
#include "window_contract.h"

namespace mailonce::window {
namespace {

using test::eventually;
using test::redis_cluster;
using test::run;

struct Message {
  std::string text;
  std::vector<std::string> recipients{"AAAA"};
};

awaitable<Result<StepResult>> step(Store& store, Verb verb, const Message& message) {
  Step out;
  out.verb = verb;
  out.fingerprint = sha256(message.text);
  out.recipients = message.recipients;
  out.particulars.owner = "me";
  out.particulars.lease = milliseconds(30'000);
  out.particulars.window = milliseconds(7'200'000);
  out.particulars.reply_code = 250;
  co_return co_await store.step(out);
}

std::uint16_t slot_of(const Message& message) {
  return redis::key_slot(sha256(message.text).base64url());
}

// What survives a failover.
redis::Options on_one_replica(redis::Options options) {
  options.min_replicas = 1;
  options.replica_timeout = milliseconds(400);
  return options;
}

bool all_are(State state, const Result<StepResult>& answer) {
  if (!answer) return false;
  return std::all_of(answer->before.begin(), answer->before.end(),
                     [&](const Record& record) { return record.state == state; });
}

TEST(RedisCluster, MessagesAreSpreadAndEachIsKeptTogether) {
  auto& cluster = redis_cluster();
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), cluster.options(), random_token() + ":");
    std::array<int, test::RedisCluster::size> kept{};
    for (int i = 0; i < 60; ++i) {
      const Message message{"mail " + std::to_string(i), {"AAAA", "BBBB", "CCCC"}};
      ++kept[cluster.owner(slot_of(message))];
      auto claimed = co_await step(store, Verb::claim_resend, message);
      EXPECT_TRUE(claimed && !claimed->blocked);
      auto sent = co_await step(store, Verb::commit, message);
      EXPECT_TRUE(all_are(State::claimed, sent));
    }
    EXPECT_EQ(std::count(kept.begin(), kept.end(), 0), 3) << "three masters have some each";
  });
}

// MOVED is met once, at the first command; then the map is right.
TEST(RedisCluster, AMovedSlotIsFollowedAndRemembered) {
  auto& cluster = redis_cluster();
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), cluster.options(), random_token() + ":");
    const Message message{"mail", {"AAAA", "BBBB"}};
    const auto slot = slot_of(message);
    auto committed = co_await step(store, Verb::commit, message);
    EXPECT_TRUE(committed);
    const auto from = cluster.owner(slot), to = cluster.other_than(from);
    cluster.begin_move(slot, from, to);
    cluster.move_keys(slot, from, to);
    cluster.end_move(slot, to);
    const auto moved = cluster.errors("MOVED");
    for (int i = 0; i < 5; ++i) {
      auto found = co_await step(store, Verb::look, message);
      EXPECT_TRUE(all_are(State::sent, found));
    }
    EXPECT_EQ(cluster.errors("MOVED"), moved + 1);
  });
}

// While a slot moves: what has arrived is found there (ASK), what has not is found here, what is new goes
// there.
TEST(RedisCluster, StepsGoOnWhileTheirSlotMoves) {
  auto& cluster = redis_cluster();
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    const auto prefix = random_token() + ":";
    RedisStore store(io.get_executor(), cluster.options(), prefix);
    const Message message{"mail", {"AAAA"}};
    const Message second{"mail", {"BBBB"}};
    const auto slot = slot_of(message);
    auto committed = co_await step(store, Verb::commit, message);
    EXPECT_TRUE(committed);
    const auto from = cluster.owner(slot), to = cluster.other_than(from);
    cluster.begin_move(slot, from, to);
    auto here = co_await step(store, Verb::look, message);
    EXPECT_TRUE(all_are(State::sent, here));
    cluster.move_keys(slot, from, to);
    const auto asked = cluster.errors("ASK");
    auto there = co_await step(store, Verb::look, message);
    EXPECT_TRUE(all_are(State::sent, there));
    auto claimed = co_await step(store, Verb::claim_resend, second);
    EXPECT_TRUE(claimed && !claimed->blocked);
    auto begun = co_await step(store, Verb::begin, second);
    EXPECT_TRUE(all_are(State::claimed, begun));
    EXPECT_GE(cluster.errors("ASK"), asked + 3);
    cluster.end_move(slot, to);
    auto ended = co_await step(store, Verb::commit, second);
    EXPECT_TRUE(all_are(State::sending, ended));
    auto found = co_await step(store, Verb::look, second);
    EXPECT_TRUE(all_are(State::sent, found));
  });
}

// Its records are in two places: no node can answer for all of them, and the step waits until one can.
TEST(RedisCluster, AMessageWhoseRecordsAreInTwoPlacesWaitsForTheMove) {
  auto& cluster = redis_cluster();
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), cluster.options(), random_token() + ":");
    const Message message{"mail", {"AAAA", "BBBB", "CCCC"}};
    const auto slot = slot_of(message);
    auto committed = co_await step(store, Verb::commit, message);
    EXPECT_TRUE(committed);
    const auto from = cluster.owner(slot), to = cluster.other_than(from);
    cluster.begin_move(slot, from, to);
    cluster.move_keys(slot, from, to, 1);
    boost::asio::steady_timer soon(io, milliseconds(200));
    soon.async_wait([&](error_code) {
      cluster.move_keys(slot, from, to);
      cluster.end_move(slot, to);
    });
    const auto before = SteadyClock::now();
    auto found = co_await step(store, Verb::look, message);
    EXPECT_TRUE(all_are(State::sent, found)) << found.error().message();
    EXPECT_GE(SteadyClock::now() - before, milliseconds(150));
  });
}

TEST(RedisCluster, AMoveThatDoesNotEndIsAnErrorInTime) {
  auto& cluster = redis_cluster();
  auto options = cluster.options();
  options.command_deadline = milliseconds(300);
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), options, random_token() + ":");
    const Message message{"mail", {"AAAA", "BBBB"}};
    const auto slot = slot_of(message);
    auto committed = co_await step(store, Verb::commit, message);
    EXPECT_TRUE(committed);
    const auto from = cluster.owner(slot), to = cluster.other_than(from);
    cluster.begin_move(slot, from, to);
    cluster.move_keys(slot, from, to, 1);
    const auto before = SteadyClock::now();
    auto found = co_await step(store, Verb::look, message);
    EXPECT_FALSE(found);
    EXPECT_EQ(found.error(), Errc::record_moving) << found.error().message();
    EXPECT_LT(SteadyClock::now() - before, milliseconds(600));
    cluster.move_keys(slot, from, to);
    cluster.end_move(slot, to);
  });
}

// All masters in turn give a slot away while a hundred messages are claimed, begun and committed.
TEST(RedisCluster, NothingIsLostWhileSlotsMoveUnderMail) {
  auto& cluster = redis_cluster();
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), cluster.options(), random_token() + ":");
    for (int i = 0; i < 100; ++i) {
      const Message message{"mail " + std::to_string(i)};
      const auto slot = slot_of(message);
      const auto from = cluster.owner(slot), to = cluster.other_than(from);
      auto claimed = co_await step(store, Verb::claim_resend, message);
      EXPECT_TRUE(claimed && !claimed->blocked);
      if (i % 10 == 0) cluster.begin_move(slot, from, to);
      auto begun = co_await step(store, Verb::begin, message);
      EXPECT_TRUE(all_are(State::claimed, begun));
      if (i % 10 == 0) cluster.move_keys(slot, from, to);
      auto sent = co_await step(store, Verb::commit, message);
      EXPECT_TRUE(all_are(State::sending, sent));
      if (i % 10 == 0) cluster.end_move(slot, to);
      auto found = co_await step(store, Verb::look, message);
      EXPECT_TRUE(all_are(State::sent, found)) << i;
    }
  });
}

TEST(RedisCluster, AKilledMasterIsLeftForItsReplica) {
  auto& cluster = redis_cluster();
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), on_one_replica(cluster.options()), random_token() + ":");
    const Message message{"mail"};
    auto claimed = co_await step(store, Verb::claim_resend, message);
    auto begun = co_await step(store, Verb::begin, message);
    EXPECT_TRUE(all_are(State::claimed, begun)) << begun.error().message();
    const auto master = cluster.owner(slot_of(message));
    cluster.kill(master);
    auto found = co_await step(store, Verb::look, message);
    if (!found) found = co_await step(store, Verb::look, message);
    EXPECT_TRUE(all_are(State::sending, found));
    for (int i = 0; i < 20; ++i) {
      const Message another{"another mail " + std::to_string(i)};
      auto other = co_await step(store, Verb::commit, another);
      EXPECT_TRUE(other) << other.error().message();
    }
  });
  cluster.heal();
}

// The commands in flight wait for the failover, not for the nodes of the URL alone.
TEST(RedisCluster, AFrozenMasterIsAnErrorInTimeAndThenLeft) {
  auto& cluster = redis_cluster();
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    RedisStore store(io.get_executor(), on_one_replica(cluster.options()), random_token() + ":");
    const Message message{"mail"};
    auto claimed = co_await step(store, Verb::claim_resend, message);
    auto begun = co_await step(store, Verb::begin, message);
    EXPECT_TRUE(all_are(State::claimed, begun)) << begun.error().message();
    const auto master = cluster.owner(slot_of(message));
    cluster.node(master).freeze();
    const auto before = SteadyClock::now();
    auto late = co_await step(store, Verb::look, message);
    EXPECT_LT(SteadyClock::now() - before, milliseconds(1500));
    const auto is_found = [&]() -> awaitable<bool> {
      auto found = co_await step(store, Verb::look, message);
      co_return all_are(State::sending, found);
    };
    bool found = co_await eventually(is_found);
    EXPECT_TRUE(found);
    cluster.node(master).thaw();
  });
  cluster.heal();
}

}  // namespace
}  // namespace mailonce::window
