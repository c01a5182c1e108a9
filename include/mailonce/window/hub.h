// Wakes transactions that wait for another attempt of this process on the same fingerprint, across its
// workers.
#pragma once
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "mailonce/base/clock.h"
#include "mailonce/base/digest.h"

namespace mailonce::window {

using boost::asio::awaitable;

// Thread-safe. Without waiters notify() is one atomic load. A notification that falls between a `busy` answer
// and wait() is not seen: `at_most` bounds what that costs.
class Hub {
 public:
  // On the calling coroutine's executor; returns at notify() or after `at_most`.
  awaitable<void> wait(Digest fingerprint, milliseconds at_most);
  void notify(const Digest& fingerprint);

 private:
  struct Waiter;
  struct Hash {
    std::size_t operator()(const Digest& digest) const noexcept;
  };

  std::atomic<std::size_t> waiting_{0};
  std::mutex mutex_;
  std::unordered_multimap<Digest, std::shared_ptr<Waiter>, Hash> waiters_;
};

}  // namespace mailonce::window
