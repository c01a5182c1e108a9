// The stores under contract, and what a relay process makes of one.
#pragma once
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "mailonce/base/digest.h"
#include "mailonce/base/random.h"
#include "mailonce/observe/log.h"
#include "mailonce/window/attempt.h"
#include "mailonce/window/guarded_store.h"
#include "mailonce/window/protocol_window.h"
#include "mailonce/window/redis_store.h"
#include "mailonce/window/sqlite_store.h"
#include "redis_cluster.h"
#include "redis_sentinels.h"
#include "redis_server.h"

namespace mailonce::test {

enum class Which { memory, sqlite, redis, guarded, tls, sentinel, cluster };
inline constexpr Which stores_under_contract[] = {
    Which::memory, Which::sqlite, Which::redis, Which::guarded, Which::tls, Which::sentinel, Which::cluster};

inline observe::Log& quiet_log() {
  static observe::Log log([] {
    observe::LogOptions options;
    options.file = "/dev/null";
    return options;
  }());
  return log;
}

// Started when a test first asks for them, and shared by all of one program.
inline RedisServer& redis_server() {
  static RedisServer server;
  return server;
}

inline redis::Options tls_redis_server() {
  static const CertificateFiles certificate;
  static const TlsRedisServer server(certificate);
  return server.options();
}

inline RedisSentinels& redis_sentinels() {
  static RedisSentinels sentinels;
  return sentinels;
}

inline RedisCluster& redis_cluster() {
  static RedisCluster cluster;
  return cluster;
}

inline redis::Options redis_options(Which which) {
  switch (which) {
    case Which::tls:
      return tls_redis_server();
    case Which::sentinel:
      return redis_sentinels().options();
    case Which::cluster:
      return redis_cluster().options();
    default:
      return redis_server().options();
  }
}

// What all processes share.
struct Shelf {
  explicit Shelf(Which given) : which(given) {}
  std::shared_ptr<window::Store> store(boost::asio::io_context& io) {
    if (which == Which::memory) return {memory, memory.get()};
    if (which == Which::sqlite) {
      auto writer =
          window::make_sqlite_writer({(folder.path / "window.db").string()});  // each process its own
      return std::make_shared<window::SqliteStore>(io.get_executor(), std::move(writer));
    }
    return std::make_shared<window::RedisStore>(io.get_executor(), redis_options(which), prefix);
  }

  Which which;
  Folder folder;
  SystemClock clock;
  std::shared_ptr<window::MemoryStore> memory =
      std::make_shared<window::MemoryStore>(window::MemoryOptions{}, clock);
  std::string prefix = random_token() + ":";
};

// One attempt on one recipient, for tests that take the steps themselves.
inline window::Attempt attempt_on(std::string message = "mail", std::string owner = "me") {
  window::Attempt out;
  out.fingerprint = sha256(message);
  out.recipients = {"AAAA"};
  out.owner = std::move(owner);
  out.message_id = "<" + out.owner + "@example>";
  out.upstream = "ses";
  out.reply = {250, "Ok 0100"};
  out.lease = milliseconds(30'000);
  out.window = milliseconds(7'200'000);
  return out;
}

// The same through a Window.
inline window::ClaimRequest claim_on(std::string message = "mail") {
  window::ClaimRequest out;
  out.fingerprint = sha256(message);
  out.recipients = {"AAAA"};
  out.window = milliseconds(7'200'000);
  return out;
}

// One relay process with one worker. kill() is what kill -9 does to its claims: no release, no renewal.
class Process {
 public:
  Process(boost::asio::io_context& io, Shelf& shelf, milliseconds lease = milliseconds(30'000))
      : store_(shelf.store(io)) {
    if (shelf.which == Which::guarded) {
      store_ =
          std::make_shared<window::GuardedStore>(io.get_executor(), store_, shadow_, outage_, quiet_log());
    }
    window_ = std::make_unique<window::ProtocolWindow>(io.get_executor(), store_, lease, hub_, quiet_log());
  }
  window::Window& window() { return *window_; }
  window::Store& store() { return *store_; }
  void kill() { window_.reset(); }

 private:
  SystemClock clock_;
  window::MemoryStore shadow_{{}, clock_};
  window::Outage outage_;
  std::shared_ptr<window::Hub> hub_ = std::make_shared<window::Hub>();
  std::shared_ptr<window::Store> store_;
  std::unique_ptr<window::ProtocolWindow> window_;
};

}  // namespace mailonce::test
