// Stream::connect: name to addresses, each address with its share of the time.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <charconv>
#include <optional>
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

awaitable<Result<Endpoints>> resolve(std::string host, std::string service,
                                     SteadyClock::time_point deadline) {
  if (const auto endpoint = numeric(host, service)) co_return Endpoints{*endpoint};
  auto executor = co_await boost::asio::this_coro::executor;
  const auto lookup = std::make_shared<Lookup>(executor);
  lookup->done.expires_at(deadline);
  lookup->resolver.async_resolve(host, service, [lookup](error_code ec, tcp::resolver::results_type results) {
    if (ec) {
      lookup->result = ec;
    } else {
      Endpoints endpoints;
      for (const auto& entry : results) endpoints.push_back(entry.endpoint());
      lookup->result = std::move(endpoints);
    }
    lookup->done.cancel();
  });
  co_await lookup->done.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
  if (!lookup->result) co_return error_code(boost::asio::error::timed_out);
  co_return std::move(*lookup->result);
}

}  // namespace

awaitable<Result<Stream>> Stream::connect(std::string host, std::string service, milliseconds at_most) {
  const auto deadline = SteadyClock::now() + at_most;
  auto executor = co_await boost::asio::this_coro::executor;
  auto endpoints = co_await resolve(std::move(host), std::move(service), deadline);
  if (!endpoints) co_return endpoints.error();
  error_code result = boost::asio::error::host_not_found;
  for (auto left = static_cast<int>(endpoints->size()); left > 0; --left) {
    const auto now = SteadyClock::now();
    if (now >= deadline) co_return error_code(boost::asio::error::timed_out);
    const auto state = std::make_shared<State>(tcp::socket(executor));
    state->set_deadline(now + (deadline - now) / left);
    result = co_await state->connect((*endpoints)[endpoints->size() - static_cast<std::size_t>(left)]);
    if (result) continue;
    state->set_deadline(State::never);
    state->configure();
    co_return Stream(state);
  }
  co_return result;
}

}  // namespace mailonce::net
