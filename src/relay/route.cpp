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

Upstreams upstreams_for(const std::vector<Route>& routes, const Upstreams& all, const smtp::Sender& sender,
                        std::string_view user) {
  if (routes.empty()) return all;
  const auto address = sender.address.normalized();
  const auto is_its = [&](const Route& route) {
    if (!route.credentials.empty() && user.empty()) return false;
    return met(route.credentials, user) && met(route.senders, address);
  };
  const auto found = std::find_if(routes.begin(), routes.end(), is_its);
  if (found == routes.end()) return all;
  Upstreams chosen;
  for (const auto place : found->upstreams) chosen.push_back(all.at(place));
  return chosen;
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
