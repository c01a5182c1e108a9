#include "mailonce/redis/slots.h"

#include <algorithm>

#include "mailonce/redis/error.h"
#include "number.h"

namespace mailonce::redis {
namespace {

// Far above the thousand nodes a Cluster may have.
constexpr std::size_t most_nodes = 16384;

constexpr std::array<std::uint16_t, 256> crc_table() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned octet = 0; octet < table.size(); ++octet) {
    unsigned crc = octet << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000) != 0 ? (crc << 1) ^ 0x1021 : crc << 1;
    table[octet] = static_cast<std::uint16_t>(crc);
  }
  return table;
}

// A node as CLUSTER SLOTS names it: host, port, id, …; nothing when its address is not known. Error: it is
// none.
Result<std::optional<Address>> node(Value entry, const Address& asked) {
  if (entry.size() < 2) return make_error_code(Errc::malformed_slots);
  const auto host = entry[0].text();
  const auto port = entry[1].integer();
  if (!host && !entry[0].is_nil()) return make_error_code(Errc::malformed_slots);
  if (!port || *port < 0 || *port > 65535) return make_error_code(Errc::malformed_slots);
  if (*port == 0 || (host && *host == "?")) return std::optional<Address>();
  const bool asked_itself = !host || host->empty();
  return std::optional<Address>(
      Address{asked_itself ? asked.host : std::string(*host), static_cast<std::uint16_t>(*port)});
}

}  // namespace

std::uint16_t crc16(std::string_view octets) noexcept {
  static constexpr auto table = crc_table();
  unsigned crc = 0;
  for (const char octet : octets) {
    crc = ((crc << 8) ^ table[((crc >> 8) ^ static_cast<unsigned char>(octet)) & 0xff]) & 0xffff;
  }
  return static_cast<std::uint16_t>(crc);
}

std::uint16_t key_slot(std::string_view key) noexcept {
  const auto open = key.find('{');
  if (open != std::string_view::npos) {
    const auto close = key.find('}', open + 1);
    if (close != std::string_view::npos && close != open + 1) key = key.substr(open + 1, close - open - 1);
  }
  return crc16(key) % slot_count;
}

Result<SlotMap> SlotMap::parse(Value answer, const Address& asked) {
  if (answer.is_error()) return make_error_code(meaning_of(*answer.text()));
  if (!answer.is_array()) return make_error_code(Errc::malformed_slots);
  SlotMap map;
  for (std::size_t i = 0; i < answer.size(); ++i) {
    const auto range = answer[i];
    if (range.size() < 3) return make_error_code(Errc::malformed_slots);
    const auto first = range[0].integer(), last = range[1].integer();
    if (!first || !last || *first < 0 || *last < *first || *last >= slot_count) {
      return make_error_code(Errc::malformed_slots);
    }
    for (std::size_t n = 2; n < range.size(); ++n) {
      const auto found = node(range[n], asked);
      if (!found) return found.error();
      if (!*found) continue;
      if (map.masters_.size() + map.replicas_.size() > most_nodes)
        return make_error_code(Errc::malformed_slots);
      if (n == 2) {
        const auto owner = map.number_of(**found);
        std::fill(map.owners_.begin() + *first, map.owners_.begin() + *last + 1, owner);
      } else if (std::find(map.replicas_.begin(), map.replicas_.end(), **found) == map.replicas_.end()) {
        map.replicas_.push_back(**found);
      }
    }
  }
  return map;
}

const Address* SlotMap::owner(std::uint16_t slot) const noexcept {
  const auto number = owners_[slot % slot_count];
  return number == nobody ? nullptr : &masters_[number];
}

void SlotMap::assign(std::uint16_t slot, const Address& owner) {
  owners_[slot % slot_count] = number_of(owner);
}

std::vector<Address> SlotMap::masters() const {
  std::vector<bool> serves(masters_.size());
  for (const auto number : owners_) {
    if (number != nobody) serves[number] = true;
  }
  std::vector<Address> out;
  for (std::size_t i = 0; i < masters_.size(); ++i) {
    if (serves[i]) out.push_back(masters_[i]);
  }
  return out;
}

std::uint16_t SlotMap::number_of(const Address& master) {
  const auto found = std::find(masters_.begin(), masters_.end(), master);
  const auto number = static_cast<std::uint16_t>(found - masters_.begin());
  if (found == masters_.end()) masters_.push_back(master);
  return number;
}

Result<Redirection> Redirection::parse(std::string_view error_reply, const Address& asked) {
  const auto space = error_reply.find(' ');
  const auto word = error_reply.substr(0, space);
  Redirection out;
  if (word == "TRYAGAIN") out.kind = Kind::try_again;
  if (word == "CLUSTERDOWN" || word == "MASTERDOWN") out.kind = Kind::down;
  if (word != "MOVED" && word != "ASK") return out;
  // "MOVED 3999 127.0.0.1:6381": the last colon is the port's, an IPv6 address has others and no brackets.
  const auto rest = space == std::string_view::npos ? std::string_view() : error_reply.substr(space + 1);
  const auto behind_slot = rest.find(' ');
  const auto colon = rest.rfind(':');
  if (behind_slot == std::string_view::npos || colon == std::string_view::npos || colon <= behind_slot) {
    return make_error_code(Errc::malformed_redirection);
  }
  const auto slot = number<std::uint16_t>(rest.substr(0, behind_slot));
  const auto host = rest.substr(behind_slot + 1, colon - behind_slot - 1);
  const auto port = number<std::uint16_t>(rest.substr(colon + 1));
  if (!slot || *slot >= slot_count || !port || *port == 0 || host == "?" ||
      host.find_first_of(" \t\r\n") != std::string_view::npos) {
    return make_error_code(Errc::malformed_redirection);
  }
  out.kind = word == "MOVED" ? Kind::moved : Kind::ask;
  out.to = {host.empty() ? asked.host : std::string(host), *port};
  return out;
}

}  // namespace mailonce::redis
