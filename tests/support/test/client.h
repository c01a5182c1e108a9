// A blocking SMTP client that sends what it is told, octet for octet.
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace mailonce::test {

class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    timeval limit{5, 0};
    setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    connected_ = connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Client() { close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  bool connected() const { return connected_; }
  void send(std::string_view octets) { ::send(socket_, octets.data(), octets.size(), MSG_NOSIGNAL); }
  // One line with its end; at the end of the stream what there is.
  std::string line() {
    while (true) {
      auto end = input_.find('\n');
      if (end != std::string::npos) return take(end + 1);
      std::array<char, 4096> buffer;
      auto octets = recv(socket_, buffer.data(), buffer.size(), 0);
      if (octets <= 0) return take(input_.size());
      input_.append(buffer.data(), static_cast<std::size_t>(octets));
    }
  }
  // A whole reply, its lines as they came.
  std::string reply() {
    std::string all, last;
    do {
      last = line();
      all += last;
    } while (last.size() > 3 && last[3] == '-');
    return all;
  }
  std::string ask(std::string_view command) {
    send(std::string(command) + "\r\n");
    return reply();
  }
  // Banner, EHLO, MAIL, RCPT, DATA: ready for a body. The reply to the last step.
  std::string begin(std::string_view recipient = "b@example.com") {
    reply();
    ask("EHLO client.example");
    ask("MAIL FROM:<a@example.com>");
    ask("RCPT TO:<" + std::string(recipient) + ">");
    return ask("DATA");
  }

 private:
  std::string take(std::size_t octets) {
    std::string taken = input_.substr(0, octets);
    input_.erase(0, octets);
    return taken;
  }
  int socket_;
  bool connected_ = false;
  std::string input_;
};

}  // namespace mailonce::test
