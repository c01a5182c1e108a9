// A redis-server process on 127.0.0.1 that ends with its object, whatever becomes of the test program.
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
#include <vector>

#include "folder.h"

namespace mailonce::test {

inline sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// From the system; nobody listens there, and nobody else is given it soon.
inline std::uint16_t free_port() {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto address = loopback(0);
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  const bool bound = ::bind(descriptor, generic, size) == 0 && ::getsockname(descriptor, generic, &size) == 0;
  ::close(descriptor);
  if (!bound) throw std::runtime_error("no free port");
  return ntohs(address.sin_port);
}

// Asks again and again, blocking; throws after 20 s.
template <class Condition>
void wait_for(const std::string& what, const Condition& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) throw std::runtime_error("not in time: " + what);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

class ServerProcess {
 public:
  // Behind "redis-server"; must make it listen on `port`.
  ServerProcess(std::uint16_t port, std::vector<std::string> arguments)
      : port_(port), arguments_(std::move(arguments)) {
    start();
  }
  ~ServerProcess() { stop(); }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  std::uint16_t port() const { return port_; }
  void start() {
    std::vector<char*> words{const_cast<char*>("redis-server")};
    for (auto& argument : arguments_) words.push_back(argument.data());
    words.push_back(nullptr);
    const pid_t parent = ::getpid();
    process_ = ::fork();
    if (process_ < 0) throw std::runtime_error("fork failed");
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(1);
      const int nowhere = ::open("/dev/null", O_RDWR);
      ::dup2(nowhere, 1);
      ::dup2(nowhere, 2);
      ::execvp("redis-server", words.data());
      ::_exit(127);
    }
    wait_for("redis-server listens", [this] { return listens(); });
  }
  void stop() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  bool running() const { return process_ > 0; }
  void freeze() { ::kill(process_, SIGSTOP); }
  void thaw() { ::kill(process_, SIGCONT); }

 private:
  bool listens() const {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto address = loopback(port_);
    const bool connected = ::connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
    ::close(descriptor);
    if (!connected && ::waitpid(process_, nullptr, WNOHANG) == process_)
      throw std::runtime_error("redis-server did not start");
    return connected;
  }

  std::uint16_t port_;
  std::vector<std::string> arguments_;
  pid_t process_ = 0;
};

}  // namespace mailonce::test
