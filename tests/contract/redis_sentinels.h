// A master, a replica and three Sentinels that watch them, with all their periods shortened.
#pragma once
#include <array>
#include <memory>
#include <string>

#include "redis_server.h"

namespace mailonce::test {

class RedisSentinels {
 public:
  static constexpr const char* service = "mail";

  RedisSentinels() {
    wait_for("the replica follows", [this] {
      return told(replica().port(), {"INFO", "replication"}).find("master_link_status:up") !=
             std::string::npos;
    });
    for (std::size_t i = 0; i < sentinels_.size(); ++i) {
      const auto port = free_port();
      const auto file = folder_.write("sentinel" + std::to_string(i) + ".conf", configuration(port));
      sentinels_[i] = std::make_unique<ServerProcess>(port, std::vector<std::string>{file, "--sentinel"});
      shorten_periods(*sentinels_[i]);
    }
    for (const auto& sentinel : sentinels_) {
      wait_for("the Sentinels know each other", [&] { return ready(sentinel->port()); });
    }
  }

  redis::Options options() const {
    redis::Options out;
    out.topology = redis::Topology::sentinel;
    out.service = service;
    out.servers.clear();
    for (const auto& sentinel : sentinels_) out.servers.push_back(local_address(sentinel->port()));
    return out;
  }

  // Of the two: the one the Sentinels name, and the other one.
  ServerProcess& master() { return *servers_[servers_[1]->port() == named() ? 1 : 0]; }
  ServerProcess& replica() { return *servers_[servers_[1]->port() == named() ? 0 : 1]; }
  ServerProcess& sentinel(std::size_t i) { return *sentinels_[i]; }
  void start_sentinel(std::size_t i) {
    sentinels_[i]->start();
    shorten_periods(*sentinels_[i]);
  }

  // The two change roles, in order and with all that was written; returns when the Sentinels say so.
  void fail_over() {
    wait_for("the replica has what was written", [this] { return replicates(master().port()); });
    const auto before = named();
    auto again = std::chrono::steady_clock::now();
    wait_for("the Sentinels name the other one", [&] {
      if (all_name_another_than(before)) return true;
      // On a busy machine they give up: the replica's last answer was too old.
      if (std::chrono::steady_clock::now() < again) return false;
      const bool begun = told(sentinels_[0]->port(), {"SENTINEL", "FAILOVER", service}) == "OK";
      again = std::chrono::steady_clock::now() + std::chrono::milliseconds(begun ? 3000 : 100);
      return false;
    });
  }
  // kill -9 of the master; returns when the Sentinels name the replica.
  void kill_master() {
    const auto before = named();
    master().stop();
    wait_for("the Sentinels name the replica", [&] { return all_name_another_than(before); });
  }
  // What is not running starts and becomes a replica.
  void heal() {
    for (auto& server : servers_) {
      if (!server->running()) server->start();
    }
    wait_for("the replica follows", [this] {
      return told(replica().port(), {"INFO", "replication"}).find("role:slave") != std::string::npos &&
             replicates(master().port());
    });
    for (const auto& sentinel : sentinels_)
      wait_for("the Sentinels see both", [&] { return ready(sentinel->port()); });
  }

 private:
  // Not shorter: a Sentinel takes no replica for good whose last answers are older than a few periods.
  static void shorten_periods(const ServerProcess& sentinel) {
    tell(sentinel.port(), {"SENTINEL", "DEBUG", "INFO-PERIOD", "500", "PUBLISH-PERIOD", "100", "PING-PERIOD",
                           "200", "ASK-PERIOD", "50", "SLAVE-RECONF-TIMEOUT", "500"});
  }
  std::unique_ptr<ServerProcess> server(std::uint16_t port, std::uint16_t master) const {
    auto arguments = server_arguments(port, folder_);
    if (master != 0) {
      arguments.insert(arguments.end(), {"--replicaof", "127.0.0.1 " + std::to_string(master)});
    }
    return std::make_unique<ServerProcess>(port, arguments);
  }
  std::string configuration(std::uint16_t port) const {
    const std::string name(service);
    return "port " + std::to_string(port) + "\nbind 127.0.0.1\nsentinel monitor " + name + " 127.0.0.1 " +
           std::to_string(servers_[0]->port()) + " 2\nsentinel down-after-milliseconds " + name +
           " 300\nsentinel failover-timeout " + name + " 1000\n";
  }
  std::uint16_t named_by(std::uint16_t sentinel) const {
    const auto answer = tell(sentinel, {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", service});
    if (answer.value().size() != 2) return 0;
    return static_cast<std::uint16_t>(std::stoi(std::string(*answer.value()[1].text())));
  }
  std::uint16_t named() const {
    return sentinels_[0] ? named_by(sentinels_[0]->port()) : servers_[0]->port();
  }
  bool all_name_another_than(std::uint16_t before) const {
    for (const auto& sentinel : sentinels_) {
      if (sentinel->running() && named_by(sentinel->port()) == before) return false;
    }
    return true;
  }
  // One replica that can be promoted, two other Sentinels.
  static bool ready(std::uint16_t sentinel) {
    const auto answer = tell(sentinel, {"SENTINEL", "MASTER", service});
    std::string flags, replicas, others;
    for (std::size_t i = 0; i + 1 < answer.value().size(); i += 2) {
      const auto name = answer.value()[i].text().value_or("");
      const std::string value(answer.value()[i + 1].text().value_or(""));
      if (name == "flags") flags = value;
      if (name == "num-slaves") replicas = value;
      if (name == "num-other-sentinels") others = value;
    }
    if (flags != "master" || replicas != "1" || others != "2") return false;
    const auto list = tell(sentinel, {"SENTINEL", "REPLICAS", service});
    for (std::size_t i = 0; list.value().size() == 1 && i + 1 < list.value()[0].size(); i += 2) {
      const auto name = list.value()[0][i].text().value_or("");
      const auto value = list.value()[0][i + 1].text().value_or("");
      if (name == "flags" && value != "slave") return false;
      if (name == "master-link-status" && value != "ok") return false;
    }
    return list.value().size() == 1;
  }

  Folder folder_;
  std::array<std::unique_ptr<ServerProcess>, 2> servers_ = [this] {
    auto master = server(free_port(), 0);
    auto replica = server(free_port(), master->port());
    return std::array<std::unique_ptr<ServerProcess>, 2>{std::move(master), std::move(replica)};
  }();
  std::array<std::unique_ptr<ServerProcess>, 3> sentinels_;
};

}  // namespace mailonce::test
