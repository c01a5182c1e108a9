// A real redis-server on 127.0.0.1, on a port from the system, that keeps nothing on disk and ends with its
// fixture.
#pragma once
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>

#include "mailonce/redis/options.h"

namespace mailonce::test {

class RedisServer {
 public:
  RedisServer() : port_(free_port()) { start(); }
  ~RedisServer() { stop(); }
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  redis::Options options() const {
    redis::Options out;
    out.port = port_;
    return out;
  }

  void start() {
    const auto port = std::to_string(port_);
    const pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ < 0) throw std::runtime_error("fork failed");
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      const int nowhere = ::open("/dev/null", O_RDWR);
      ::dup2(nowhere, 1);
      ::dup2(nowhere, 2);
      ::execlp("redis-server", "redis-server", "--port", port.c_str(), "--bind", "127.0.0.1", "--save", "",
               "--appendonly", "no", "--dir", "/tmp", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    wait_until_it_listens();
  }
  void stop() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  void freeze() { ::kill(process_, SIGSTOP); }
  void thaw() { ::kill(process_, SIGCONT); }

 private:
  static sockaddr_in local(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  static std::uint16_t free_port() {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = local(0);
    socklen_t size = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    const bool bound =
        ::bind(descriptor, generic, size) == 0 && ::getsockname(descriptor, generic, &size) == 0;
    ::close(descriptor);
    if (!bound) throw std::runtime_error("no free port");
    return ntohs(address.sin_port);
  }
  void wait_until_it_listens() const {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < until) {
      const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      auto address = local(port_);
      const bool connected =
          ::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
      ::close(descriptor);
      if (connected) return;
      if (::waitpid(process_, nullptr, WNOHANG) == process_)
        throw std::runtime_error("redis-server did not start");
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    throw std::runtime_error("redis-server does not listen");
  }

  std::uint16_t port_;
  pid_t process_ = 0;
};

}  // namespace mailonce::test
