#include "cluster.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace mailonce::redis {
namespace {

constexpr auto tuple_awaitable = boost::asio::as_tuple(boost::asio::use_awaitable);

// A failover and a resharding at once need no more. Nodes that send a command around do not agree yet, and
// from then on it rests between them.
constexpr int redirections_at_once = 3;
constexpr milliseconds first_pause{2};
constexpr milliseconds longest_pause{50};
constexpr milliseconds between_refreshes{200};

}  // namespace

struct Cluster::Course {
  std::uint16_t slot = 0;
  SteadyClock::time_point deadline;
  std::shared_ptr<Node> at;  // where it was sent last
  bool sent = false;
  std::optional<Address> asked;  // ASK: the next one only
  int redirections = 0;
  bool moving = false;  // TRYAGAIN was the last that was heard of the slot
  milliseconds pause = first_pause;
};

Cluster::Cluster(boost::asio::any_io_executor executor, std::shared_ptr<const Options> options)
    : executor_(std::move(executor)), options_(std::move(options)) {}

void Cluster::close() {
  closed_ = true;
  for (const auto& [address, node] : nodes_) node->close();
  for (const auto& each : retired_) {
    if (const auto node = each.lock()) node->close();
  }
  for (const auto& waiter : waiters_) waiter->cancel();
}

std::shared_ptr<Node> Cluster::node(const Address& address) {
  auto& node = nodes_[address];
  if (!node) node = std::make_shared<Node>(executor_, options_, address);
  if (closed_) node->close();
  return node;
}

std::shared_ptr<Node> Cluster::next(Course& course) {
  if (course.asked) return node(*course.asked);
  const auto* owner = slots_.owner(course.slot);
  return owner == nullptr ? nullptr : node(*owner);
}

awaitable<Result<Reply>> Cluster::command(Call call, std::string_view key) {
  const auto self = shared_from_this();
  Course course;
  course.slot = key_slot(key);
  course.deadline = call.deadline;
  call.sent = &course.sent;
  for (;;) {
    course.at = next(course);
    if (!course.at) {
      co_await refreshed(call.deadline);
      if (slots_.owner(course.slot) != nullptr) continue;
      if (closed_) co_return make_error_code(Errc::closed);
      if (!time_for_more(call.deadline, *options_))
        co_return last_refresh_ ? last_refresh_ : make_error_code(Errc::cluster_down);
      co_await rest(course.pause, call.deadline);
      continue;
    }
    call.asking = course.asked.has_value();
    course.asked.reset();
    auto reply = co_await course.at->command(call);
    const auto then = judge(course, reply);
    if (then == Then::answer) co_return reply;
    if (then == Then::after_refresh) co_await refreshed(call.deadline);
    if (then != Then::at_once) co_await rest(course.pause, call.deadline);
  }
}

// `reply` becomes the answer when it is not already.
Cluster::Then Cluster::judge(Course& course, Result<Reply>& reply) {
  const bool in_time = time_for_more(course.deadline, *options_) && !closed_;
  if (!reply) {
    refresh();
    if (course.moving && !course.sent && reply.error() == Errc::timed_out)
      reply = make_error_code(Errc::slot_moving);
    return course.sent || !in_time ? Then::answer : Then::after_refresh;
  }
  if (!reply->value().is_error()) return Then::answer;
  const auto redirection = Redirection::parse(*reply->value().text(), course.at->address());
  if (!redirection) {
    reply = redirection.error();
    refresh();
    return Then::answer;
  }
  using Kind = Redirection::Kind;
  if (redirection->kind == Kind::none) return Then::answer;
  if (redirection->kind == Kind::down) refresh();
  if (redirection->kind == Kind::try_again || redirection->kind == Kind::down) {
    // The next round may well be sent from here to there again: that is waiting, and time is its bound.
    course.redirections = 0;
    course.moving = redirection->kind == Kind::try_again;
    return in_time ? Then::after_pause : Then::answer;
  }
  if (redirection->kind == Kind::moved) {
    slots_.assign(course.slot, redirection->to);
    // Where one slot moved others did; while many do, each MOVED tells of its own.
    if (SteadyClock::now() - refreshed_at_ > between_refreshes) refresh();
  } else {
    course.asked = redirection->to;
  }
  if (!in_time) {
    const bool around = course.redirections > redirections_at_once;
    reply = make_error_code(course.moving ? Errc::slot_moving
                            : around      ? Errc::too_many_redirections
                                          : Errc::timed_out);
    return Then::answer;
  }
  return ++course.redirections <= redirections_at_once ? Then::at_once : Then::after_pause;
}

