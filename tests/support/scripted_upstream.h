// A provider on loopback that behaves as a profile says, misbehaves as faults say, and records what it
// accepted. It runs on threads of its own; everything here may be called from any thread. Ends with its
// object.
//
//   ScriptedUpstream upstream(Profile::load("ses"));
//   upstream.arm("dot reply 451 4.3.0 Try again");
//   ... let the relay send to upstream.port() ...
//   EXPECT_TRUE(upstream.wait_for([](const Stats& s) { return s.accepted == 1; }));
//   EXPECT_EQ(upstream.accepted().front().recipients, ...);
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/certificate.h"
#include "support/fault.h"
#include "support/profile.h"
#include "support/recorder.h"

namespace mailonce::test {

struct UpstreamOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: the system's choice
  std::size_t threads = 1;
  std::optional<Certificate> certificate;  // offers STARTTLS
  bool implicit_tls = false;               // TLS from the first octet; needs a certificate
  Recorder::Options record;
};

class ScriptedUpstream {
 public:
  // Listens when it returns. Throws when it can not.
  explicit ScriptedUpstream(Profile profile = Profile::load("plain"), UpstreamOptions options = {});
  ~ScriptedUpstream();
  ScriptedUpstream(const ScriptedUpstream&) = delete;
  ScriptedUpstream& operator=(const ScriptedUpstream&) = delete;

  std::uint16_t port() const noexcept;

  // Faults: see fault.h for the language. Throws std::invalid_argument.
  void arm(std::string_view fault);
  void clear_faults();
  // Lets the sessions go on that `hold`, `accept-then-hold` stopped. Stats::held counts them.
  void go();

  std::vector<Accepted> accepted(std::uint64_t since_serial = 0) const;
  std::vector<std::string> commands() const;
  Stats stats() const;
  bool wait_for(const std::function<bool(const Stats&)>& condition,
                std::chrono::milliseconds at_most = std::chrono::seconds(10)) const;
  // Forgets accepted messages, counters and faults.
  void reset();

  // Refuses connections, and takes them again on the same port.
  void stop_listening();
  void listen_again();
  // Cuts all open connections (RST).
  void drop_connections();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mailonce::test
