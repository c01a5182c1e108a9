// A load of distinct messages for scripts/bench: sequential sessions in threads, each waiting for every reply
// as the mail libraries of applications do. Prints one JSON line. Loopback only.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

struct Load {
  std::uint16_t port = 0;
  int sessions = 1;
  int messages = 1000;        // in all
  int a_connection = 0;       // messages before QUIT; 0: one connection a session
  std::size_t octets = 4096;  // of each message
};

// One blocking SMTP client.
class Client {
 public:
  explicit Client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
      throw std::runtime_error("connect");
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    expect('2');
    command("EHLO load.example\r\n", '2');
  }
  ~Client() { ::close(socket_); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void message(std::string_view content) {
    command("MAIL FROM:<load@app.example>\r\n", '2');
    command("RCPT TO:<sink@example.net>\r\n", '2');
    command("DATA\r\n", '3');
    command(content, '2');
  }
  void quit() { command("QUIT\r\n", '2'); }

 private:
  void command(std::string_view octets, char expected) {
    while (!octets.empty()) {
      const auto n = ::send(socket_, octets.data(), octets.size(), MSG_NOSIGNAL);
      if (n <= 0) throw std::runtime_error("send");
      octets.remove_prefix(static_cast<std::size_t>(n));
    }
    expect(expected);
  }

  // Reads one reply, its last line being "NNN text".
  void expect(char expected) {
    std::string reply;
    for (;;) {
      char buffer[4096];
      const auto n = ::recv(socket_, buffer, sizeof buffer, 0);
      if (n <= 0) throw std::runtime_error("connection closed");
      reply.append(buffer, static_cast<std::size_t>(n));
      if (reply.size() < 5 || reply.back() != '\n') continue;
      const auto line = reply.rfind('\n', reply.size() - 2);
      const auto start = line == std::string::npos ? 0 : line + 1;
      if (reply.size() - start >= 4 && reply[start + 3] == '-') continue;
      if (reply[start] != expected) throw std::runtime_error("unexpected reply: " + reply);
      return;
    }
  }

  int socket_;
};

std::string content_of(int number, long salt, std::size_t octets) {
  std::string content = "From: load@app.example\r\nTo: sink@example.net\r\nSubject: Order " +
                        std::to_string(number) + "\r\nMessage-ID: <" + std::to_string(salt) + "." +
                        std::to_string(number) +
                        "@app.example>\r\nDate: Tue, 01 Dec 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\n"
                        "Content-Type: text/plain; charset=utf-8\r\n\r\nRun " +
                        std::to_string(salt) + "\r\n";
  while (content.size() + 66 < octets)
    content += "Your order was received and will be sent as soon as it can be.\r\n";
  return content + ".\r\n";
}

Load parse(int argc, char** argv) {
  Load load;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const auto value = std::atol(argv[i + 1]);
    if (name == "--port") load.port = static_cast<std::uint16_t>(value);
    if (name == "--sessions") load.sessions = static_cast<int>(value);
    if (name == "--messages") load.messages = static_cast<int>(value);
    if (name == "--a-connection") load.a_connection = static_cast<int>(value);
    if (name == "--octets") load.octets = static_cast<std::size_t>(value);
  }
  return load;
}

}  // namespace

int main(int argc, char** argv) {
  const auto load = parse(argc, argv);
  using clock = std::chrono::steady_clock;
  const long salt = clock::now().time_since_epoch().count();
  std::atomic<int> next{0};
  std::atomic<int> failures{0};
  std::vector<std::vector<double>> times(static_cast<std::size_t>(load.sessions));
  const auto start = clock::now();
  std::vector<std::thread> threads;
  for (auto& mine : times) {
    threads.emplace_back([&load, &next, &failures, &mine, salt] {
      std::unique_ptr<Client> client;
      int sent = 0;
      for (int number = next++; number < load.messages; number = next++) {
        const auto content = content_of(number, salt, load.octets);
        const auto before = clock::now();
        try {
          if (!client) client = std::make_unique<Client>(load.port);
          client->message(content);
          if (load.a_connection != 0 && ++sent % load.a_connection == 0) {
            client->quit();
            client.reset();
          }
          mine.push_back(std::chrono::duration<double, std::micro>(clock::now() - before).count());
        } catch (const std::exception& failure) {
          if (failures++ == 0) std::fprintf(stderr, "%s\n", failure.what());
          client.reset();
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  const auto took = std::chrono::duration<double>(clock::now() - start).count();
  std::vector<double> all;
  for (const auto& mine : times) all.insert(all.end(), mine.begin(), mine.end());
  std::sort(all.begin(), all.end());
  const auto at = [&all](double part) {
    return all.empty() ? 0.0 : all[static_cast<std::size_t>(part * static_cast<double>(all.size() - 1))];
  };
  std::printf(
      "{\"messages\": %zu, \"failures\": %d, \"seconds\": %.3f, \"median_us\": %.0f, \"p99_us\": %.0f}\n",
      all.size(), failures.load(), took, at(0.5), at(0.99));
  return failures == 0 ? 0 : 1;
}
