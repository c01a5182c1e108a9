// One transaction from the first RCPT to the final reply: the product's decision (DESIGN.md §3, §4). It
// always ends in a reply; after the upstream's 2xx that reply is the upstream's, whatever happens to store or
// client (P5).
//
// Calls: recipients() any number of times, then deliver() once, or abandon(). One coroutine at a time.
// deliver() is not cancelled when the client leaves (P6): the session that owns it waits for it.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mailonce/base/blob.h"
#include "mailonce/observe/decision.h"
#include "mailonce/relay/claiming.h"
#include "mailonce/relay/relay.h"
#include "mailonce/relay/upstream_leg.h"

namespace mailonce::relay {

// Whose transaction it is.
struct Origin {
  std::string session;  // id of the session, unique in this process's life
  std::string client;   // address of the client
  // Whether it has left. Asked while nothing is claimed and nothing sent for it; empty: never.
  std::function<bool()> left = {};
  std::string user = {};  // as which it logged in; empty: it did not
  // What its fingerprints never collide across (DESIGN.md §5); empty: one with all that did not log in.
  std::string credential = {};
  // Where its mail goes, when not where the relay's does: its own credential's connections.
  upstream::Upstream* upstream = nullptr;
};

class Transaction {
 public:
  Transaction(Relay& relay, Origin origin);
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  awaitable<std::vector<smtp::Reply>> recipients(smtp::Sender sender, std::span<const smtp::Recipient> asked);
  // `message` and all it points to must stay until it returned. `receive`: how long the body took to arrive.
  awaitable<smtp::Reply> deliver(const Blob& message, std::chrono::microseconds receive);
  // The message came and the session did not take it: malformed, too large, or not to be kept. Logs it.
  void not_taken(std::string reason, smtp::Reply reply);
  // No message will come: the upstream connection is given back.
  void abandon() noexcept { leg_.abandon(); }

 private:
  // What became of the message, for the lines of the log.
  struct Ending {
    observe::Outcome outcome;
    std::string reason;  // empty: as each finding says
    smtp::Reply reply;
  };

  std::vector<Lot> sort_into_lots(std::string_view message) const;
  awaitable<std::vector<Lot>> identify(std::string_view message);
  awaitable<smtp::Reply> send_claimed(std::string_view message);
  awaitable<Transmission> transmit_claimed(std::string_view message);
  awaitable<smtp::Reply> settle(Transmission sent);
  void set_duplicates_apart();

  smtp::Reply replay();
  smtp::Reply refuse(observe::Outcome outcome, const std::string& reason, smtp::Reply reply);
  void log_ending(const Ending& ending);
  observe::Decision decision(observe::Outcome outcome, std::string reason) const;
  observe::Decision decision(const Lot& lot, observe::Outcome outcome, std::string reason) const;
  observe::Decision decision(const Lot& lot, const Finding& finding, const Ending& ending) const;
  void log(observe::Decision decision);

  Relay& relay_;
  Origin origin_;
  UpstreamLeg leg_;
  smtp::Sender sender_;
  std::vector<smtp::Recipient> promised_;  // those the client was told 2xx for
  std::vector<Lot> lots_;                  // of promised_
  std::optional<Claiming> claiming_;       // refers to both
  std::uint64_t octets_ = 0;
  message::HeaderFacts facts_;
  observe::Steps steps_;
  SteadyClock::time_point started_;
};

}  // namespace mailonce::relay
