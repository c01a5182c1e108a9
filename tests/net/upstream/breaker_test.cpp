// An upstream that is down, full or slow costs nobody more than it must.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <thread>

#include "rig.h"

namespace mailonce::upstream {
namespace {

using test::run;
using test::run_until;

std::unique_ptr<Connection> borrow_one(Rig& rig) {
  std::unique_ptr<Connection> connection;
  rig.pool();
  run(rig.io, [&]() -> awaitable<void> {
    auto borrowed = co_await rig.pool().borrow(Freshness::any);
    EXPECT_TRUE(borrowed);
    if (borrowed) connection = std::move(*borrowed);
  });
  return connection;
}

void fail(Rig& rig, int times) {
  for (int i = 0; i < times; ++i) EXPECT_EQ(rig.attempt().step, "borrow");
}

TEST(DeadUpstream, is_not_waited_for_and_said_to_be_down_once) {
  Rig rig;
  rig.provider.arm("times=every banner stall");
  rig.options.timeouts.greeting = milliseconds(100);
  fail(rig, 3);
  const auto before = SteadyClock::now();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(rig.attempt().error, make_error_code(Errc::timed_out));
  EXPECT_LT(SteadyClock::now() - before, Breaker::first_pause);
  EXPECT_EQ(rig.provider.stats().connections, 3U);
  const auto log = rig.logged();
  EXPECT_EQ(log.find("upstream_down"), log.rfind("upstream_down"));
  EXPECT_NE(log.find("upstream_down"), std::string::npos);
}

TEST(DeadUpstream, serves_again_as_soon_as_a_probe_comes_through) {
  Rig rig;
  rig.provider.arm("times=3 banner close");
  fail(rig, 3);
  std::this_thread::sleep_for(Breaker::first_pause + milliseconds(50));
  const auto later = rig.attempt();
  EXPECT_TRUE(later.reply.completed()) << later.error.message();
  EXPECT_TRUE(rig.attempt().reused);
  EXPECT_EQ(rig.provider.stats().connections, 4U) << "the probe's connection is used";
  EXPECT_NE(rig.logged().find("upstream_up"), std::string::npos);
}

TEST(DeadUpstream, that_takes_connections_and_answers_nothing_is_dead_too) {
  Rig rig;
  rig.options.timeouts.command = milliseconds(100);
  rig.provider.arm("times=every mail stall");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rig.attempt().error, make_error_code(Errc::timed_out));
  const auto connections = rig.provider.stats().connections;
  EXPECT_EQ(rig.attempt().step, "borrow");
  EXPECT_EQ(rig.provider.stats().connections, connections);
}

// Providers count connections; what one gets beyond the limit is a refusal of that connection and no more.
TEST(DeadUpstream, that_hangs_at_DATA_is_dead_too) {
  Rig rig;
  rig.options.timeouts.command = milliseconds(100);
  rig.provider.arm("times=every data stall");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(rig.attempt().step, "data");
  EXPECT_EQ(rig.attempt().step, "borrow");
}

// It was full for a moment: who waits gets in although nobody gives anything back.
TEST(FullUpstream, lets_those_who_wait_in_when_it_has_room_again) {
  Rig rig;
  const auto held = borrow_one(rig);
  rig.provider.arm("banner reply 421 4.7.0 Too many concurrent SMTP connections");
  const auto begun = SteadyClock::now();
  std::vector<std::unique_ptr<Connection>> lent;
  for (int i = 0; i < 5; ++i) {
    boost::asio::co_spawn(
        rig.io,
        [&]() -> awaitable<void> {
          auto borrowed = co_await rig.pool().borrow(Freshness::any);
          if (borrowed) lent.push_back(std::move(*borrowed));
        },
        boost::asio::detached);
  }
  EXPECT_TRUE(run_until(rig.io, [&] { return lent.size() == 5; })) << lent.size();
  EXPECT_LT(SteadyClock::now() - begun, seconds(3));
}

TEST(FullUpstream, is_waited_for_and_not_taken_for_dead) {
  auto profile = test::Profile::load("plain");
  profile.max_connections = test::CountedLine{2, "421 4.7.0 Too many concurrent SMTP connections"};
  Rig rig(profile);
  rig.pool();
  int sent = 0;
  constexpr int all = 30;
  for (int i = 0; i < all; ++i) {
    boost::asio::co_spawn(
        rig.io,
        [&]() -> awaitable<void> {
          Attempt result;
          const std::string message = "Subject: x\r\n\r\nHello\r\n";
          co_await rig.transact(message, Freshness::any, result);
          sent += result.reply.completed() && result.step == "send" ? 1 : 0;
        },
        boost::asio::detached);
  }
  EXPECT_TRUE(run_until(rig.io, [&] { return sent == all; })) << sent;
  EXPECT_EQ(rig.provider.stats().accepted, static_cast<std::uint64_t>(all));
  EXPECT_EQ(rig.logged().find("upstream_down"), std::string::npos);
}

// Office 365 takes the connection and says it to AUTH.
TEST(FullUpstream, may_say_so_to_AUTH_and_who_wants_a_fresh_connection_is_served_too) {
  Rig rig(test::Profile::load("sendgrid"));
  rig.options.username = "relay";
  rig.options.password = "secret";
  auto only = borrow_one(rig);
  rig.provider.arm("times=every auth reply 432 4.3.2 Concurrent connections limit exceeded.");
  int served = 0;
  for (const auto freshness : {Freshness::any, Freshness::fresh, Freshness::any}) {
    boost::asio::co_spawn(
        rig.io,
        [&rig, &served, freshness]() -> awaitable<void> {
          auto borrowed = co_await rig.pool().borrow(freshness);
          served += borrowed ? 1 : 0;
        },
        boost::asio::detached);
  }
  EXPECT_TRUE(run_until(rig.io, [&] { return rig.pool().counts().waiting == 3; }));
  only.reset();
  EXPECT_TRUE(run_until(rig.io, [&] { return served == 3; })) << served;
}

TEST(Rate, is_booked_for_every_recipient_and_given_up_at_max_wait) {
  Rig rig;
  rig.options.pool.max_wait = milliseconds(150);
  const Rate rate{10, seconds(1)};
  Pool pool(rig.io.get_executor(), rig.options, nullptr, rig.log(), {std::make_shared<Pacer>(rate)});
  EXPECT_EQ(pool.book(2).value(), milliseconds(0));
  EXPECT_EQ(pool.book(1).error(), make_error_code(Errc::too_fast));
  Pool without(rig.io.get_executor(), rig.options, nullptr, rig.log());
  for (int i = 0; i < 5; ++i) EXPECT_EQ(without.book(100).value(), milliseconds(0));
}

// SES says 454 to the dot, others 421 to MAIL.
class Throttled : public testing::TestWithParam<const char*> {};

TEST_P(Throttled, rate_pauses) {
  Rig rig;
  rig.ties.pacer = std::make_shared<Pacer>(Rate{1'000'000, seconds(1)});
  rig.provider.arm(GetParam());
  EXPECT_TRUE(rig.attempt().reply.transient());
  EXPECT_GT(rig.pool().book(1).value(), milliseconds(500));
}
INSTANTIATE_TEST_SUITE_P(Phases, Throttled,
                         testing::Values("dot reply 454 Throttling failure: Maximum sending rate exceeded.",
                                         "data reply 454 Throttling failure", "mail reply 421 4.7.0 slowly"));

TEST(Rate, wait_ends_with_everything) {
  Rig rig;
  bool ended = false;
  rig.pool();
  boost::asio::co_spawn(
      rig.io,
      [&]() -> awaitable<void> {
        co_await rig.pool().wait(seconds(60));
        ended = true;
      },
      boost::asio::detached);
  rig.io.run_for(milliseconds(10));
  EXPECT_FALSE(ended);
  rig.pool().abort();
  EXPECT_TRUE(run_until(rig.io, [&] { return ended; }));
}

}  // namespace
}  // namespace mailonce::upstream
