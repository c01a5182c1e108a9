// Who is connected, and how many may be: counted over all workers, by the client's own address whoever passes
// its connection on. Thread-safe; asked when a connection begins, when its client becomes known, and when it
// ends, never for a message.
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

// Whether this client's mail is taken without a login.
bool may_relay(const Listener& listener, const Client& client);

class Admission {
 public:
  explicit Admission(const Options& options) : options_(options) {}

  // One connection's place, given back with it.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept;
    Place& operator=(Place&& other) noexcept;
    ~Place();

    // Another client than was said before speaks here: counted for it from now on, or turned away.
    // `speaks_for_others`: who may not relay itself stays all the same, to say with XCLIENT whose session it
    // passes on.
    std::optional<Turned> take(const Listener& listener, const Client& client, bool speaks_for_others);

   private:
    friend class Admission;
    void leave_address(const std::lock_guard<std::mutex>& held);
    Admission* in_ = nullptr;
    std::optional<boost::asio::ip::address> address_;
  };

  // Any connection at all. It is counted for no address yet.
  std::optional<Turned> enter(Place& place);

 private:
  const Options& options_;
  std::mutex mutex_;
  std::size_t connections_ = 0;
  std::map<boost::asio::ip::address, std::size_t> from_;
};

}  // namespace mailonce::server
