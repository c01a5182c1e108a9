#include "mailonce/net/connector.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "stream_state.h"

namespace mailonce::net {
namespace {

using Endpoints = std::vector<tcp::endpoint>;

// getaddrinfo runs in a thread of asio's and can not be interrupted: when it takes too long it is left alone,
// and its result comes to nobody.
struct Lookup {
  explicit Lookup(const boost::asio::any_io_executor& executor) : resolver(executor), done(executor) {}
  tcp::resolver resolver;
  boost::asio::steady_timer done;  // cancelled when the result is there
  std::optional<Result<Endpoints>> result;
};

std::optional<tcp::endpoint> numeric(const std::string& host, const std::string& service) {
  error_code not_an_address;
  const auto address = boost::asio::ip::make_address(host, not_an_address);
  unsigned short port = 0;
  const char* end = service.data() + service.size();
  const auto [last, bad_port] = std::from_chars(service.data(), end, port);
  if (not_an_address || bad_port != std::errc() || last != end) return std::nullopt;
  return tcp::endpoint(address, port);
}

}  // namespace

struct Connector::State {
  bool cancelled = false;
  std::shared_ptr<Lookup> lookup;         // while it is under way
  std::shared_ptr<Stream::State> stream;  // the address being tried

  awaitable<Result<Endpoints>> resolve(std::string host, std::string service,
                                       SteadyClock::time_point deadline);
  awaitable<Result<std::shared_ptr<Stream::State>>> try_in_turn(Endpoints endpoints,
                                                                SteadyClock::time_point deadline);
};

Connector::Connector() : state_(std::make_shared<State>()) {}

Connector::~Connector() = default;

void Connector::cancel() noexcept {
  state_->cancelled = true;
  if (state_->lookup) state_->lookup->done.cancel();
  if (state_->stream) state_->stream->close();
}

awaitable<Result<Endpoints>> Connector::State::resolve(std::string host, std::string service,
                                                       SteadyClock::time_point deadline) {
  if (const auto endpoint = numeric(host, service)) co_return Endpoints{*endpoint};
  auto executor = co_await boost::asio::this_coro::executor;
  lookup = std::make_shared<Lookup>(executor);
  lookup->done.expires_at(deadline);
  const auto take = [of = lookup](error_code ec, tcp::resolver::results_type results) {
    if (ec) {
      of->result = ec;
    } else {
      Endpoints endpoints;
      for (const auto& entry : results) endpoints.push_back(entry.endpoint());
      of->result = std::move(endpoints);
    }
    of->done.cancel();
  };
  lookup->resolver.async_resolve(host, service, take);
  co_await lookup->done.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  const auto looked_up = std::exchange(lookup, nullptr);
  if (!looked_up->result) co_return error_code(boost::asio::error::timed_out);
  co_return std::move(*looked_up->result);
}

awaitable<Result<std::shared_ptr<Stream::State>>> Connector::State::try_in_turn(
    Endpoints endpoints, SteadyClock::time_point deadline) {
  auto executor = co_await boost::asio::this_coro::executor;
  error_code result = boost::asio::error::host_not_found;
  for (auto left = static_cast<int>(endpoints.size()); left > 0; --left) {
    if (cancelled) co_return error_code(boost::asio::error::operation_aborted);
    const auto now = SteadyClock::now();
    if (now >= deadline) co_return error_code(boost::asio::error::timed_out);
    stream = std::make_shared<Stream::State>(tcp::socket(executor));
    stream->set_deadline(now + (deadline - now) / left);
    result = co_await stream->connect(endpoints[endpoints.size() - static_cast<std::size_t>(left)]);
    if (!result) co_return std::exchange(stream, nullptr);
  }
  co_return result;
}

// The state is held by a local copy: the connector may be destroyed while it connects.
awaitable<Result<Stream>> Connector::connect(std::string host, std::string service, milliseconds at_most) {
  const auto state = state_;
  const auto deadline = SteadyClock::now() + at_most;
  auto endpoints = co_await state->resolve(std::move(host), std::move(service), deadline);
  if (state->cancelled) co_return error_code(boost::asio::error::operation_aborted);
  if (!endpoints) co_return endpoints.error();
  auto stream = co_await state->try_in_turn(std::move(*endpoints), deadline);
  if (state->cancelled) co_return error_code(boost::asio::error::operation_aborted);
  if (!stream) co_return stream.error();
  (*stream)->set_deadline(Stream::State::never);
  (*stream)->configure();
  co_return Stream(std::move(*stream));
}

awaitable<Result<Stream>> Stream::connect(std::string host, std::string service, milliseconds at_most) {
  Connector connector;
  auto stream = co_await connector.connect(std::move(host), std::move(service), at_most);
  co_return stream;
}

}  // namespace mailonce::net
