// One SMTP session of the scripted upstream. Deliberately plain and unlike mailonce's own server, so that an
// error in one does not hide an error in the other: it buffers whole messages, and finds their end by
// searching.
#pragma once
#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ssl/context.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/channel.h"
#include "support/fault.h"
#include "support/profile.h"
#include "support/recorder.h"

namespace mailonce::test {

// What all sessions of one upstream share.
struct Shared {
  Profile profile;
  FaultPlan plan;
  Recorder recorder;
  std::unique_ptr<boost::asio::ssl::context> tls;  // null: no TLS
  bool implicit_tls = false;
  std::atomic<std::uint64_t> go_generation = 0;  // held sessions wait for it to move
};

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Shared& shared, Channel::Socket socket);
  ~Session();

  boost::asio::awaitable<void> run();
  // Cuts the connection (RST). On the session's own thread.
  void drop();
  boost::asio::any_io_executor executor() { return channel_.executor(); }

 private:
  template <class T = void>
  using awaitable = boost::asio::awaitable<T>;
  using Done = std::function<void()>;

  // session.cpp: octets in and out
  awaitable<bool> start();
  awaitable<bool> handshake();
  awaitable<void> flush();
  awaitable<void> fill();  // more input; open_ false when there is none
  bool take_line(std::string& line);
  void check_octets(std::string_view octets);
  void watch();  // idle and age limits of the profile
  bool too_old() const;
  void say(std::string_view reply);  // a reply as a profile writes it

  // session_commands.cpp
  awaitable<void> command(std::string line);
  awaitable<void> on_ehlo(bool extended);
  awaitable<void> on_starttls();
  awaitable<void> on_auth(std::string argument);
  awaitable<bool> ask(std::string challenge, std::string& answer);
  awaitable<void> on_bearer(std::string initial);
  bool knows(const std::string& user, const std::string& password) const;
  awaitable<void> finish_auth(std::string user, std::string password);
  awaitable<void> on_mail(std::string line);
  awaitable<void> on_rcpt(std::string line);
  awaitable<void> on_data();
  awaitable<void> read_message();
  awaitable<void> on_dot(std::string content);
  std::string refusal_at_dot(std::size_t octets);
  void end_transaction();

  // session_faults.cpp. Answers as the profile has it unless a fault says otherwise; true: the client was
  // told the usual thing, in whatever shape. `done` runs before that, when the matter is settled.
  awaitable<bool> answer(Phase phase, std::string reply, Done done = {});
  awaitable<bool> misbehave(const Fault& fault, std::string reply, Done done);
  awaitable<void> say_oddly(Verb verb, std::uint64_t number, std::string reply);
  awaitable<void> hold();
  awaitable<void> stay_silent();  // until the client leaves
  std::optional<Fault> fault_at(Phase phase);

  Shared& shared_;
  Channel channel_;
  std::uint64_t number_ = 0;  // of the connection
  std::uint64_t transaction_ = 0;
  std::uint64_t messages_ = 0;  // accepted on this connection
  std::string in_, out_;
  std::size_t taken_ = 0;  // octets of in_ already handled
  bool open_ = true;
  bool reading_ = false;
  bool after_cr_ = false;  // the octet before in_'s end was CR
  std::string expired_;    // the line to say because a limit passed
  std::chrono::steady_clock::time_point began_, active_;
  boost::asio::steady_timer watch_;

  std::string user_;
  bool authenticated_ = false;
  bool in_transaction_ = false;
  std::string sender_, mail_parameters_;
  std::vector<std::string> recipients_;  // accepted
  std::vector<std::string> asked_;       // all of the transaction
};

}  // namespace mailonce::test
