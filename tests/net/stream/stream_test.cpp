#include "mailonce/net/stream.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "net/run.h"
#include "pair.h"

namespace mailonce::net {
namespace {

using boost::asio::io_context;
using test::run;
using test::run_until;

TEST(Stream, reads_what_the_other_side_wrote) {
  io_context io;
  Pair pair = make_pair(io);
  Stream& near = pair.near;
  Stream& far = pair.far;
  run(io, [&]() -> awaitable<void> {
    auto written = co_await far.write("250 Ok\r\n");
    EXPECT_TRUE(written);
    std::array<char, 64> buffer;
    auto octets = co_await near.read_some(buffer);
    EXPECT_TRUE(octets);
    EXPECT_EQ(std::string_view(buffer.data(), count_of(octets)), "250 Ok\r\n");
  });
}

// More pieces than one sendmsg takes, and more octets than the socket buffers hold.
TEST(Stream, writes_all_pieces_in_order_and_counts_them) {
  io_context io;
  Pair pair = make_pair(io);
  Stream& near = pair.near;
  Stream& far = pair.far;
  std::string sent;
  std::vector<std::string> parts;
  for (int i = 0; i < 5000; ++i) parts.push_back(std::string(static_cast<std::size_t>(i % 3000), letter(i)));
  std::vector<std::string_view> pieces(parts.begin(), parts.end());
  for (const auto& part : parts) sent += part;

  std::size_t written = 0;
  bool write_ended = false;
  boost::asio::co_spawn(
      io,
      [&]() -> awaitable<void> {
        auto done = co_await far.write(pieces, &written);
        EXPECT_TRUE(done);
        write_ended = true;
      },
      boost::asio::detached);
  std::string received;
  run(io, [&]() -> awaitable<void> {
    std::array<char, 8192> buffer;
    while (received.size() < sent.size()) {
      auto octets = co_await near.read_some(buffer);
      if (!octets) break;
      received.append(buffer.data(), *octets);
    }
  });
  EXPECT_TRUE(run_until(io, [&] { return write_ended; }));
  EXPECT_EQ(written, sent.size());
  EXPECT_TRUE(received == sent);
}

TEST(Stream, fails_a_pending_read_at_its_deadline_and_stays_usable) {
  io_context io;
  Pair pair = make_pair(io);
  Stream& near = pair.near;
  Stream& far = pair.far;
  run(io, [&]() -> awaitable<void> {
    std::array<char, 64> buffer;
    near.expires_after(milliseconds(20));
    auto octets = co_await near.read_some(buffer);
    EXPECT_EQ(octets.error(), boost::asio::error::timed_out);
    auto written = co_await near.write("421 4.4.2 Timeout\r\n");
    EXPECT_TRUE(written);
    near.expires_after(seconds(10));
    auto asked = co_await far.write("QUIT\r\n");
    EXPECT_TRUE(asked);
    octets = co_await near.read_some(buffer);
    EXPECT_TRUE(octets);
  });
}

TEST(Stream, a_deadline_that_passed_before_the_read_began_ends_it_too) {
  io_context io;
  Pair pair = make_pair(io);
  Stream& near = pair.near;
  run(io, [&]() -> awaitable<void> {
    std::array<char, 64> buffer;
    near.expires_after(milliseconds(-1));
    auto first = co_await near.read_some(buffer);
    EXPECT_EQ(first.error(), boost::asio::error::timed_out);
    auto second = co_await near.read_some(buffer);
    EXPECT_EQ(second.error(), boost::asio::error::timed_out);
  });
}

TEST(Stream, a_deadline_moved_later_holds_for_the_read_that_already_waits) {
  io_context io;
  Pair pair = make_pair(io);
  Stream& near = pair.near;
  Stream& far = pair.far;
  boost::asio::steady_timer late(io, milliseconds(80));
  near.expires_after(milliseconds(40));
  late.async_wait([&](error_code) { boost::asio::co_spawn(io, far.write("late"), boost::asio::detached); });
  run(io, [&]() -> awaitable<void> {
    std::array<char, 64> buffer;
    boost::asio::post(io, [&] { near.expires_after(seconds(10)); });
    auto octets = co_await near.read_some(buffer);
    EXPECT_EQ(count_of(octets), 4U);
  });
}

TEST(Stream, a_deadline_moved_earlier_holds_for_the_read_that_already_waits) {
  io_context io;
  Pair pair = make_pair(io);
  Stream& near = pair.near;
  near.expires_after(seconds(60));
  run(io, [&]() -> awaitable<void> {
    std::array<char, 64> buffer;
    boost::asio::post(io, [&] { near.expires_after(milliseconds(10)); });
    auto octets = co_await near.read_some(buffer);
    EXPECT_EQ(octets.error(), boost::asio::error::timed_out);
  });
}

TEST(Stream, without_a_deadline_an_old_timer_ends_nothing) {
  io_context io;
  Pair pair = make_pair(io);
  Stream& near = pair.near;
  Stream& far = pair.far;
  boost::asio::steady_timer late(io, milliseconds(60));
  late.async_wait([&](error_code) { boost::asio::co_spawn(io, far.write("late"), boost::asio::detached); });
  near.expires_after(milliseconds(20));
  run(io, [&]() -> awaitable<void> {
    std::array<char, 64> buffer;
    boost::asio::post(io, [&] { near.never_expires(); });
    auto octets = co_await near.read_some(buffer);
    EXPECT_EQ(count_of(octets), 4U);
  });
}

TEST(Stream, a_write_nobody_reads_ends_at_the_deadline_and_says_how_far_it_came) {
  io_context io;
  Pair pair = make_pair(io);
  Stream& near = pair.near;
  const std::string much(64 * 1024 * 1024, 'x');
  const std::array<std::string_view, 1> pieces{much};
  run(io, [&]() -> awaitable<void> {
    std::size_t written = 0;
    near.expires_after(milliseconds(50));
    auto done = co_await near.write(pieces, &written);
    EXPECT_EQ(done.error(), boost::asio::error::timed_out);
    EXPECT_GT(written, 0U);
    EXPECT_LT(written, much.size());
  });
}

TEST(Stream, cancelling_a_read_loses_nothing_and_leaves_the_write_beside_it_alone) {
  io_context io;
  Pair pair = make_pair(io);
  Stream& near = pair.near;
  Stream& far = pair.far;
  const std::string much(16 * 1024 * 1024, 'x');
  bool write_ended = false;
  boost::asio::co_spawn(
      io,
      [&]() -> awaitable<void> {
        auto done = co_await near.write(much);
        EXPECT_TRUE(done);
        write_ended = true;
      },
      boost::asio::detached);
  run(io, [&]() -> awaitable<void> {
    std::array<char, 64> buffer;
    boost::asio::post(io, [&] { near.cancel_read(); });
    auto octets = co_await near.read_some(buffer);
    EXPECT_EQ(octets.error(), boost::asio::error::operation_aborted);
    EXPECT_FALSE(write_ended);
    std::vector<char> away(1024 * 1024);
    std::size_t all = 0;
    while (all < much.size()) {
      auto more = co_await far.read_some(away);
      if (!more) break;
      all += *more;
    }
    EXPECT_EQ(all, much.size());
    auto told = co_await far.write("still here");
    EXPECT_TRUE(told);
    octets = co_await near.read_some(buffer);
    EXPECT_EQ(count_of(octets), 10U);
  });
  EXPECT_TRUE(run_until(io, [&] { return write_ended; }));
}

TEST(Stream, cancelling_when_no_read_is_pending_does_nothing) {
  io_context io;
  Pair pair = make_pair(io);
  Stream& near = pair.near;
  Stream& far = pair.far;
  run(io, [&]() -> awaitable<void> {
    near.cancel_read();
    auto told = co_await far.write("x");
    EXPECT_TRUE(told);
    std::array<char, 64> buffer;
    auto octets = co_await near.read_some(buffer);
    EXPECT_TRUE(octets);
  });
}

TEST(Stream, the_peers_end_is_eof_and_its_reset_an_error) {
  io_context io;
  Pair pair = make_pair(io);
  Stream& near = pair.near;
  Stream& far = pair.far;
  far.close();
  run(io, [&]() -> awaitable<void> {
    std::array<char, 64> buffer;
    auto octets = co_await near.read_some(buffer);
    EXPECT_EQ(octets.error(), boost::asio::error::eof);
  });
  Pair second = make_pair(io);
  Stream& other = second.near;
  Stream& gone = second.far;
  run(io, [&]() -> awaitable<void> {
    auto unread = co_await other.write("never read: closing answers with a reset");
    EXPECT_TRUE(unread);
    gone.close();
    std::array<char, 64> buffer;
    auto octets = co_await other.read_some(buffer);
    EXPECT_EQ(octets.error(), boost::asio::error::connection_reset);
    auto written = co_await other.write("x");
    EXPECT_FALSE(written);
  });
}

TEST(Stream, knows_whether_anything_waits_unread) {
  io_context io;
  Pair pair = make_pair(io);
  Stream& near = pair.near;
  Stream& far = pair.far;
  EXPECT_FALSE(near.readable_now());
  run(io, [&]() -> awaitable<void> {
    auto told = co_await far.write("451");
    EXPECT_TRUE(told);
  });
  EXPECT_TRUE(run_until(io, [&] { return near.readable_now(); }));
  run(io, [&]() -> awaitable<void> {
    std::array<char, 64> buffer;
    auto octets = co_await near.read_some(buffer);
    EXPECT_EQ(count_of(octets), 3U);
  });
  EXPECT_FALSE(near.readable_now());
  far.close();
  EXPECT_TRUE(run_until(io, [&] { return near.readable_now(); }));
}

TEST(Stream, destroying_it_ends_what_is_pending) {
  io_context io;
  auto pair = std::make_unique<Pair>(make_pair(io));
  run(io, [&]() -> awaitable<void> {
    std::array<char, 64> buffer;
    boost::asio::post(io, [&] { pair.reset(); });
    auto octets = co_await pair->near.read_some(buffer);
    EXPECT_EQ(octets.error(), boost::asio::error::operation_aborted);
  });
}

TEST(Stream, leaves_the_io_context_without_work_when_it_is_gone) {
  io_context io;
  {
    Pair pair = make_pair(io);
    Stream& near = pair.near;
    near.expires_after(seconds(600));
    run(io, [&]() -> awaitable<void> {
      std::array<char, 64> buffer;
      boost::asio::post(io, [&] { near.cancel_read(); });
      auto octets = co_await near.read_some(buffer);
      EXPECT_FALSE(octets);
    });
  }
  io.restart();
  io.run_for(seconds(5));
  EXPECT_TRUE(io.stopped());
}

TEST(Stream, says_goodbye_so_that_the_peer_gets_the_last_words) {
  io_context io;
  Pair pair = make_pair(io);
  Stream& near = pair.near;
  Stream& far = pair.far;
  bool gone = false;
  run(io, [&]() -> awaitable<void> {
    auto unread = co_await far.write("RCPT TO:<a@example.org>\r\n");
    EXPECT_TRUE(unread);
    auto told = co_await near.write("421 4.3.2 Bye\r\n");
    EXPECT_TRUE(told);
    boost::asio::co_spawn(
        io,
        [&]() -> awaitable<void> {
          co_await near.shut_down();
          gone = true;
        },
        boost::asio::detached);
    std::array<char, 64> buffer;
    auto octets = co_await far.read_some(buffer);
    EXPECT_EQ(count_of(octets), 15U);
    octets = co_await far.read_some(buffer);
    EXPECT_EQ(octets.error(), boost::asio::error::eof);
    far.close();
  });
  EXPECT_TRUE(run_until(io, [&] { return gone; }));
  EXPECT_FALSE(near.is_open());
}

// Its octets are always there: no read of them waits until a deadline.
TEST(Stream, says_goodbye_in_bounded_time_to_a_peer_that_sends_without_end) {
  io_context io;
  Pair pair = make_pair(io);
  Stream& near = pair.near;
  Stream& far = pair.far;
  bool gone = false;
  auto send = [&]() -> awaitable<void> {
    const std::string octets(64 * 1024, 'x');
    for (bool taken = true; taken;) {
      auto written = co_await far.write(octets);
      taken = written.has_value();
    }
  };
  auto leave = [&]() -> awaitable<void> {
    co_await near.shut_down();
    gone = true;
  };
  boost::asio::co_spawn(io, send, boost::asio::detached);
  boost::asio::co_spawn(io, leave, boost::asio::detached);
  EXPECT_TRUE(run_until(io, [&] { return gone; }));
  EXPECT_FALSE(near.is_open());
}

TEST(StreamConnect, connects_by_address_and_by_name) {
  io_context io;
  tcp::acceptor acceptor(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  const std::string port = std::to_string(acceptor.local_endpoint().port());
  for (const std::string host : {"127.0.0.1", "localhost"}) {
    run(io, [&]() -> awaitable<void> {
      auto stream = co_await Stream::connect(host, port, seconds(5));
      EXPECT_TRUE(stream) << host;
      if (!stream) co_return;
      EXPECT_EQ(stream->remote_endpoint(), acceptor.local_endpoint());
    });
  }
}

TEST(StreamConnect, says_why_there_is_no_connection) {
  io_context io;
  std::string port;
  {
    tcp::acceptor closed(io, tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
    port = std::to_string(closed.local_endpoint().port());
  }
  run(io, [&]() -> awaitable<void> {
    auto refused = co_await Stream::connect("127.0.0.1", port, seconds(5));
    EXPECT_EQ(refused.error(), boost::asio::error::connection_refused);
    auto unknown = co_await Stream::connect("no-such-name.invalid", port, seconds(10));
    EXPECT_FALSE(unknown);
  });
}

// A listener whose queue is full answers no SYN any more.
TEST(StreamConnect, gives_up_when_nobody_answers) {
  io_context io;
  tcp::acceptor deaf(io);
  deaf.open(tcp::v4());
  deaf.bind(tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0));
  deaf.listen(1);
  std::vector<tcp::socket> queue;
  for (int i = 0; i < 8; ++i) {
    queue.emplace_back(io);
    queue.back().async_connect(deaf.local_endpoint(), [](error_code) {});
  }
  run(io, [&]() -> awaitable<void> {
    auto stream = co_await Stream::connect("127.0.0.1", std::to_string(deaf.local_endpoint().port()),
                                           milliseconds(100));
    EXPECT_EQ(stream.error(), boost::asio::error::timed_out);
  });
}

}  // namespace
}  // namespace mailonce::net
