// All stores are the same machine: random steps, from a seed, leave memory, SQLite and Redis (step.lua) with
// the same records and the same answers.
#include <gtest/gtest.h>

#include <random>

#include "mailonce/window/codec.h"
#include "run.h"
#include "stores.h"

namespace mailonce::window {
namespace {

using test::nap;
using test::run;
using test::Shelf;
using test::Which;

const std::vector<std::string> all_recipients{"AAAA", "BBBB", "CCCC"};
constexpr milliseconds short_lease{5};

struct Random {
  explicit Random(unsigned seed) : engine(seed) {}
  unsigned below(unsigned limit) { return std::uniform_int_distribution<unsigned>(0, limit - 1)(engine); }
  std::mt19937 engine;
};

// Owns what a step shows.
struct Drawn {
  Verb verb;
  std::vector<std::string> recipients;
  std::string owner;
  std::string message_id;
  std::string content;
  milliseconds lease;
  milliseconds age;
  milliseconds slide_cap;

  Step step() const {
    Step out;
    out.verb = verb;
    out.fingerprint = sha256("mail");
    out.recipients = recipients;
    out.particulars.owner = owner;
    out.particulars.lease = lease;
    out.particulars.window = milliseconds(7'200'000);
    out.particulars.age = age;
    out.particulars.slide_cap = slide_cap;
    out.particulars.message_id = message_id;
    out.particulars.content = content;
    if (verb == Verb::commit || verb == Verb::resolve_sent) {
      out.particulars.upstream = "ses";
      out.particulars.reply_code = 250;
      out.particulars.reply_text = "Ok";
    }
    return out;
  }
};

Drawn draw(Random& random) {
  Drawn out;
  out.verb = static_cast<Verb>(random.below(verb_count));
  for (const auto& recipient : all_recipients) {
    if (random.below(2) == 0) out.recipients.push_back(recipient);
  }
  if (out.recipients.empty()) out.recipients.push_back(all_recipients[random.below(3)]);
  const auto number = std::to_string(random.below(3));
  out.owner = "owner" + number;
  out.message_id = random.below(4) == 0 ? "" : "<" + number + "@example>";
  out.content = "content" + number;
  out.lease = random.below(4) == 0 ? short_lease : milliseconds(60'000);
  out.age = milliseconds(random.below(3) == 0 ? 1000 : 0);
  out.slide_cap = milliseconds(random.below(2) == 0 ? 86'400'000 : 0);
  return out;
}

// What both stores must agree on: everything but the clock.
std::string described(const Record& record, TimePoint now) {
  std::string out{static_cast<char>(record.state), record.doubtful ? '1' : '0'};
  out += record.deadline == TimePoint{} ? " declared" : record.deadline > now ? " alive" : " expired";
  out += record.state == State::sent && now - record.at >= milliseconds(900) ? " old " : " ";
  return out + record.owner + record.message_id + record.content + record.upstream + record.reply.text;
}

std::string described(const StepResult& result) {
  std::string out = result.blocked ? "blocked\n" : "done\n";
  for (const auto& record : result.before) out += described(record, result.now) + "\n";
  return out;
}

class Equivalence : public testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Seeds, Equivalence, testing::Range(1U, 9U));

TEST_P(Equivalence, RandomStepsGiveTheSameInAllStores) {
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Random random(GetParam());
    int written = 0;
    for (int round = 0; round < 12; ++round) {
      Shelf memory_shelf(Which::memory);
      Shelf sqlite_shelf(Which::sqlite);
      Shelf redis_shelf(Which::redis);
      const auto memory = memory_shelf.store(io);
      const auto sqlite = sqlite_shelf.store(io);
      const auto redis = redis_shelf.store(io);
      for (int i = 0; i < 20; ++i) {
        const auto drawn = draw(random);
        const auto step = drawn.step();
        auto in_memory = co_await memory->step(step);
        auto in_sqlite = co_await sqlite->step(step);
        auto in_redis = co_await redis->step(step);
        EXPECT_TRUE(in_sqlite) << in_sqlite.error().message();
        EXPECT_TRUE(in_redis) << in_redis.error().message();
        if (!in_redis || !in_sqlite) co_return;
        const auto where = "round " + std::to_string(round) + ", step " + std::to_string(i) + ", verb " +
                           std::to_string(static_cast<int>(drawn.verb));
        EXPECT_EQ(described(*in_memory), described(*in_sqlite)) << where;
        EXPECT_EQ(described(*in_memory), described(*in_redis)) << where;
        written += in_redis->blocked ? 0 : 1;
        // A short lease ends between two steps, never during one.
        if (drawn.lease == short_lease) co_await nap(short_lease + milliseconds(15));
      }
    }
    EXPECT_GT(written, 50);
  });
}

}  // namespace
}  // namespace mailonce::window
