// Who is connected, and how many may be: counted over all workers, by the client's own address whoever passes
// its connection on. Thread-safe; asked when a connection begins, when its client becomes known or logs in,
// and when it ends, never for a message.
#pragma once
#include <boost/asio/ip/address.hpp>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "mailonce/server/options.h"

namespace mailonce::server {

// Whose mail a connection brings.
struct Client {
  bool local = false;                               // through a Unix socket
  std::optional<boost::asio::ip::address> address;  // nothing: local, or nobody knows
  std::string text() const;                         // for the log: the address, "local" or "unknown"
  bool on_this_host() const { return local || (address && address->is_loopback()); }
};

// Why a connection is not served, as the client is told.
struct Turned {
  int code;
  std::string_view text;
  std::string_view why;  // in the log
};

enum class Standing {
  nobody,    // may not relay, and there is no way to prove otherwise
  stranger,  // must log in first
  known,     // its mail is taken
};
Standing standing_of(const Listener& listener, const Client& client);

class Admission {
 public:
  explicit Admission(const Options& options) : options_(options) {}

  // One connection's place, given back with it. Of one thread.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept;
    Place& operator=(Place&& other) noexcept;
    ~Place();

    // Another client than was said before speaks here: counted for it from now on, or turned away.
    std::optional<Turned> take(const Client& client, Standing standing);
    void logged_in();
    bool stranger() const noexcept { return stranger_; }

   private:
    friend class Admission;
    void leave(const std::lock_guard<std::mutex>& held);
    Admission* in_ = nullptr;
    std::optional<boost::asio::ip::address> address_;
    bool stranger_ = false;
  };

  // Any connection at all. It is counted for no address yet.
  std::optional<Turned> enter(Place& place);

 private:
  std::size_t most_strangers() const noexcept;

  const Options& options_;
  std::mutex mutex_;
  std::size_t connections_ = 0;
  std::size_t strangers_ = 0;
  std::map<boost::asio::ip::address, std::size_t> from_;
};

}  // namespace mailonce::server
