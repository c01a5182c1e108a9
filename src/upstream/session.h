// One SMTP session with the upstream: made and logged in, then any number of transactions, then QUIT.
// Implements the steps that upstream.h promises; whose turn it is, is the pool's business.
#pragma once
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "body.h"
#include "mailonce/net/connector.h"
#include "mailonce/observe/log.h"
#include "mailonce/upstream/breaker.h"
#include "mailonce/upstream/options.h"
#include "mailonce/upstream/pacer.h"
#include "mailonce/upstream/upstream.h"
#include "wire.h"

namespace mailonce::upstream {

// What every session of a pool shares.
struct Environment {
  Options options;
  std::shared_ptr<boost::asio::ssl::context> tls;  // null: plain
  observe::Log& log;
  std::shared_ptr<Breaker> breaker;
  std::shared_ptr<Pacer> pacer;  // null: no rate

  // What becomes of the breaker, and the events that tell it.
  void lost(Errc why) const;
  void reached() const;
  // The upstream asks for slower mail.
  void slow_down() const;

  // One event a failure. `reason` must hold no secret.
  void report(std::string_view phase, Errc errc, std::string_view reason, bool stale = false) const;
};

class Session;

// What a pool can end at once: connections being made, and sessions that are set up or lent.
struct LiveConnections {
  std::set<net::Connector*> connecting;
  std::set<Session*> sessions;
  std::optional<smtp::Reply> auth_refusal;  // of the last login that was refused
  // What is under way on them ends with Errc::closed or unreachable.
  void abort() noexcept;
};

class Session {
 public:
  enum class Stage {
    idle,      // no transaction
    envelope,  // MAIL was accepted or may have been
    body,      // 354 was said: whatever is written now is message
    broken,    // of no use
  };

  // Connects, makes TLS, logs in. Every failure is reported. Meanwhile it stands in `live`, which must
  // outlive this.
  static awaitable<Result<std::unique_ptr<Session>>> open(std::shared_ptr<const Environment> environment,
                                                          LiveConnections& live);

  const smtp::Capabilities& capabilities() const noexcept { return capabilities_; }
  Stage stage() const noexcept { return stage_; }
  std::uint64_t messages() const noexcept { return messages_; }
  SteadyClock::time_point opened_at() const noexcept { return opened_at_; }
  bool quiet() { return wire_.quiet(); }
  // Whatever is under way ends with Errc::closed.
  void abort() noexcept { wire_.stream().close(); }
  bool reused = false;
  SteadyClock::time_point idle_since{};

  awaitable<Result<EnvelopeReplies>> envelope(const smtp::Sender& sender,
                                              std::span<const smtp::Recipient> recipients);
  awaitable<Result<std::vector<smtp::Reply>>> recipients(std::span<const smtp::Recipient> recipients);
  awaitable<Result<smtp::Reply>> data();
  awaitable<Result<std::optional<smtp::Reply>>> content(std::span<const std::string_view> pieces);
  awaitable<SendOutcome> send();

  // Ends the envelope; the stage says whether it worked.
  awaitable<void> reset();
  // QUIT, a short wait for its answer, close. Inside a body or broken: close.
  awaitable<void> quit();

 private:
  Session(std::shared_ptr<const Environment> environment, net::Stream stream);
  std::string_view lacks(const smtp::Sender& sender,
                         std::span<const smtp::Recipient> recipients) const noexcept;
  awaitable<Result<>> set_up(LiveConnections& live);
  awaitable<Result<>> make_tls();
  awaitable<Result<>> write_commands(std::string_view phase);
  awaitable<Result<smtp::Reply>> read_reply(std::string_view phase);
  awaitable<Result<EnvelopeReplies>> envelope_in_one_flight(const smtp::Sender& sender,
                                                            std::span<const smtp::Recipient> recipients);
  awaitable<Result<EnvelopeReplies>> envelope_step_by_step(const smtp::Sender& sender,
                                                           std::span<const smtp::Recipient> recipients);
  awaitable<Result<std::vector<smtp::Reply>>> ask_recipients(std::span<const smtp::Recipient> recipients);
  bool gave_up(std::string_view phase);
  awaitable<Result<smtp::Reply>> early_refusal();
  bool is_stale_notice(const smtp::Reply& reply, bool at_recipient) const noexcept;
  // Notes what a reply means for the connection, or that it is none of this command's.
  Result<smtp::Reply> judge(std::string_view phase, smtp::Reply reply);
  Errc fail(std::string_view phase, Errc errc, std::string_view reason);

  const std::shared_ptr<const Environment> environment_;
  Wire wire_;
  smtp::Capabilities capabilities_;
  Stage stage_ = Stage::idle;
  std::uint64_t messages_ = 0;
  const SteadyClock::time_point opened_at_ = SteadyClock::now();
  std::string commands_;  // to be written, kept for its capacity
  Body body_;
  std::vector<std::string_view> slice_;  // of the body, kept for its capacity
};

}  // namespace mailonce::upstream
