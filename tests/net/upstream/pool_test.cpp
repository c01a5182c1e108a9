#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "rig.h"

namespace mailonce::upstream {
namespace {

using test::run;
using test::run_until;
using test::Stats;

constexpr const char* timeout_line = "reply-close 451 4.4.2 Timeout waiting for data from client.";

// Borrows, for as long as the caller likes.
std::unique_ptr<Connection> borrow(Rig& rig, Freshness freshness = Freshness::any) {
  std::unique_ptr<Connection> connection;
  rig.pool();
  run(rig.io, [&]() -> awaitable<void> {
    auto borrowed = co_await rig.pool().borrow(freshness);
    EXPECT_TRUE(borrowed);
    if (borrowed) connection = std::move(*borrowed);
  });
  return connection;
}

// In the background; `ended` once nothing was lent.
void borrow_in_vain(Rig& rig, bool& ended) {
  auto work = [](Rig& of, bool& done) -> awaitable<void> {
    auto borrowed = co_await of.pool().borrow(Freshness::any);
    EXPECT_FALSE(borrowed);
    done = true;
  };
  boost::asio::co_spawn(rig.io, work(rig, ended), boost::asio::detached);
}

void begin_envelope(Rig& rig, Connection& connection) {
  run(rig.io, [&]() -> awaitable<void> {
    const auto from = sender();
    const auto to = recipients();
    auto replies = co_await connection.envelope(from, to);
    EXPECT_TRUE(replies);
  });
}

TEST(Pool, lends_the_connection_used_last_first) {
  Rig rig;
  auto first = borrow(rig);
  auto second = borrow(rig);
  first.reset();
  second.reset();
  EXPECT_TRUE(rig.attempt().reply.completed());
  const auto commands = rig.provider.commands();
  EXPECT_EQ(std::count_if(commands.begin(), commands.end(),
                          [](const std::string& line) { return line.starts_with("2 MAIL"); }),
            1);
}

TEST(Pool, makes_a_new_connection_when_a_fresh_one_is_wanted) {
  Rig rig;
  EXPECT_TRUE(rig.attempt().reply.completed());
  const auto second = rig.attempt("A: b\r\n", Freshness::fresh);
  EXPECT_TRUE(second.reply.completed());
  EXPECT_FALSE(second.reused);
  EXPECT_EQ(rig.provider.stats().connections, 2U);
}

// SES: the line is said unasked, then the connection is closed.
TEST(Pool, never_lends_a_connection_on_which_something_was_said) {
  auto profile = test::Profile::load("ses");
  profile.idle_close->after = milliseconds(50);
  Rig rig(profile);
  EXPECT_TRUE(rig.attempt().reply.completed());
  EXPECT_TRUE(rig.provider.wait_for([](const Stats& stats) { return stats.open == 0; }));
  const auto second = rig.attempt();
  EXPECT_TRUE(second.reply.completed()) << second.error.message();
  EXPECT_FALSE(second.reused);
}

TEST(Pool, does_not_take_a_time_out_notice_on_a_kept_connection_for_an_answer) {
  for (const std::string& fault :
       {std::string("nth=2 mail ") + timeout_line, std::string("nth=2 data ") + timeout_line,
        std::string("nth=2 mail reply 421 4.4.2 Timeout"),
        std::string("nth=2 rcpt reply 421 4.4.1 Session too old")}) {
    Rig rig;
    rig.provider.arm(fault);
    EXPECT_TRUE(rig.attempt().reply.completed());
    const auto second = rig.attempt();
    EXPECT_TRUE(second.reused) << fault;
    EXPECT_EQ(second.error, make_error_code(Errc::closed)) << fault;
    EXPECT_FALSE(second.dot_sent);
    EXPECT_EQ(rig.pool().counts().open, 0U);
    EXPECT_TRUE(rig.attempt("A: b\r\n", Freshness::fresh).reply.completed());
  }
}

TEST(Pool, tells_what_the_upstream_says_to_a_recipient_on_a_kept_connection) {
  Rig rig;
  rig.provider.arm("nth=2 rcpt reply 451 4.7.1 Greylisted");
  EXPECT_TRUE(rig.attempt().reply.completed());
  const auto second = rig.attempt();
  EXPECT_FALSE(second.error);
  EXPECT_EQ(second.reply.code, 451);
}

TEST(Pool, lets_nobody_wait_for_ever_when_all_places_are_taken) {
  Rig rig;
  rig.options.pool.max_connections = 1;
  rig.options.pool.max_wait = milliseconds(50);
  const auto held = borrow(rig);
  const auto result = rig.attempt();
  EXPECT_EQ(result.step, "borrow");
  EXPECT_EQ(result.error, make_error_code(Errc::exhausted));
  EXPECT_EQ(rig.pool().counts().waiting, 0U);
}

TEST(Pool, serves_those_who_wait_in_order) {
  Rig rig;
  rig.options.pool.max_connections = 1;
  auto held = borrow(rig);
  std::vector<int> served;
  for (int i = 0; i < 3; ++i) {
    boost::asio::co_spawn(
        rig.io,
        [&rig, &served, i]() -> awaitable<void> {
          auto borrowed = co_await rig.pool().borrow(i == 1 ? Freshness::fresh : Freshness::any);
          EXPECT_TRUE(borrowed);
          served.push_back(i);
        },
        boost::asio::detached);
  }
  EXPECT_TRUE(run_until(rig.io, [&] { return rig.pool().counts().waiting == 3; }));
  held.reset();
  EXPECT_TRUE(run_until(rig.io, [&] { return served.size() == 3; }));
  EXPECT_EQ(served, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(rig.provider.stats().connections, 2U);  // the second wanted a fresh one
  EXPECT_EQ(rig.pool().counts().open, 1U);
}

TEST(Pool, passes_the_place_on_when_a_connection_can_not_be_made) {
  Rig rig;
  rig.options.pool.max_connections = 1;
  rig.provider.arm("times=2 banner reply 554 not today");
  rig.pool();
  int refused = 0;
  bool done = false;
  for (int i = 0; i < 3; ++i) {
    boost::asio::co_spawn(
        rig.io,
        [&]() -> awaitable<void> {
          auto borrowed = co_await rig.pool().borrow(Freshness::any);
          done = done || borrowed;
          refused += borrowed ? 0 : 1;
        },
        boost::asio::detached);
  }
  EXPECT_TRUE(run_until(rig.io, [&] { return done; }));
  EXPECT_EQ(refused, 2);
  EXPECT_EQ(rig.pool().counts().open, 1U);
}

TEST(Pool, resets_an_envelope_in_the_background_before_it_lends_the_connection_again) {
  Rig rig;
  auto connection = borrow(rig);
  begin_envelope(rig, *connection);
  connection.reset();
  EXPECT_EQ(rig.pool().counts().idle, 0U);
  EXPECT_TRUE(rig.settled());
  EXPECT_EQ(rig.provider.stats().rset, 1U);
  EXPECT_TRUE(rig.attempt().reused);
  EXPECT_EQ(rig.provider.stats().connections, 1U);
}

TEST(Pool, keeps_no_connection_that_could_not_be_reset) {
  for (const std::string fault : {"rset reply 550 no", "rset close"}) {
    Rig rig;
    rig.provider.arm(fault);
    auto connection = borrow(rig);
    begin_envelope(rig, *connection);
    connection.reset();
    EXPECT_TRUE(run_until(rig.io, [&] { return rig.pool().counts().open == 0; })) << fault;
  }
}

// Anything said now would be message text, and an end of data would send half a message.
TEST(Pool, closes_a_connection_given_back_inside_a_body_without_a_word) {
  Rig rig;
  auto connection = borrow(rig);
  begin_envelope(rig, *connection);
  run(rig.io, [&]() -> awaitable<void> {
    auto data = co_await connection->data();
    EXPECT_TRUE(data);
    const std::string message(200000, 'x');
    const std::vector<std::string_view> pieces{message};
    auto content = co_await connection->content(pieces);
    EXPECT_TRUE(content);
  });
  connection.reset();
  EXPECT_EQ(rig.pool().counts().open, 0U);
  EXPECT_TRUE(rig.provider.wait_for([](const Stats& stats) { return stats.open == 0; }));
  EXPECT_EQ(rig.provider.stats().dots, 0U);
  EXPECT_EQ(rig.provider.stats().quit, 0U);
}

TEST(Pool, retires_a_connection_after_so_many_messages_and_so_much_time) {
  Rig rig;
  rig.options.pool.max_messages = 2;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(rig.attempt().reply.completed());
  EXPECT_EQ(rig.provider.stats().connections, 2U);
  Rig aged;
  aged.options.pool.max_age = milliseconds(0);
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(aged.attempt().reply.completed());
  EXPECT_EQ(aged.provider.stats().connections, 2U);
}

TEST(Pool, says_quit_on_a_connection_that_was_idle_too_long) {
  Rig rig;
  rig.options.pool.max_idle = milliseconds(30);
  auto first = borrow(rig);
  auto second = borrow(rig);
  first.reset();
  second.reset();
  EXPECT_EQ(rig.pool().counts().idle, 2U);
  EXPECT_TRUE(run_until(rig.io, [&] { return rig.pool().counts().open == 0; }));
  EXPECT_TRUE(run_until(rig.io, [&] { return rig.provider.stats().quit == 2; }));
}

// The goodbye of a pool that ends, with an upstream that does not answer it.
TEST(Pool, lets_go_of_everything_when_it_ends) {
  Rig rig;
  rig.provider.arm("quit stall");
  auto lent = borrow(rig);
  auto idle = borrow(rig);
  idle.reset();
  rig.end_pool();
  lent.reset();
  EXPECT_TRUE(run_until(rig.io, [&] { return rig.provider.stats().quit == 2; }));
  EXPECT_TRUE(run_until(rig.io, [&] { return rig.provider.stats().open == 0; }));
}

TEST(Pool, closes_what_is_idle_for_a_drain_and_what_comes_back_then) {
  Rig rig;
  auto lent = borrow(rig);
  auto idle = borrow(rig);
  idle.reset();
  rig.pool().close_idle();
  EXPECT_EQ(rig.pool().counts().idle, 0U);
  lent.reset();
  EXPECT_EQ(rig.pool().counts().open, 0U);
  EXPECT_TRUE(run_until(rig.io, [&] { return rig.provider.stats().quit == 2; }));
}

TEST(Pool, asks_once_what_the_upstream_announces) {
  Rig rig;
  rig.pool();
  run(rig.io, [&]() -> awaitable<void> {
    auto first = co_await rig.pool().capabilities();
    EXPECT_TRUE(first);
    EXPECT_TRUE(first && first->pipelining);
    auto second = co_await rig.pool().capabilities();
    EXPECT_TRUE(second);
  });
  EXPECT_EQ(rig.provider.stats().connections, 1U);
  EXPECT_EQ(rig.pool().counts().idle, 1U);
  Rig down;
  down.provider.stop_listening();
  down.pool();
  run(down.io, [&]() -> awaitable<void> {
    auto none = co_await down.pool().capabilities();
    EXPECT_EQ(none.error(), make_error_code(Errc::unreachable));
  });
}

TEST(Pool, asks_for_all_at_once_and_not_for_long) {
  Rig rig;
  rig.options.timeouts.announce = milliseconds(150);
  rig.provider.arm("banner hold");
  rig.pool();
  int answered = 0;
  for (int i = 0; i < 3; ++i) {
    auto ask = [&]() -> awaitable<void> {
      auto path = co_await rig.pool().capabilities();
      EXPECT_EQ(path.error(), make_error_code(Errc::timed_out));
      ++answered;
    };
    boost::asio::co_spawn(rig.io, ask, boost::asio::detached);
  }
  EXPECT_TRUE(run_until(rig.io, [&] { return answered == 3; }));
  EXPECT_EQ(rig.provider.stats().connections, 1U);
  rig.provider.go();
  run(rig.io, [&]() -> awaitable<void> {
    auto path = co_await rig.pool().capabilities();
    EXPECT_TRUE(path) << "the connection goes on being made";
  });
  EXPECT_EQ(rig.provider.stats().connections, 1U);
}

// Where a connection is when the pool's patience is over.
class Abort : public testing::TestWithParam<const char*> {};

TEST_P(Abort, ends_what_is_under_way_at_once) {
  Rig rig;
  rig.provider.arm(std::string(GetParam()) + " stall");
  rig.pool();
  bool ended = false;
  Attempt result;
  auto work = [&]() -> awaitable<void> {
    const std::string message = "Subject: x\r\n\r\nHello\r\n";
    co_await rig.transact(message, Freshness::any, result);
    ended = true;
  };
  boost::asio::co_spawn(rig.io, work, boost::asio::detached);
  EXPECT_TRUE(run_until(rig.io, [&] { return rig.provider.stats().faults == 1; }));
  EXPECT_FALSE(ended);
  rig.pool().abort();
  EXPECT_TRUE(run_until(rig.io, [&] { return ended; }));
  // At the banner the connection itself may still be in the making here.
  const bool connecting = result.step == "borrow" && result.error == make_error_code(Errc::unreachable);
  EXPECT_TRUE(connecting || result.error == make_error_code(Errc::closed)) << result.error.message();
  EXPECT_EQ(result.dot_sent, std::string(GetParam()) == "dot");
  EXPECT_EQ(rig.attempt().error, make_error_code(Errc::closed)) << "nothing is lent afterwards";
  EXPECT_EQ(rig.pool().counts().open, 0U);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, Abort, testing::Values("banner", "ehlo", "mail", "rcpt", "data", "dot"));

// A listener whose queue is full: the kernel answers nothing.
TEST(Pool, abort_ends_a_connection_that_is_being_made) {
  Rig rig;
  boost::asio::ip::tcp::acceptor deaf(rig.io, {boost::asio::ip::address_v4::loopback(), 0});
  deaf.listen(0);
  std::vector<boost::asio::ip::tcp::socket> queue;
  for (int i = 0; i < 4; ++i) {
    queue.emplace_back(rig.io);
    queue.back().async_connect(deaf.local_endpoint(), [](error_code) {});
  }
  rig.options.port = deaf.local_endpoint().port();
  rig.pool();
  bool ended = false;
  borrow_in_vain(rig, ended);
  const auto begun = SteadyClock::now();
  rig.io.run_for(milliseconds(100));
  EXPECT_FALSE(ended);
  rig.pool().abort();
  EXPECT_TRUE(run_until(rig.io, [&] { return ended; }));
  EXPECT_LT(SteadyClock::now() - begun, seconds(10));
  EXPECT_EQ(rig.pool().counts().open, 0U);
}

TEST(Pool, abort_sends_those_who_wait_away) {
  Rig rig;
  rig.options.pool.max_connections = 1;
  const auto only = borrow(rig);
  bool ended = false;
  borrow_in_vain(rig, ended);
  EXPECT_TRUE(run_until(rig.io, [&] { return rig.pool().counts().waiting == 1; }));
  rig.pool().abort();
  EXPECT_TRUE(run_until(rig.io, [&] { return ended; }));
}

TEST(Pool, is_not_made_from_options_that_can_not_work) {
  Rig rig;
  observe::Log log({});
  auto bad_name = rig.options;
  bad_name.ehlo_name = "two words";
  EXPECT_THROW(Pool(rig.io.get_executor(), bad_name, nullptr, log), std::invalid_argument);
  auto no_context = rig.options;
  no_context.security = Security::tls;
  EXPECT_THROW(Pool(rig.io.get_executor(), no_context, nullptr, log), std::invalid_argument);
}

}  // namespace
}  // namespace mailonce::upstream
