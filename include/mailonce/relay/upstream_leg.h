// A transaction's way to the upstream: the envelope at RCPT time (cut-through, DESIGN.md §3.1) and the
// message at the end, with everything before the final dot done again on a fresh connection when one breaks
// (§3.5), and at the next upstream when one fails altogether. It decides nothing about duplicates.
//
// One transaction, one coroutine. Destroying it gives the connection back.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mailonce/relay/route.h"
#include "mailonce/upstream/upstream.h"
#include "mailonce/window/window.h"

namespace mailonce::relay {

using boost::asio::awaitable;

// How far a message came.
struct Transmission {
  enum class End {
    answered,  // the upstream's final reply, whatever its code: definite
    refused,   // a refusal before the dot (RCPT on a fresh connection, DATA), or no connection: definite,
               // nothing sent
    barred,    // the gate did not open: nothing sent
    unknown,   // the dot was sent and no reply came: doubt
  } end = End::refused;
  smtp::Reply reply;  // answered, refused
  error_code error;   // refused for want of a connection, barred by an error, unknown
};

class UpstreamLeg {
 public:
  class Gate {
   public:
    virtual ~Gate() = default;
    // DATA comes next: what open() waits for may begin.
    virtual void start() = 0;
    // Asked before the dot is written, once a connection; `sending` opens it. An error or `lost`: nothing is
    // sent.
    virtual awaitable<Result<window::Begun>> open() = 0;
  };

  // The first of `upstreams` is asked, the next ones only when it can not serve. Before anything else, once.
  void route(Choice upstreams) { upstreams_ = upstreams; }
  bool routed() const noexcept { return !upstreams_.empty(); }

  // Asks the upstream about `recipients`; the replies are its own, in order. Those accepted are remembered.
  // `sender` is the same in every call of a transaction.
  awaitable<std::vector<smtp::Reply>> add(smtp::Sender sender, std::span<const smtp::Recipient> recipients);

  // The one that is asked now, or was last.
  const std::string& upstream_name() const noexcept { return upstream().name(); }

  const std::vector<smtp::Recipient>& accepted() const noexcept { return accepted_; }
  // From now on the envelope is for these alone: what was begun upstream is reset.
  void narrow(std::vector<smtp::Recipient> recipients);

  // Sends the message (`pieces`, one after the other) to the accepted recipients. Not cancellable.
  awaitable<Transmission> transmit(std::span<const std::string_view> pieces, Gate& gate);

  // Gives the connection back.
  void abandon() noexcept { connection_.reset(); }

 private:
  awaitable<Result<upstream::EnvelopeReplies>> open(std::span<const smtp::Recipient> recipients,
                                                    int& attempts);
  awaitable<std::optional<Transmission>> reopen(int& attempts);
  awaitable<std::optional<Transmission>> try_once(std::span<const std::string_view> pieces, Gate& gate);
  awaitable<Result<upstream::EnvelopeReplies>> open_here(std::span<const smtp::Recipient> recipients,
                                                         int& attempts);
  awaitable<Result<>> keep_pace();
  bool worth_another(const error_code& error, int attempts) const;
  bool go_on_to_next(int& attempts, const smtp::Reply& instead);
  smtp::Reply as_told(smtp::Reply reply) const;
  upstream::Upstream& upstream() const noexcept { return *upstreams_[at_]; }

  Choice upstreams_;
  std::size_t at_ = 0;  // in upstreams_: never back within one transaction
  smtp::Sender sender_;
  std::vector<smtp::Recipient> accepted_;
  std::unique_ptr<upstream::Connection> connection_;
  bool envelope_open_ = false;              // the connection has an envelope for accepted_
  bool paced_ = false;                      // the upstream's rate has room for this message
  std::optional<smtp::Reply> passed_over_;  // what the preferred upstream's failure would have been told as
  std::optional<smtp::Reply>
      mail_refusal_;  // MAIL was refused or no connection was had: the answer to every RCPT
  error_code last_error_;
};

}  // namespace mailonce::relay
