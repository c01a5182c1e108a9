#include "mailonce/relay/route.h"

#include <algorithm>
#include <boost/asio/this_coro.hpp>
#include <deque>

#include "background.h"

namespace mailonce::relay {
namespace {

using boost::asio::awaitable;
using Patterns = std::vector<message::Pattern>;
using Asked = Background<Result<smtp::Capabilities>>;

bool met(const Patterns& patterns, std::string_view text) {
  return patterns.empty() ||
         std::any_of(patterns.begin(), patterns.end(), [&](const auto& each) { return each.matches(text); });
}

}  // namespace

Router::Router(const std::vector<Route>& routes, Upstreams all) : routes_(routes), all_(std::move(all)) {
  for (const auto& route : routes_) {
    auto& own = of_routes_.emplace_back();
    for (const auto place : route.upstreams) own.push_back(all_.at(place));
  }
}

Choice Router::choose(const smtp::Sender& sender, std::string_view user) const {
  if (routes_.empty()) return all_;
  const auto address = sender.address.normalized();
  const auto is_its = [&](const Route& route) {
    if (!route.credentials.empty() && user.empty()) return false;
    return met(route.credentials, user) && met(route.senders, address);
  };
  const auto found = std::find_if(routes_.begin(), routes_.end(), is_its);
  if (found == routes_.end()) return all_;
  return of_routes_[static_cast<std::size_t>(found - routes_.begin())];
}

awaitable<Result<smtp::Capabilities>> common_capabilities(Upstreams upstreams) {
  if (upstreams.size() == 1) co_return co_await upstreams.front()->capabilities();
  auto executor = co_await boost::asio::this_coro::executor;
  std::deque<Asked> asked;  // all at once: one that is not reachable costs no more than its own patience
  for (auto* each : upstreams) asked.emplace_back(executor, [each] { return each->capabilities(); });
  Result<smtp::Capabilities> common = make_error_code(upstream::Errc::unreachable);
  for (auto& answer : asked) {
    auto offered = co_await answer.result();
    if (!offered) {
      if (!common) common = offered.error();
    } else if (!common) {
      common = std::move(offered);
    } else {
      *common = smtp::common(*common, *offered);
    }
  }
  co_return common;
}

}  // namespace mailonce::relay
