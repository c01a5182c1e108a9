// What a pool and the connections it lent share.
#pragma once
#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <list>
#include <optional>
#include <set>

#include "mailonce/upstream/pool.h"
#include "session.h"

namespace mailonce::upstream {

struct Pool::State : std::enable_shared_from_this<State> {
  State(boost::asio::any_io_executor on, std::shared_ptr<const Environment> shared, bool of_clients)
      : executor(std::move(on)),
        environment(std::move(shared)),
        clients_credentials(of_clients),
        crowd_ends(executor),
        reaper(executor) {}

  // A borrower waiting for its turn. It stands in the queue as long as it exists and nothing was granted.
  struct Waiter {
    Waiter(State& state, Freshness wanted, SteadyClock::time_point until);
    ~Waiter();
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    void grant(std::unique_ptr<Session> given);

    State& state;
    const Freshness freshness;
    boost::asio::steady_timer turn;    // cancelled when granted
    bool granted = false;              // a place is ours
    std::unique_ptr<Session> session;  // and perhaps a connection in it
    std::list<Waiter*>::iterator position;
  };

  static awaitable<Result<std::unique_ptr<Connection>>> borrow(std::shared_ptr<State> state,
                                                               Freshness freshness);

  // A session in a place that was reserved.
  static awaitable<Result<std::unique_ptr<Session>>> connect(std::shared_ptr<State> state);
  // What a failure to connect says of the upstream. The place it was to come into is still taken.
  void note_failure(const error_code& error);
  // The upstream takes no more connections than there are now. After a while, longer each time, one more is
  // tried.
  bool crowded() const noexcept { return taken_at_most != 0; }
  void note_crowd(std::size_t others);
  void end_crowd();
  // How many places there are now.
  std::size_t places() const noexcept;
  // A place that is free, to who waits longest.
  void offer_place();
  // Finds out in the background whether an upstream that failed answers again. False: not now.
  bool probe();

  const PoolLimits& limits() const noexcept { return environment->options.pool; }
  bool worn_out(const Session& session) const;
  // A place for a new connection, at an idle one's cost if need be.
  bool reserve();
  void free_place();
  // The connection used last that is still fit, or none.
  std::unique_ptr<Session> take_idle();
  void give_back(std::unique_ptr<Session> session);
  // Says goodbye in the background; its place is free at once.
  void discard(std::unique_ptr<Session> session);
  void reset_then_give_back(std::unique_ptr<Session> session);
  void close_idle();
  void arm_reaper();
  void reap();
  void spawn(awaitable<void> (*work)(std::shared_ptr<State>, std::unique_ptr<Session>),
             std::unique_ptr<Session> session);

  void announce(const smtp::Capabilities& capabilities);
  // Finds out what the upstream offers, in the background.
  void learn();
  // After announce(), at the end of learn() or probe(), or when `at_most` is over.
  awaitable<void> learned(milliseconds at_most);

  const boost::asio::any_io_executor executor;
  const std::shared_ptr<const Environment> environment;
  const bool clients_credentials;
  std::deque<std::unique_ptr<Session>> idle;  // the one used last at the back
  std::size_t open = 0;                       // places taken
  std::size_t taken_at_most = 0;              // by a crowded upstream, 0: it is not known to be
  milliseconds crowd_pause{};                 // how long the last one lasted
  boost::asio::steady_timer crowd_ends;
  std::list<Waiter*> waiters;
  boost::asio::steady_timer reaper;
  bool reaper_armed = false;
  bool draining = false;
  bool aborted = false;
  LiveConnections live;
  std::optional<smtp::Capabilities> announced;
  bool learning = false;
  error_code why_not_learned;
  SteadyClock::time_point learn_again{};  // before it nobody waits long for what could not be learned
  std::set<boost::asio::steady_timer*> curious;
  std::set<boost::asio::steady_timer*> pacing;
};

}  // namespace mailonce::upstream
