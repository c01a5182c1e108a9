// The pool of one worker's connections to one upstream (DESIGN.md §3.5, §6).
//
// The connection used last is lent first, so that the others grow old and go. When all places are taken
// borrowers wait in order, at most PoolLimits::max_wait. Idle ones are closed before the upstream does it,
// politely and in the background; one that has anything to read is never lent.
//
// An upstream that fails is tried in the background (Breaker), and one that takes no further connection while
// it has some of ours is taken to be full: borrowers wait for one of those.
//
// Destroying the pool closes what is idle; connections still lent are closed when they come back.
#pragma once
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <optional>

#include "mailonce/observe/log.h"
#include "mailonce/upstream/breaker.h"
#include "mailonce/upstream/options.h"
#include "mailonce/upstream/pacer.h"
#include "mailonce/upstream/upstream.h"

namespace mailonce::upstream {

// What a pool shares with others of the same upstream; empty: nothing.
struct PoolTies {
  std::shared_ptr<Pacer> pacer = {};      // of all workers
  std::shared_ptr<Breaker> breaker = {};  // of one worker
  bool clients_credentials = false;       // that one is refused says nothing of the upstream
};

class Pool final : public Upstream {
 public:
  // `tls` is needed unless the security is plain; one context serves all workers (make_tls). `log` must
  // outlive everything on `executor`. An empty ehlo_name becomes default_ehlo_name().
  Pool(boost::asio::any_io_executor executor, Options options, std::shared_ptr<boost::asio::ssl::context> tls,
       observe::Log& log, PoolTies ties = {});
  ~Pool() override;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  awaitable<Result<std::unique_ptr<Connection>>> borrow(Freshness freshness) override;
  awaitable<Result<smtp::Capabilities>> capabilities() override;
  Result<milliseconds> book(std::size_t recipients) override;
  awaitable<void> wait(milliseconds time) override;
  const std::string& name() const noexcept override;

  // For a drain: what is idle goes now, what comes back goes then. Borrowing still works.
  void close_idle();

  // At the end of a drain: every connection is closed, lent ones too, and their operations end with
  // Errc::closed. Nothing is lent any more.
  void abort();

  // What the upstream said to the last login it refused, since forget_auth_refusal().
  const std::optional<smtp::Reply>& auth_refusal() const noexcept;
  void forget_auth_refusal() noexcept;

  struct Counts {
    std::size_t open = 0;  // lent, idle, being made or being reset
    std::size_t idle = 0;
    std::size_t waiting = 0;  // borrowers
  };
  Counts counts() const noexcept;

 private:
  struct State;
  friend class LentConnection;
  std::shared_ptr<State> state_;
};

// The context for Options::tls; null when the security is plain. Throws like net::make_client_context.
std::shared_ptr<boost::asio::ssl::context> make_tls(const Options& options);

}  // namespace mailonce::upstream
