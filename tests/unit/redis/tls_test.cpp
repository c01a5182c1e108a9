// rediss://: who is trusted, and what is told when nobody is.
#include <gtest/gtest.h>

#include "mailonce/redis/client.h"
#include "redis_server.h"
#include "run.h"

namespace mailonce::redis {
namespace {

using test::CertificateFiles;
using test::run;
using test::TlsRedisServer;

// What PING gives: "PONG", or why not.
awaitable<std::string> ping(boost::asio::io_context& io, Options options) {
  Client client(io.get_executor(), std::move(options));
  const std::array<std::string_view, 1> words{"PING"};
  auto reply = co_await client.command(words);
  if (!reply) co_return reply.error().message();
  co_return std::string(reply->value().text().value_or(""));
}

std::string pinged(const Options& options) {
  std::string said;
  run([&](boost::asio::io_context& io) -> awaitable<void> { said = co_await ping(io, options); });
  return said;
}

TEST(RedisTls, AServerWhoseAuthorityIsTrustedAnswers) {
  const CertificateFiles certificate;
  const TlsRedisServer server(certificate);
  EXPECT_EQ(pinged(server.options()), "PONG");
  auto by_name = server.options();
  by_name.servers[0].host = "localhost";
  EXPECT_EQ(pinged(by_name), "PONG");
}

TEST(RedisTls, AnAuthorityThatIsNotTrustedIsRefusedUnlessNothingIsVerified) {
  const CertificateFiles certificate, other;
  const TlsRedisServer server(certificate);
  auto options = server.options();
  options.certificates.ca_file = other.certificate;
  EXPECT_EQ(pinged(options), "certificate: self-signed certificate");
  options.certificates.ca_file.clear();
  EXPECT_EQ(pinged(options), "certificate: self-signed certificate");
  options.certificates.verify = false;
  EXPECT_EQ(pinged(options), "PONG");
}

TEST(RedisTls, ANameThatIsNotInTheCertificateIsRefused) {
  const CertificateFiles certificate({"redis.example"});
  const TlsRedisServer server(certificate);
  EXPECT_EQ(pinged(server.options()), "certificate: IP address mismatch");
  auto by_name = server.options();
  by_name.servers[0].host = "localhost";
  EXPECT_EQ(pinged(by_name), "certificate: hostname mismatch");
}

TEST(RedisTls, AnExpiredCertificateIsRefused) {
  const CertificateFiles certificate({"127.0.0.1"}, std::chrono::seconds(-60));
  const TlsRedisServer server(certificate);
  EXPECT_EQ(pinged(server.options()), "certificate: certificate has expired");
}

TEST(RedisTls, AServerThatAsksForACertificateGetsOurs) {
  const CertificateFiles certificate, ours, another;
  const TlsRedisServer server(certificate, &ours);
  auto options = server.options();
  EXPECT_NE(pinged(options), "PONG");
  options.certificates.certificate_file = ours.certificate;
  options.certificates.key_file = ours.key;
  EXPECT_EQ(pinged(options), "PONG");
  options.certificates.key_file = another.key;
  EXPECT_THROW(pinged(options), std::runtime_error);
}

// Neither side waits for the other for ever.
TEST(RedisTls, TlsOnOneSideAloneIsAnErrorInTime) {
  const CertificateFiles certificate;
  const TlsRedisServer secure(certificate);
  auto plain = secure.options();
  plain.tls = false;
  EXPECT_NE(pinged(plain), "PONG");
  const test::RedisServer open;
  auto tls = secure.options();
  tls.servers = open.options().servers;
  tls.command_deadline = milliseconds(300);
  const auto from = SteadyClock::now();
  EXPECT_NE(pinged(tls), "PONG");
  EXPECT_LT(SteadyClock::now() - from, milliseconds(2000));
}

TEST(RedisTls, AHundredThousandOctetsPassBothWays) {
  const CertificateFiles certificate;
  const TlsRedisServer server(certificate);
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Client client(io.get_executor(), server.options());
    const std::string octets(100'000, 'x');
    for (int i = 0; i < 20; ++i) {
      const std::array<std::string_view, 2> words{"ECHO", octets};
      auto reply = co_await client.command(words);
      EXPECT_TRUE(reply && reply->value().text() == octets);
    }
  });
}

}  // namespace
}  // namespace mailonce::redis
