// Six nodes on 127.0.0.1: three masters and a replica of each.
#pragma once
#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "mailonce/redis/slots.h"
#include "redis_server.h"

namespace mailonce::test {

class RedisCluster {
 public:
  static constexpr std::size_t masters = 3;
  static constexpr std::size_t size = 2 * masters;

  RedisCluster() {
    for (auto& node : nodes_) node = start(free_port());
    for (std::size_t i = 0; i < size; ++i) {
      ids_[i] = told(port(i), {"CLUSTER", "MYID"});
      tell(port(i), {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
      if (i >= masters) continue;
      const auto first = redis::slot_count * i / masters, behind = redis::slot_count * (i + 1) / masters;
      tell(port(i), {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first), std::to_string(behind - 1)});
    }
    auto again = std::chrono::steady_clock::now();
    wait_for("the nodes know each other", [&] {
      bool all_know = true;
      for (std::size_t i = 0; i < size; ++i) all_know = all_know && knows_all(i);
      // A handshake that took too long is forgotten.
      if (!all_know && std::chrono::steady_clock::now() > again) {
        introduce();
        again = std::chrono::steady_clock::now() + std::chrono::seconds(2);
      }
      return all_know;
    });
    for (std::size_t i = masters; i < size; ++i) {
      wait_for("a replica finds its master", [&] {
        return told(port(i), {"CLUSTER", "REPLICATE", ids_[i - masters]}) == "OK";
      });
    }
    settle();
  }

  redis::Options options() const {
    redis::Options out;
    out.topology = redis::Topology::cluster;
    // One is enough to find the others.
    out.servers = {local_address(port(0)), local_address(port(1))};
    return out;
  }

  std::uint16_t port(std::size_t node) const { return nodes_[node]->port(); }
  ServerProcess& node(std::size_t number) { return *nodes_[number]; }
  // The number of the master that serves the slot.
  std::size_t owner(std::uint16_t slot) const {
    const auto found = owner_to(running(), slot);
    if (found == size) throw std::runtime_error("nobody serves slot " + std::to_string(slot));
    return found;
  }
  // Some other master.
  std::size_t other_than(std::size_t master) const {
    for (const int slot : {0, 8000, 16000}) {
      const auto found = owner(static_cast<std::uint16_t>(slot));
      if (found != master) return found;
    }
    throw std::runtime_error("there is one master");
  }

  // What `redis-cli --cluster reshard` does with one slot, in three steps.
  void begin_move(std::uint16_t slot, std::size_t from, std::size_t to) {
    const auto number = std::to_string(slot);
    tell(port(to), {"CLUSTER", "SETSLOT", number, "IMPORTING", ids_[from]});
    tell(port(from), {"CLUSTER", "SETSLOT", number, "MIGRATING", ids_[to]});
  }
  std::size_t move_keys(std::uint16_t slot, std::size_t from, std::size_t to, std::size_t most = 1000) {
    const auto keys =
        tell(port(from), {"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), std::to_string(most)});
    for (std::size_t i = 0; i < keys.value().size(); ++i) {
      tell(port(from), {"MIGRATE", "127.0.0.1", std::to_string(port(to)),
                        std::string(*keys.value()[i].text()), "0", "5000"});
    }
    return keys.value().size();
  }
  // The new owner is told first, then the other masters (a replica refuses to listen). Returns when everybody
  // knows: a replica that takes over before it does would leave the slot to nobody.
  void end_move(std::uint16_t slot, std::size_t to) {
    const auto number = std::to_string(slot);
    tell(port(to), {"CLUSTER", "SETSLOT", number, "NODE", ids_[to]});
    for (std::size_t i = 0; i < size; ++i) {
      if (i != to && nodes_[i]->running()) tell(port(i), {"CLUSTER", "SETSLOT", number, "NODE", ids_[to]});
    }
    for (std::size_t i = 0; i < size; ++i) {
      wait_for("everybody knows the slot's owner",
               [&] { return !nodes_[i]->running() || owner_to(i, slot) == to; });
    }
  }

  // kill -9; returns when its replica has taken over.
  void kill(std::size_t master) {
    nodes_[master]->stop();
    wait_for("a replica takes over", [&] {
      for (std::size_t i = 0; i < size; ++i) {
        if (nodes_[i]->running() && !whole_to(i)) return false;
      }
      return true;
    });
  }
  // What is not running starts again, empty, as a replica of its successor.
  void heal() {
    for (auto& node : nodes_) {
      if (!node->running()) node->start();
    }
    settle();
  }
  // Calls of `command` that ended with an error of this kind, all nodes together ("MOVED", "ASK").
  long errors(const std::string& kind) const {
    long sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      if (!nodes_[i]->running()) continue;
      const auto info = told(port(i), {"INFO", "errorstats"});
      const auto at = info.find("errorstat_" + kind + ":count=");
      if (at != std::string::npos) sum += std::stol(info.substr(info.find('=', at) + 1));
    }
    return sum;
  }

 private:
  std::unique_ptr<ServerProcess> start(std::uint16_t port) {
    const auto number =
        static_cast<std::size_t>(std::find(nodes_.begin(), nodes_.end(), nullptr) - nodes_.begin());
    buses_[number] = free_port();
    auto arguments = server_arguments(port, folder_);
    arguments.insert(arguments.end(),
                     {"--cluster-enabled", "yes", "--cluster-port", std::to_string(buses_[number]),
                      "--cluster-config-file", folder_.file("nodes-" + std::to_string(port) + ".conf"),
                      "--cluster-node-timeout", "600", "--cluster-replica-validity-factor", "0",
                      "--cluster-allow-replica-migration", "no", "--repl-ping-replica-period", "1"});
    return std::make_unique<ServerProcess>(port, arguments);
  }
  std::size_t running() const {
    for (std::size_t i = 0; i < size; ++i) {
      if (nodes_[i]->running()) return i;
    }
    throw std::runtime_error("no node is running");
  }
  std::string figure(std::size_t node, const std::string& name) const {
    const auto info = told(port(node), {"CLUSTER", "INFO"});
    const auto at = info.find(name + ':');
    return at == std::string::npos
               ? ""
               : info.substr(at + name.size() + 1, info.find('\r', at) - at - name.size() - 1);
  }
  void introduce() const {
    for (std::size_t i = 1; i < size; ++i)
      tell(port(0), {"CLUSTER", "MEET", "127.0.0.1", std::to_string(port(i)), std::to_string(buses_[i])});
  }
  bool knows_all(std::size_t node) const {
    const auto nodes = told(port(node), {"CLUSTER", "NODES"});
    return nodes.find("handshake") == std::string::npos &&
           std::all_of(ids_.begin(), ids_.end(),
                       [&](const std::string& id) { return nodes.find(id) != std::string::npos; });
  }
  // That serve slots and are not failing.
  static std::size_t masters_in(const std::string& nodes) {
    std::size_t count = 0;
    for (std::size_t from = 0; from < nodes.size();) {
      const auto end = std::min(nodes.find('\n', from), nodes.size());
      const auto line = nodes.substr(from, end - from);
      const bool serves = line.find(" connected ") != std::string::npos && line.back() != 'd';
      count += line.find("master") != std::string::npos && line.find("fail") == std::string::npos && serves;
      from = end + 1;
    }
    return count;
  }
  std::size_t owner_to(std::size_t asked, std::uint16_t slot) const {
    const auto answer = tell(port(asked), {"CLUSTER", "SLOTS"});
    const auto map = redis::SlotMap::parse(answer.value(), local_address(port(asked)));
    const auto* owner = map ? map->owner(slot) : nullptr;
    for (std::size_t i = 0; owner != nullptr && i < size; ++i) {
      if (port(i) == owner->port) return i;
    }
    return size;
  }
  // Every slot is served, as far as this node knows.
  bool whole_to(std::size_t node) const {
    return figure(node, "cluster_state") == "ok" && figure(node, "cluster_slots_ok") == "16384" &&
           masters_in(told(port(node), {"CLUSTER", "NODES"})) == masters;
  }
  void settle() const {
    for (std::size_t i = 0; i < size; ++i) {
      wait_for("the Cluster is well", [&] {
        const auto info = told(port(i), {"INFO", "replication"});
        const bool replica = info.find("role:slave") != std::string::npos;
        return whole_to(i) && (replica || replicates(port(i)));
      });
    }
  }

  Folder folder_;
  std::array<std::uint16_t, size> buses_{};
  std::array<std::unique_ptr<ServerProcess>, size> nodes_;
  std::array<std::string, size> ids_;
};

}  // namespace mailonce::test
