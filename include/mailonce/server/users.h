// The users that may log in at a listener, from a file: a line "name:hash" each, the hash as crypt(5) writes
// it (yescrypt "$y$", SHA-512 "$6$", bcrypt "$2b$"); empty lines and "#" comments between. Thread-safe.
#pragma once
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "mailonce/base/clock.h"
#include "mailonce/base/digest.h"

namespace mailonce::server {

class Users {
 public:
  // Throws std::runtime_error that names the file, the line and the cure.
  explicit Users(const std::string& file);

  // Costs what the hash is made to cost, some 10 to 100 ms, whether there is such a user or not; nothing when
  // the same was right in the last five minutes.
  bool verify(std::string_view name, const std::string& password);
  // Whether that was found right in the last five minutes: at once.
  bool known(std::string_view name, std::string_view password);

  // How many verifications are under way or wait for a thread: who calls verify() elsewhere keeps it.
  std::atomic<int> waiting{0};

 private:
  Digest digest_of(std::string_view name, std::string_view password) const;

  std::map<std::string, std::string, std::less<>> hashes_;
  std::string key_;  // of the digests below
  std::mutex mutex_;
  std::map<Digest, SteadyClock::time_point> verified_;  // credential → until when
};

}  // namespace mailonce::server
