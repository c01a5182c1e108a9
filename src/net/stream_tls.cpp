// TLS over the state's socket: moves octets between the machine and the socket, decides nothing.
#include <sys/socket.h>

#include <array>
#include <boost/asio/error.hpp>
#include <cerrno>

#include "mailonce/net/tls.h"
#include "stream_state.h"

namespace mailonce::net {
namespace {

using Step = TlsEngine::Step;

constexpr std::size_t ciphertext_octets = 17 * 1024;  // one record with its overhead
constexpr std::size_t output_octets_before_a_flush = 64 * 1024;

}  // namespace

awaitable<error_code> Stream::State::flush() {
  error_code result;
  while (!result && !tls->output().empty()) {
    const std::array<std::string_view, 1> output{tls->output()};
    Gather from(output);
    std::size_t taken = 0;
    result = co_await send(from, taken);
    tls->consume_output(taken);
  }
  co_return result;
}

awaitable<error_code> Stream::State::handshake() {
  ciphertext.resize(ciphertext_octets);
  for (;;) {
    const Step step = tls->handshake();
    auto ec = co_await flush();  // after a failure: the alert
    if (step == Step::failed) co_return tls->error();
    if (step == Step::closed) co_return error_code(boost::asio::error::eof);
    if (ec || step == Step::done) co_return ec;
    auto octets = co_await receive(ciphertext);
    if (!octets) co_return octets.error();
    tls->feed({ciphertext.data(), *octets});
  }
}

awaitable<Result<std::size_t>> Stream::State::read_decrypted(std::span<char> into) {
  for (;;) {
    std::size_t octets = 0;
    const Step step = tls->read(into, octets);
    if (step == Step::done) co_return octets;
    if (step == Step::closed) co_return error_code(boost::asio::error::eof);
    if (step == Step::failed) co_return tls->error();
    auto arrived = co_await receive(ciphertext);
    if (!arrived) co_return arrived.error();  // the socket's end without a close_notify: eof, nothing more
    tls->feed({ciphertext.data(), *arrived});
  }
}

awaitable<error_code> Stream::State::write_encrypted(Gather& from) {
  while (!from.done()) {
    while (!from.done() && tls->output().size() < output_octets_before_a_flush) {
      if (tls->write(from) != Step::done) co_return tls->error();
    }
    auto ec = co_await flush();
    if (ec) co_return ec;
  }
  co_return error_code();
}

void Stream::State::feed_what_arrived(bool& ended) {
  for (;;) {
    const ssize_t octets = ::recv(socket.native_handle(), ciphertext.data(), ciphertext.size(), MSG_DONTWAIT);
    if (octets > 0) {
      tls->feed({ciphertext.data(), static_cast<std::size_t>(octets)});
      continue;
    }
    if (octets < 0 && errno == EINTR) continue;
    ended = octets == 0 || errno != EAGAIN;
    return;
  }
}

awaitable<Result<>> Stream::start_tls_client(boost::asio::ssl::context& context, std::string name) {
  const auto state = state_;
  state->tls.emplace(TlsEngine::client(context.native_handle(), name));
  auto ec = co_await state->handshake();
  if (ec) co_return ec;
  co_return Result<>();
}

awaitable<Result<>> Stream::start_tls_server(boost::asio::ssl::context& context, std::string_view early) {
  const auto state = state_;
  state->tls.emplace(TlsEngine::server(context.native_handle()));
  if (!early.empty()) state->tls->feed(early);
  auto ec = co_await state->handshake();
  if (ec) co_return ec;
  co_return Result<>();
}

bool Stream::secure() const noexcept {
  return state_->tls.has_value();
}

std::string Stream::tls_description() const {
  return state_->tls ? state_->tls->description() : std::string();
}

std::string Stream::tls_failure() const {
  const long result = state_->tls ? state_->tls->verification_result() : X509_V_OK;
  return result == X509_V_OK ? std::string() : std::string(X509_verify_cert_error_string(result));
}

std::string Stream::peer_name() const {
  return state_->tls ? state_->tls->peer_name() : std::string();
}

error_code Stream::certificate_error() const {
  const long result = state_->tls ? state_->tls->verification_result() : X509_V_OK;
  return {static_cast<int>(result), certificate_category()};
}

}  // namespace mailonce::net
