#include "mailonce/net/stream.h"

#include <sys/socket.h>

#include <array>
#include <boost/asio/error.hpp>
#include <cerrno>
#include <cstring>

#include "stream_state.h"

namespace mailonce::net {
namespace {

constexpr milliseconds goodbye_time{1000};

}  // namespace

Stream::Stream(Socket socket) : state_(std::make_shared<State>(std::move(socket))) {
  state_->configure();
}

Stream::Stream(std::shared_ptr<State> state) noexcept : state_(std::move(state)) {}

Stream::Stream(Stream&&) noexcept = default;

Stream& Stream::operator=(Stream&& other) noexcept {
  if (this == &other) return *this;
  close();
  state_ = std::move(other.state_);
  return *this;
}

Stream::~Stream() {
  close();
}

void Stream::close() noexcept {
  if (state_) state_->close();
}

bool Stream::is_open() const noexcept {
  return state_ && state_->socket.is_open();
}

boost::asio::any_io_executor Stream::executor() {
  return state_->socket.get_executor();
}

tcp::endpoint Stream::remote_endpoint() const {
  error_code gone;
  const auto peer = state_->socket.remote_endpoint(gone);
  const int family = gone ? AF_UNSPEC : peer.protocol().family();
  tcp::endpoint out;
  if (family != AF_INET && family != AF_INET6) return out;
  std::memcpy(out.data(), peer.data(), peer.size());
  out.resize(peer.size());
  return out;
}

void Stream::expires_after(milliseconds from_now) {
  state_->set_deadline(SteadyClock::now() + from_now);
}

void Stream::never_expires() {
  state_->set_deadline(State::never);
}

void Stream::cancel_read() {
  if (!state_->reading) return;
  state_->read_cancelled = true;
  error_code ignored;
  state_->socket.cancel(ignored);
}

// The state is held by a local copy: the stream may be destroyed while an operation is pending.
awaitable<Result<std::size_t>> Stream::read_some(std::span<char> into) {
  const auto state = state_;
  if (state->tls) co_return co_await state->read_decrypted(into);
  co_return co_await state->receive(into);
}

awaitable<Result<>> Stream::write(std::span<const std::string_view> pieces, std::size_t* written) {
  const auto state = state_;
  Gather from(pieces);
  std::size_t taken = 0;
  error_code ec;
  if (state->tls) {
    ec = co_await state->write_encrypted(from);
  } else {
    ec = co_await state->send(from, taken);
  }
  if (written != nullptr) *written = taken;
  if (ec) co_return ec;
  co_return Result<>();
}

awaitable<Result<>> Stream::write(std::string_view octets) {
  const std::array<std::string_view, 1> pieces{octets};
  co_return co_await write(pieces);
}

bool Stream::readable_now() {
  if (!is_open()) return true;
  State& state = *state_;
  if (state.tls) {
    bool ended = false;
    state.feed_what_arrived(ended);
    return ended || state.tls->peek() != TlsEngine::Step::need_input;
  }
  for (;;) {
    char octet = 0;
    const ssize_t octets = ::recv(state.socket.native_handle(), &octet, 1, MSG_PEEK | MSG_DONTWAIT);
    if (octets >= 0) return true;
    if (errno != EINTR) return errno != EAGAIN;
  }
}

bool Stream::ended_now() const noexcept {
  if (!is_open()) return true;
  for (;;) {
    char octet = 0;
    const ssize_t octets = ::recv(state_->socket.native_handle(), &octet, 1, MSG_PEEK | MSG_DONTWAIT);
    if (octets >= 0) return octets == 0;
    if (errno != EINTR) return errno != EAGAIN;
  }
}

awaitable<void> Stream::shut_down() {
  const auto state = state_;
  if (!state->socket.is_open()) co_return;
  const auto ends = SteadyClock::now() + goodbye_time;
  state->set_deadline(ends);
  error_code ec;
  if (state->tls) {
    state->tls->close_notify();
    ec = co_await state->flush();
  }
  error_code gone;
  state->socket.shutdown(tcp::socket::shutdown_send, gone);
  std::array<char, 4096> away;
  // A peer that sends without end never lets a read wait, so no deadline would end it.
  while (!ec && !gone && SteadyClock::now() < ends) {
    auto octets = co_await state->receive(away);
    if (!octets) break;
  }
  state->close();
}

}  // namespace mailonce::net
