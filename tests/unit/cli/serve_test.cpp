#include <gmock/gmock.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <csignal>
#include <regex>
#include <thread>

#include "fixture.h"
#include "mailonce/base/clock.h"
#include "support/scripted_upstream.h"

namespace mailonce::cli {
namespace {

using boost::asio::ip::tcp;
using test::ScriptedUpstream;
using testing::HasSubstr;

class Serve : public CommandLine {
 protected:
  std::string log() const {
    std::ifstream in(folder_ / "m.log");
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string configuration(std::uint16_t upstream, const std::string& more = "") {
    return write("m.toml",
                 "[[listen]]\naddress = \"127.0.0.1:0\"\n[server]\nworkers = 1\n[[upstream]]\nurl = "
                 "\"smtp://127.0.0.1:" +
                     std::to_string(upstream) + "\"\n[log]\nfile = \"m.log\"\n" + more);
  }
  // The port that the event `listening` names.
  std::uint16_t listening_port() const {
    const auto limit = SteadyClock::now() + seconds(30);
    const std::regex line(R"( listening .*127\.0\.0\.1:([0-9]+))");
    while (SteadyClock::now() < limit) {
      std::smatch match;
      const auto text = log();
      if (std::regex_search(text, match, line)) return static_cast<std::uint16_t>(std::stoi(match[1]));
      std::this_thread::yield();
    }
    return 0;
  }
};

// A client that says one line after the other, each after the reply to the one before.
std::string send_mail(std::uint16_t port) {
  boost::asio::io_context context;
  tcp::socket socket(context);
  socket.connect({boost::asio::ip::make_address("127.0.0.1"), port});
  boost::asio::streambuf buffer;
  std::string reply;
  const auto read_reply = [&] {
    do {
      boost::asio::read_until(socket, buffer, "\r\n");
      std::istream in(&buffer);
      std::getline(in, reply);
    } while (reply.size() > 3 && reply[3] == '-');
  };
  read_reply();
  for (const auto* line :
       {"EHLO app", "MAIL FROM:<shop@example.com>", "RCPT TO:<ada@example.net>", "DATA",
        "From: shop@example.com\r\nTo: ada@example.net\r\nSubject: Invoice 1001\r\n\r\nHello\r\n."}) {
    boost::asio::write(socket, boost::asio::buffer(std::string(line) + "\r\n"));
    read_reply();
  }
  return reply;
}

TEST_F(Serve, ARepeatIsAnsweredAndNotForwardedAndASignalEndsItWithZero) {
  ScriptedUpstream provider;
  const auto file = configuration(provider.port());
  int code = -1;
  std::thread relay([&] { code = mailonce({"serve", "--config", file}); });
  const auto port = listening_port();
  EXPECT_NE(port, 0) << log();
  if (port != 0) {
    const auto first = send_mail(port);
    EXPECT_THAT(first, testing::StartsWith("250 "));
    EXPECT_EQ(send_mail(port), first);
    ::kill(::getpid(), SIGTERM);
  }
  relay.join();
  EXPECT_EQ(code, 0) << err();
  EXPECT_EQ(provider.accepted().size(), 1U);
  EXPECT_THAT(log(), HasSubstr(" info forwarded "));
  EXPECT_THAT(log(), HasSubstr(" info duplicate "));
  EXPECT_THAT(log(), HasSubstr(" info stopped "));
}

TEST_F(Serve, AWrongConfigurationEndsWithTwoBeforeAnythingIsBound) {
  EXPECT_EQ(mailonce({"serve"}), 2);
  EXPECT_THAT(err(), HasSubstr("give --upstream URL"));
  EXPECT_EQ(mailonce({"serve", "--config", configuration(1, "colour = true\n")}), 2);
  EXPECT_THAT(err(), HasSubstr("log.colour: is not a known key"));
  EXPECT_EQ(mailonce({"serve", "--upstream", "smtps://u:hunter2@host"}), 2);
  EXPECT_THAT(err(), HasSubstr("put it in a file or the environment: MAILONCE_UPSTREAM_PASSWORD"));
  EXPECT_THAT(err(), testing::Not(HasSubstr("hunter2")));
}

TEST_F(Serve, AnAddressInUseEndsWithOneAndIsNamed) {
  ScriptedUpstream provider;
  const auto taken = "127.0.0.1:" + std::to_string(provider.port());
  EXPECT_EQ(mailonce({"serve", "--config", configuration(provider.port()), "--listen", taken}), 1);
  EXPECT_THAT(err(), HasSubstr(taken));
}

}  // namespace
}  // namespace mailonce::cli
