// What a Stream holds: the socket, the one lazy timer of its deadline, and the TLS machine.
#pragma once
#include <boost/asio/steady_timer.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "mailonce/net/stream.h"
#include "tls_engine.h"

namespace mailonce::net {

struct Stream::State : std::enable_shared_from_this<State> {
  explicit State(Socket connected_or_not)
      : socket(std::move(connected_or_not)), timer(socket.get_executor()) {}

  void configure();
  void close() noexcept;

  // The socket's operations, ended by the deadline. They carry ciphertext once TLS is on.
  awaitable<error_code> connect(tcp::endpoint endpoint);
  awaitable<Result<std::size_t>> receive(std::span<char> into);
  awaitable<error_code> send(Gather& from, std::size_t& taken);

  // TLS over them.
  awaitable<error_code> handshake();
  awaitable<Result<std::size_t>> read_decrypted(std::span<char> into);
  awaitable<error_code> write_encrypted(Gather& from);
  awaitable<error_code> flush();
  void feed_what_arrived(bool& ended);

  // The timer is armed while something waits, for the deadline at the time or an earlier one. When it comes
  // early it is armed again, so that a deadline that only moves later costs nothing.
  class Wait {
   public:
    explicit Wait(State& state) : state_(state) {
      ++state_.waiting;
      if (state_.deadline < state_.armed_for) state_.arm();
    }
    ~Wait() { --state_.waiting; }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    State& state_;
  };
  void set_deadline(SteadyClock::time_point at);
  void arm();
  void on_timer();
  // Why an operation was aborted.
  error_code why(error_code ec) const noexcept;

  static constexpr SteadyClock::time_point never = SteadyClock::time_point::max();

  Socket socket;
  boost::asio::steady_timer timer;
  SteadyClock::time_point deadline = never;
  SteadyClock::time_point armed_for = never;  // never: not armed
  unsigned generation = 0;                    // of the timer's wait: an older handler says nothing
  int waiting = 0;
  bool expired = false;
  bool reading = false;
  bool read_cancelled = false;

  std::optional<TlsEngine> tls;
  std::vector<char> ciphertext;  // read buffer, once TLS is on
};

}  // namespace mailonce::net
