// A real redis-server on 127.0.0.1, on a port from the system, that keeps nothing on disk and ends with its
// fixture; plain, or with TLS alone.
#pragma once
#include <hiredis/hiredis.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mailonce/redis/options.h"
#include "mailonce/redis/reply.h"
#include "server_process.h"
#include "support/certificate.h"

namespace mailonce::test {

// Commands by the blocking client, on a connection of its own; the last one's reply. Throws when there is
// none.
inline redis::Reply tell_all(std::uint16_t port, const std::vector<std::vector<std::string>>& commands) {
  const timeval patience{5, 0};
  const std::unique_ptr<redisContext, decltype(&redisFree)> connection(
      redisConnectWithTimeout("127.0.0.1", port, patience), redisFree);
  if (!connection || connection->err != 0) throw std::runtime_error("redis-server does not answer");
  redisSetTimeout(connection.get(), patience);
  redis::Reply reply(nullptr);
  for (const auto& words : commands) {
    std::vector<const char*> texts;
    std::vector<std::size_t> sizes;
    for (const auto& word : words) {
      texts.push_back(word.data());
      sizes.push_back(word.size());
    }
    void* tree =
        redisCommandArgv(connection.get(), static_cast<int>(words.size()), texts.data(), sizes.data());
    if (tree == nullptr) throw std::runtime_error("redis-server does not answer " + words[0]);
    reply = redis::Reply(tree);
  }
  return reply;
}
inline redis::Reply tell(std::uint16_t port, const std::vector<std::string>& words) {
  return tell_all(port, {words});
}

// The same as text; an integer in digits, "" for other kinds.
inline std::string told(std::uint16_t port, const std::vector<std::string>& words) {
  const auto reply = tell(port, words);
  const auto integer = reply.value().integer();
  return integer ? std::to_string(*integer) : std::string(reply.value().text().value_or(""));
}

// What is written now reaches a replica. WAIT asks for the last write of its connection: one that has no key.
inline bool replicates(std::uint16_t master) {
  // Three times: one that a Sentinel has just found may confirm late.
  for (int i = 0; i < 3; ++i) {
    if (tell_all(master, {{"FUNCTION", "FLUSH"}, {"WAIT", "1", "300"}}).value().integer() != 1) return false;
  }
  return true;
}

inline redis::Address local_address(std::uint16_t port) {
  return {"127.0.0.1", port};
}

// Each server has a folder of its own: a replica leaves there what it copied, and a server reads it at its
// start.
inline std::vector<std::string> server_arguments(std::uint16_t port, const Folder& folder) {
  return {"--port",
          std::to_string(port),
          "--bind",
          "127.0.0.1",
          "--save",
          "",
          "--appendonly",
          "no",
          "--dir",
          folder.path.string(),
          "--dbfilename",
          std::to_string(port),
          "--repl-diskless-sync-delay",
          "0"};
}

class RedisServer {
 public:
  // Each with what redis-server is told besides.
  explicit RedisServer(const std::vector<std::string>& more = {}) : RedisServer(free_port(), more) {}

  redis::Options options() const {
    redis::Options out;
    out.servers = {local_address(process_.port())};
    return out;
  }
  std::uint16_t port() const { return process_.port(); }
  void start() { process_.start(); }
  void stop() { process_.stop(); }
  void freeze() { process_.freeze(); }
  void thaw() { process_.thaw(); }

 private:
  RedisServer(std::uint16_t port, std::vector<std::string> more)
      : process_(port, [&] {
          auto arguments = server_arguments(port, folder_);
          arguments.insert(arguments.end(), more.begin(), more.end());
          return arguments;
        }()) {}

  Folder folder_;
  ServerProcess process_;
};

// A certificate for 127.0.0.1 as files. It is its own authority.
struct CertificateFiles {
  explicit CertificateFiles(const std::vector<std::string>& names = {"localhost", "127.0.0.1"},
                            std::chrono::seconds valid_for = std::chrono::hours(24)) {
    const auto made = make_self_signed(names, valid_for);
    certificate = folder.write("certificate.pem", made.certificate_pem);
    key = folder.write("key.pem", made.key_pem);
  }
  Folder folder;
  std::string certificate;
  std::string key;
};

// Answers TLS alone. `clients`: who must show a certificate, and that is it.
class TlsRedisServer {
 public:
  explicit TlsRedisServer(const CertificateFiles& own, const CertificateFiles* clients = nullptr)
      : own_(own),
        port_(free_port()),
        process_(port_, {"--port",
                         "0",
                         "--tls-port",
                         std::to_string(port_),
                         "--bind",
                         "127.0.0.1",
                         "--save",
                         "",
                         "--appendonly",
                         "no",
                         "--dir",
                         "/tmp",
                         "--tls-cert-file",
                         own.certificate,
                         "--tls-key-file",
                         own.key,
                         "--tls-ca-cert-file",
                         clients != nullptr ? clients->certificate : own.certificate,
                         "--tls-auth-clients",
                         clients != nullptr ? "yes" : "no"}) {}

  redis::Options options() const {
    redis::Options out;
    out.servers = {local_address(port_)};
    out.tls = true;
    out.certificates.ca_file = own_.certificate;
    return out;
  }

 private:
  const CertificateFiles& own_;
  std::uint16_t port_;
  ServerProcess process_;
};

}  // namespace mailonce::test
