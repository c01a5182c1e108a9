// The nodes of a Redis Cluster and the map of their slots (redis.io, "Redis cluster specification").
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "mailonce/redis/slots.h"
#include "server.h"

namespace mailonce::redis {

class Cluster final : public Server, public std::enable_shared_from_this<Cluster> {
 public:
  Cluster(boost::asio::any_io_executor executor, std::shared_ptr<const Options> options);

  awaitable<Result<Reply>> command(Call call, std::string_view key) override;
  awaitable<Result<std::vector<Address>>> masters(SteadyClock::time_point deadline) override;
  std::shared_ptr<Node> node(const Address& address) override;
  void close() override;

 private:
  struct Course;  // of one command through the Cluster

  // The node to send to now; null: nobody serves the slot, and `last_refresh_` says why.
  std::shared_ptr<Node> next(Course& course);
  // Where the command goes after this reply or failure; nothing: it is the answer.
  enum class Then { answer, at_once, after_pause, after_refresh };
  Then judge(Course& course, Result<Reply>& reply);
  awaitable<void> rest(milliseconds& pause, SteadyClock::time_point deadline);

  // Reads the map anew, unless that is under way.
  void refresh();
  awaitable<void> refreshed(SteadyClock::time_point deadline);
  static awaitable<void> read_map(std::shared_ptr<Cluster> self);
  std::vector<Address> sources();
  void take(SlotMap map);

  boost::asio::any_io_executor executor_;
  std::shared_ptr<const Options> options_;
  SlotMap slots_;
  std::map<Address, std::shared_ptr<Node>> nodes_;
  std::vector<std::weak_ptr<Node>> retired_;  // that still answer what was queued
  bool refreshing_ = false;
  SteadyClock::time_point refreshed_at_{};
  error_code last_refresh_;                                          // why it failed
  std::vector<std::shared_ptr<boost::asio::steady_timer>> waiters_;  // for the end of the refresh
  std::minstd_rand random_{std::random_device{}()};
  bool closed_ = false;
};

}  // namespace mailonce::redis
