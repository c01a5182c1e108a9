// Which upstreams a message may go to, in order: the first that takes it gets it. Decided at the first
// recipient, so by nothing that stands in the message.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "mailonce/message/pattern.h"
#include "mailonce/smtp/envelope.h"
#include "mailonce/upstream/upstream.h"

namespace mailonce::relay {

// Each criterion that is given must be met, by any one of its patterns.
struct Route {
  std::vector<message::Pattern> senders;      // of the envelope; empty for a bounce
  std::vector<message::Pattern> credentials;  // as which user the client logged in; one that did not is none
  std::vector<std::size_t> upstreams;         // places in the configuration, the preferred one first
};

// Of one worker; in the order of the configuration. Owned by whoever made the relay.
using Upstreams = std::vector<upstream::Upstream*>;

// Those for one message, in the order in which they are asked.
using Choice = std::span<upstream::Upstream* const>;

class Router {
 public:
  // `routes` outlives it.
  Router(const std::vector<Route>& routes, Upstreams all);
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  // Of the first route that matches; without one, all. Valid as long as the router.
  Choice choose(const smtp::Sender& sender, std::string_view user) const;
  const Upstreams& all() const noexcept { return all_; }

 private:
  const std::vector<Route>& routes_;
  const Upstreams all_;
  std::vector<Upstreams> of_routes_;
};

// What may be promised to a client that has not named a sender yet: what each of them offers. Those that can
// not be asked now promise nothing and forbid nothing. An error: none could be asked.
boost::asio::awaitable<Result<smtp::Capabilities>> common_capabilities(Upstreams upstreams);

}  // namespace mailonce::relay
