#include "stream_state.h"

#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>

namespace mailonce::net {
namespace {

constexpr auto tuple_awaitable = boost::asio::as_tuple(boost::asio::use_awaitable);

// One sendmsg of what fits into its array; -1 with errno.
ssize_t send_now(int descriptor, const Gather& from) {
  std::array<iovec, 64> parts;
  std::size_t count = 0;
  from.each([&](std::string_view piece) {
    parts[count++] = {const_cast<char*>(piece.data()), piece.size()};
    return count < parts.size();
  });
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = count;
  return ::sendmsg(descriptor, &message, MSG_NOSIGNAL);
}

// tcp(7) on Linux; Asio has no name for it.
using NotSentLowWater = boost::asio::detail::socket_option::integer<IPPROTO_TCP, TCP_NOTSENT_LOWAT>;

}  // namespace

void Stream::State::configure() {
  error_code ignored;
  socket.non_blocking(true, ignored);
  // A socket of another family (a test's socketpair) has no such option; nothing is lost.
  socket.set_option(tcp::no_delay(true), ignored);
  // What the kernel took and has not sent yet stays small: a peer that cuts a large body is then noticed
  // before the final dot is handed over, and the cut is no doubt (DESIGN.md §3.5).
  socket.set_option(NotSentLowWater(128 * 1024), ignored);
}

void Stream::State::close() noexcept {
  error_code ignored;
  socket.close(ignored);
  timer.cancel();
}

void Stream::State::set_deadline(SteadyClock::time_point at) {
  deadline = at;
  expired = false;
  if (waiting > 0 && deadline < armed_for) arm();
}

void Stream::State::arm() {
  armed_for = deadline;
  timer.expires_at(deadline);
  timer.async_wait([weak = weak_from_this(), current = ++generation](error_code) {
    const auto state = weak.lock();
    if (state && state->generation == current) state->on_timer();
  });
}

void Stream::State::on_timer() {
  armed_for = never;
  if (waiting == 0) return;
  if (SteadyClock::now() < deadline) {
    if (deadline != never) arm();
    return;
  }
  expired = true;
  error_code ignored;
  socket.cancel(ignored);
}

error_code Stream::State::why(error_code ec) const noexcept {
  if (ec == boost::asio::error::operation_aborted && expired && socket.is_open())
    return boost::asio::error::timed_out;
  return ec;
}

awaitable<error_code> Stream::State::connect(tcp::endpoint endpoint) {
  const Wait wait(*this);
  auto [ec] = co_await socket.async_connect(endpoint, tuple_awaitable);
  co_return why(ec);
}

awaitable<Result<std::size_t>> Stream::State::receive(std::span<char> into) {
  const Wait wait(*this);
  reading = true;
  auto [ec, octets] =
      co_await socket.async_read_some(boost::asio::buffer(into.data(), into.size()), tuple_awaitable);
  reading = false;
  const bool cancelled = std::exchange(read_cancelled, false);
  if (!ec) co_return octets;
  co_return cancelled ? ec : why(ec);
}

awaitable<error_code> Stream::State::send(Gather& from, std::size_t& taken) {
  while (!from.done()) {
    if (!socket.is_open()) co_return error_code(boost::asio::error::operation_aborted);
    const ssize_t octets = send_now(socket.native_handle(), from);
    if (octets >= 0) {
      from.advance(static_cast<std::size_t>(octets));
      taken += static_cast<std::size_t>(octets);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) co_return error_code(errno, boost::system::system_category());
    const Wait wait(*this);
    auto [ec] = co_await socket.async_wait(Socket::wait_write, tuple_awaitable);
    ec = why(ec);
    // Aborted without a time-out: cancel_read() meant the read beside us.
    if (ec && ec != boost::asio::error::operation_aborted) co_return ec;
  }
  co_return error_code();
}

}  // namespace mailonce::net
