// One client's connection: carries out what the protocol machine asks for. The machine decides what is legal
// (smtp::ServerMachine), the relay decides what happens to a message (relay::Transaction); this is the I/O
// between.
#pragma once
#include <boost/asio/awaitable.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "arrival.h"
#include "mailonce/net/stream.h"
#include "mailonce/relay/transaction.h"
#include "mailonce/server/backend.h"
#include "mailonce/server/door.h"
#include "mailonce/smtp/server_machine.h"
#include "message_rate.h"

namespace mailonce::server {

using boost::asio::awaitable;

class Session {
 public:
  // `options`, `backend` and `rate` outlive the session.
  Session(Arrival arrival, std::string id, const Options& options, Backend& backend, MessageRate& rate);

  // Serves until the client leaves, breaks the rules or is drained. Never throws for what a client does.
  awaitable<void> run();
  // Says 421 as soon as no transaction is under way. From the worker's thread.
  void drain();
  // Ends as soon as the transaction under way has its reply; nothing more is read.
  void abort();
  const std::string& id() const noexcept { return id_; }

 private:
  awaitable<void> read_more(smtp::NeedInput need);
  awaitable<void> flush();
  // session_client.cpp
  smtp::ServerMachineOptions machine_options(const Client& client) const;
  awaitable<bool> meet_client();
  awaitable<bool> become(Client client, Standing standing);
  awaitable<bool> assume(const smtp::ClientFacts& facts);
  void log_proxy(std::string_view reason);
  // session_login.cpp
  awaitable<bool> make_tls();
  void trust_certificate();
  awaitable<void> check(const smtp::Credential& credential);
  awaitable<smtp::Reply> check_user(const smtp::Credential& credential);
  awaitable<smtp::Reply> log_in_upstream(const smtp::Credential& credential);

  relay::Upstreams path() const;
  awaitable<void> ask_capabilities();
  awaitable<void> ask_recipients(smtp::AskRecipients asked);
  awaitable<void> deliver();
  void begin_body();
  void store(std::string_view octets);
  void log_not_taken(const smtp::Abandon& given_up);
  void abandon() noexcept;
  std::span<char> read_buffer(smtp::NeedInput::Phase phase);
  SteadyClock::time_point deadline(const smtp::NeedInput& need);
  void timed_out();

  net::Stream stream_;
  std::string id_;
  const Options& options_;
  const std::shared_ptr<const Door> door_;
  Backend& backend_;
  relay::Relay& relay_;
  MessageRate& rate_;
  const Client peer_;       // at the other end of the socket
  Client current_;          // whose mail it brings
  bool speaks_for_others_;  // XCLIENT may say so
  Admission::Place place_;
  const bool proxied_;      // the peer says first whose connection it passes on
  std::string_view early_;  // in buffer_: read behind a proxy's header, the client's
  std::string client_;      // its address, for the log
  smtp::ServerMachine machine_;
  std::string credential_;                    // what its fingerprints never collide across
  std::string assumed_user_;                  // LOGIN of XCLIENT
  std::string user_;                          // as which the client logged in
  std::shared_ptr<upstream::Pool> upstream_;  // under its own credential
  std::optional<relay::Transaction> transaction_;
  Blob message_;
  SteadyClock::time_point login_ends_;
  SteadyClock::time_point line_started_;  // when the client was first waited for to say it
  SteadyClock::time_point body_started_;
  std::uint64_t body_octets_ = 0;  // of the client's, read for the body
  bool in_body_ = false;
  bool held_back_ = false;  // the transaction is one more than the client may begin now
  std::vector<char> buffer_;
  bool closed_ = false;
  bool reading_ = false;
  bool flushing_ = false;
  bool handshaking_ = false;
  bool draining_ = false;
  bool aborted_ = false;
};

}  // namespace mailonce::server
