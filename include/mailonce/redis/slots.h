// The arithmetic of a Redis Cluster: which slot a key is in, which node serves it, where an error reply sends
// a command. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "mailonce/base/result.h"
#include "mailonce/redis/options.h"
#include "mailonce/redis/reply.h"

namespace mailonce::redis {

inline constexpr std::uint16_t slot_count = 16384;

// CRC16/XMODEM, as the Cluster specification has it.
std::uint16_t crc16(std::string_view octets) noexcept;
// Of what stands in the key's first pair of braces, if there is something; else of the whole key.
std::uint16_t key_slot(std::string_view key) noexcept;

class SlotMap {
 public:
  SlotMap() { owners_.fill(nobody); }

  // The answer to CLUSTER SLOTS that `asked` gave: a node without a host is `asked` itself, one whose address
  // is not known ("?") serves nothing for us. Errors: Errc::malformed_slots, or what the error reply means.
  static Result<SlotMap> parse(Value answer, const Address& asked);

  // Null: nobody, as far as known. Valid until the map changes.
  const Address* owner(std::uint16_t slot) const noexcept;
  void assign(std::uint16_t slot, const Address& owner);
  bool empty() const noexcept { return masters_.empty(); }
  // Those that serve slots, without repetition.
  std::vector<Address> masters() const;
  const std::vector<Address>& replicas() const noexcept { return replicas_; }

 private:
  static constexpr std::uint16_t nobody = 0xffff;
  std::uint16_t number_of(const Address& master);

  std::vector<Address> masters_;  // also those that lost their last slot
  std::vector<Address> replicas_;
  std::array<std::uint16_t, slot_count> owners_;  // slot → place in masters_
};

// What an error reply of a node asks of the client.
struct Redirection {
  enum class Kind {
    none,       // an error like any other
    moved,      // the slot is another node's now
    ask,        // this once, behind ASKING, at another node: the slot is on its way there
    try_again,  // the slot is on its way and the keys are in two places
    down,       // the Cluster, or the master of this node, is down: it may be back soon
  };
  Kind kind = Kind::none;
  Address to;

  // Error: Errc::malformed_redirection, of a MOVED or ASK to nowhere. A host left out is that of `asked`.
  static Result<Redirection> parse(std::string_view error_reply, const Address& asked);
};

}  // namespace mailonce::redis
