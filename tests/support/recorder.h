// What the scripted upstream saw and accepted: the oracle of every duplicate test. Thread-safe.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace mailonce::test {

// One message the upstream took responsibility for, whether or not its reply arrived.
struct Accepted {
  std::uint64_t serial = 0;  // from 1 since the start or the last reset
  std::uint64_t connection = 0;
  std::uint64_t transaction = 0;
  std::string sender;
  std::string mail_parameters;  // what stood behind MAIL FROM:<>
  std::vector<std::string> recipients;
  std::string sha256;  // of the octets after un-stuffing, hexadecimal
  std::uint64_t octets = 0;
  std::string content;                       // the octets, if kept
  std::string reply;                         // the final reply, without its line end
  std::string subject, message_id, test_id;  // header fields; test_id is X-Test-Id
  std::string user;                          // authenticated
  bool tls = false;
  std::chrono::system_clock::time_point at;
};

struct Stats {
  std::uint64_t connections = 0, open = 0, most_open = 0;
  std::uint64_t tls_handshakes = 0, tls_failures = 0, auth_ok = 0, auth_failed = 0;
  std::uint64_t mail = 0, rcpt = 0, data = 0, rset = 0, quit = 0;  // commands received
  std::uint64_t dots = 0;                                          // ends of data received
  std::uint64_t accepted = 0;                                      // messages
  std::uint64_t deliveries = 0;                                    // recipients of accepted messages
  std::uint64_t faults = 0;                                        // faults that happened
  std::uint64_t held = 0;                                          // sessions waiting for go() now
  std::uint64_t bare_cr = 0, bare_lf = 0, nul = 0;  // octets that have no place in what a client sends
  std::uint64_t unannounced_pipelining = 0, octets = 0;
};

// A field of Stats by name, for the control channel.
struct NamedCounter {
  std::string_view name;
  std::uint64_t Stats::*counter;
};
const std::vector<NamedCounter>& counters();

class Recorder {
 public:
  using Listener = std::function<void(const Accepted&, std::string_view content)>;

  struct Options {
    bool keep = true;           // remember accepted messages; otherwise they are only counted
    bool keep_content = true;   // with their octets
    bool keep_commands = true;  // remember every command line
    Listener on_accepted;       // called one at a time, before the reply is sent
  };
  explicit Recorder(Options options) : options_(std::move(options)) {}

  template <class F>
  void change(F&& update) {
    {
      std::lock_guard lock(mutex_);
      update(stats_);
    }
    if (waiting_) changed_.notify_all();
  }
  void add(std::uint64_t Stats::*counter, std::uint64_t by = 1) {
    change([&](Stats& stats) { stats.*counter += by; });
  }
  // Counts up and returns the new value: numbers of connections and transactions.
  std::uint64_t next(std::uint64_t Stats::*counter);
  void command(std::uint64_t connection, std::string_view line);
  // Completes `message` (serial, digest, header fields, time) and counts it.
  void accept(Accepted message, std::string_view content);
  // Whether one more message in this running second is within `limit`; it counts only then.
  bool within_rate(std::uint64_t limit);

  Stats stats() const;
  std::vector<Accepted> accepted(std::uint64_t since_serial = 0) const;
  std::vector<std::string> commands() const;  // "3 MAIL FROM:<a@b>": connection and line
  std::uint64_t serial() const;               // of the message that is accepted next
  // False when it did not come true in time.
  bool wait_for(const std::function<bool(const Stats&)>& condition, std::chrono::milliseconds at_most) const;
  // Forgets; open connections and held sessions still count.
  void reset();

 private:
  Options options_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable std::atomic<int> waiting_ = 0;
  std::mutex listener_mutex_;
  Stats stats_;
  std::vector<Accepted> accepted_;
  std::vector<std::string> commands_;
  std::vector<std::chrono::steady_clock::time_point> recent_;
};

}  // namespace mailonce::test