awaitable<void> Cluster::rest(milliseconds& pause, SteadyClock::time_point deadline) {
  std::uniform_int_distribution<milliseconds::rep> around(pause.count() / 2, pause.count());
  const auto until = SteadyClock::now() + milliseconds(around(random_));
  pause = std::min(pause * 2, longest_pause);
  boost::asio::steady_timer timer(executor_, std::min(until, deadline));
  co_await timer.async_wait(tuple_awaitable);
}

awaitable<Result<std::vector<Address>>> Cluster::masters(SteadyClock::time_point deadline) {
  const auto self = shared_from_this();
  co_await refreshed(deadline);
  auto out = slots_.masters();
  if (!out.empty()) co_return out;
  co_return last_refresh_ ? last_refresh_ : make_error_code(Errc::cluster_down);
}

void Cluster::refresh() {
  if (refreshing_ || closed_) return;
  refreshing_ = true;
  boost::asio::co_spawn(
      executor_, [self = shared_from_this()] { return read_map(self); },
      [self = shared_from_this()](std::exception_ptr failed) {
        if (failed) self->last_refresh_ = make_error_code(boost::system::errc::not_enough_memory);
        self->refreshing_ = false;
        for (const auto& waiter : self->waiters_) waiter->cancel();
        self->waiters_.clear();
      });
}

awaitable<void> Cluster::refreshed(SteadyClock::time_point deadline) {
  if (closed_) co_return;
  const auto waiter = std::make_shared<boost::asio::steady_timer>(executor_, deadline);
  waiters_.push_back(waiter);
  refresh();
  co_await waiter->async_wait(tuple_awaitable);
}

// Each node in turn until one answers; one that hangs costs its share of the time.
awaitable<void> Cluster::read_map(std::shared_ptr<Cluster> self) {
  const auto until = SteadyClock::now() + self->options_->command_deadline;
  auto sources = self->sources();
  error_code why = Errc::cluster_down;
  while (!sources.empty() && !self->closed_) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - SteadyClock::now());
    const auto share = left / static_cast<int>(sources.size());
    const auto source = sources.back();
    sources.pop_back();
    Client::Words question{"CLUSTER", "SLOTS"};
    auto reply = co_await inquire(self->executor_, self->options_, source, std::move(question), share);
    auto map = reply ? SlotMap::parse(reply->value(), source) : Result<SlotMap>(reply.error());
    if (!map) why = map.error();
    if (!map || map->empty()) continue;
    self->take(std::move(*map));
    self->last_refresh_ = {};
    self->refreshed_at_ = SteadyClock::now();
    co_return;
  }
  self->last_refresh_ = why;
}

// Taken from the end: the masters we know of in random order, then the replicas, then those of the URL.
std::vector<Address> Cluster::sources() {
  auto out = options_->servers;
  const auto add = [&](std::vector<Address> more) {
    std::shuffle(more.begin(), more.end(), random_);
    for (auto& each : more) {
      const auto known = std::find(out.begin(), out.end(), each);
      if (known != out.end()) out.erase(known);
      out.push_back(std::move(each));
    }
  };
  add(slots_.replicas());
  add(slots_.masters());
  return out;
}

void Cluster::take(SlotMap map) {
  slots_ = std::move(map);
  const auto masters = slots_.masters();
  for (auto at = nodes_.begin(); at != nodes_.end();) {
    const bool serves = std::find(masters.begin(), masters.end(), at->first) != masters.end();
    if (!serves) {
      at->second->retire();
      std::erase_if(retired_, [](const auto& each) { return each.expired(); });
      retired_.push_back(at->second);
    }
    at = serves ? std::next(at) : nodes_.erase(at);
  }
}

std::shared_ptr<Server> make_cluster(boost::asio::any_io_executor executor,
                                     std::shared_ptr<const Options> options) {
  return std::make_shared<Cluster>(std::move(executor), std::move(options));
}

}  // namespace mailonce::redis
