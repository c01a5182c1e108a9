// What the window holds for one (fingerprint, recipient): digests, times and the upstream's reply; no
// address, no content (DESIGN.md §4).
#pragma once
#include <string>

#include "mailonce/base/clock.h"
#include "mailonce/smtp/reply.h"

namespace mailonce::window {

enum class State : char { absent = '-', claimed = 'c', sending = 's', sent = 'S' };

struct Record {
  State state = State::absent;
  std::string owner;        // random token of the attempt that wrote it
  TimePoint deadline{};     // claimed, sending: the lease; zero in `sending`: doubt declared by the owner
  TimePoint at{};           // when this state was written, in the store's time
  bool doubtful = false;    // claimed or sending again after doubt: a release returns to doubt
  std::string message_id;   // of the first attempt; empty when it had none
  std::string content;      // content fingerprint, base64url
  std::string upstream;     // sent: name of the upstream that took it
  smtp::Reply reply;        // sent: its reply, replayed to repeats
  bool unreadable = false;  // not a record of this version: doubt about which nothing is known
  bool operator==(const Record&) const = default;
};

}  // namespace mailonce::window
