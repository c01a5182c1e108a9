// An upstream without a network: each connection follows a plan, and what was accepted is counted.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "mailonce/upstream/upstream.h"

namespace mailonce::relay::test {

// Where a connection breaks.
enum class Break {
  never,
  borrow,
  envelope,
  recipients,
  data,
  content,
  refused_in_body,  // final_reply comes while the body is written
  send_before_dot,
  refused_before_dot,  // and when only the dot is missing
  send_after_dot,
  accepted_unsaid
};

struct Plan {
  Break broken = Break::never;
  bool reused = false;
  error_code error = make_error_code(upstream::Errc::closed);
  smtp::Reply mail{250, "2.1.0 Ok"};
  std::map<std::string, smtp::Reply> rcpt = {};  // by address; others 250
  smtp::Reply data{354, "Go ahead"};
  smtp::Reply final_reply{250, "2.0.0 Ok: queued as 1"};
};

struct Accepted {
  std::vector<std::string> recipients;
  std::string content;
};

class ScriptedUpstream final : public upstream::Upstream {
 public:
  explicit ScriptedUpstream(std::string name = "scripted") : name_(std::move(name)) {}

  std::deque<Plan> plans;  // one a borrow; afterwards the default plan
  std::vector<Accepted> accepted;
  std::vector<std::string> commands;      // everything said, over all connections
  std::vector<std::size_t> booked;        // by each message
  std::deque<Result<milliseconds>> pace;  // answers to these; afterwards none waits
  std::vector<milliseconds> waited;
  std::function<void()> while_waiting;
  smtp::Capabilities offered;
  int borrowed = 0;
  int fresh = 0;

  boost::asio::awaitable<Result<std::unique_ptr<upstream::Connection>>> borrow(
      upstream::Freshness freshness) override;
  boost::asio::awaitable<Result<smtp::Capabilities>> capabilities() override;
  Result<milliseconds> book(std::size_t recipients) override;
  boost::asio::awaitable<void> wait(milliseconds time) override;
  const std::string& name() const noexcept override { return name_; }
  int copies(const std::string& recipient) const;

 private:
  std::string name_;
};

}  // namespace mailonce::relay::test
