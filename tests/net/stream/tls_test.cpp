#include "mailonce/net/tls.h"

#include <gtest/gtest.h>

#include <array>
#include <boost/asio/detached.hpp>
#include <boost/asio/error.hpp>
#include <optional>

#include "net/run.h"
#include "pair.h"

namespace mailonce::net {
namespace {

using boost::asio::io_context;
using test::run;
using test::run_until;

std::string path(const std::string& file) {
  return std::string(MAILONCE_TEST_CERTIFICATES) + "/" + file;
}

boost::asio::ssl::context server_context(const std::string& name) {
  return make_server_context({path(name + ".pem"), path(name + ".key")});
}

struct Handshakes {
  std::optional<Result<>> client;
  std::optional<Result<>> server;
  bool done() const { return client && server; }
};

Handshakes shake_hands(io_context& io, Pair& pair, boost::asio::ssl::context& client,
                       boost::asio::ssl::context& server, const std::string& name) {
  Handshakes results;
  boost::asio::co_spawn(
      io,
      [&]() -> awaitable<void> {
        results.server = co_await pair.far.start_tls_server(server);
        if (!*results.server) pair.far.close();
      },
      boost::asio::detached);
  boost::asio::co_spawn(
      io,
      [&]() -> awaitable<void> {
        results.client = co_await pair.near.start_tls_client(client, name);
        if (!*results.client) pair.near.close();
      },
      boost::asio::detached);
  EXPECT_TRUE(run_until(io, [&] { return results.done(); }));
  return results;
}

struct Secured {
  explicit Secured(io_context& io)
      : pair(make_pair(io)),
        client(make_client_context({path("ca.pem"), true})),
        server(server_context("server")) {
    const auto results = shake_hands(io, pair, client, server, "localhost");
    EXPECT_TRUE(*results.client) << results.client->error().message();
    EXPECT_TRUE(*results.server);
  }
  Pair pair;
  boost::asio::ssl::context client;
  boost::asio::ssl::context server;
};

TEST(Tls, carries_octets_both_ways_and_says_what_it_is) {
  io_context io;
  Secured secured(io);
  EXPECT_TRUE(secured.pair.near.secure());
  EXPECT_TRUE(secured.pair.near.tls_description().starts_with("TLSv1.3 TLS_"))
      << secured.pair.near.tls_description();
  EXPECT_EQ(secured.pair.near.tls_failure(), "");
  run(io, [&]() -> awaitable<void> {
    std::array<char, 64> buffer;
    const std::array<std::string_view, 3> pieces{"EHLO ", "", "a.example\r\n"};
    auto asked = co_await secured.pair.near.write(pieces);
    EXPECT_TRUE(asked);
    auto octets = co_await secured.pair.far.read_some(buffer);
    EXPECT_EQ(std::string_view(buffer.data(), count_of(octets)), "EHLO a.example\r\n");
    auto answered = co_await secured.pair.far.write("250 Ok\r\n");
    EXPECT_TRUE(answered);
    octets = co_await secured.pair.near.read_some(buffer);
    EXPECT_EQ(count_of(octets), 8U);
  });
}

// Reads what the server sends first, and with it the tickets of TLS 1.3.
std::string connect_once(io_context& io, boost::asio::ssl::context& client, boost::asio::ssl::context& server,
                         const std::string& name) {
  auto pair = make_pair(io);
  const auto results = shake_hands(io, pair, client, server, name);
  EXPECT_TRUE(*results.client) << results.client->error().message();
  if (!*results.client) return "";
  EXPECT_EQ(pair.near.tls_failure(), "");
  run(io, [&]() -> awaitable<void> {
    const std::array<std::string_view, 1> banner{"220 x\r\n"};
    co_await pair.far.write(banner);
    std::array<char, 64> buffer;
    auto octets = co_await pair.near.read_some(buffer);
    EXPECT_TRUE(octets);
  });
  return pair.near.tls_description();
}

class TlsResumption : public testing::TestWithParam<int> {
 protected:
  TlsResumption() : client_(make_client_context({path("ca.pem"), true})), server_(server_context("server")) {
    SSL_CTX_set_max_proto_version(client_.native_handle(), GetParam());
  }
  bool resumes(const std::string& name = "localhost") {
    return connect_once(io_, client_, server_, name).ends_with(" resumed");
  }
  io_context io_;
  boost::asio::ssl::context client_;
  boost::asio::ssl::context server_;
};

TEST_P(TlsResumption, spares_every_connection_after_the_first_the_certificate) {
  EXPECT_FALSE(resumes());
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(resumes());
}

TEST_P(TlsResumption, is_of_one_name_only) {
  EXPECT_FALSE(resumes("localhost"));
  EXPECT_FALSE(resumes("127.0.0.1"));
  EXPECT_TRUE(resumes("localhost"));
}

TEST_P(TlsResumption, with_a_server_that_forgot_is_a_whole_handshake) {
  EXPECT_FALSE(resumes());
  server_ = server_context("server");
  EXPECT_FALSE(resumes());
  EXPECT_TRUE(resumes());
}

TEST_P(TlsResumption, goes_with_its_context) {
  EXPECT_FALSE(resumes());
  auto other = make_client_context({path("ca.pem"), true});
  EXPECT_FALSE(connect_once(io_, other, server_, "localhost").ends_with(" resumed"));
}
INSTANTIATE_TEST_SUITE_P(Versions, TlsResumption, testing::Values(TLS1_2_VERSION, TLS1_3_VERSION));

TEST(Tls, carries_much_in_many_pieces_over_full_socket_buffers) {
  io_context io;
  Secured secured(io);
  std::string sent;
  std::vector<std::string> parts;
  for (int i = 0; i < 3000; ++i)
    parts.push_back(std::string(static_cast<std::size_t>(i * 7 % 40000), letter(i)));
  std::vector<std::string_view> pieces(parts.begin(), parts.end());
  for (const auto& part : parts) sent += part;
  boost::asio::co_spawn(io, secured.pair.near.write(pieces), boost::asio::detached);
  std::string received;
  run(io, [&]() -> awaitable<void> {
    std::vector<char> buffer(100000);
    while (received.size() < sent.size()) {
      auto octets = co_await secured.pair.far.read_some(buffer);
      if (!octets) break;
      received.append(buffer.data(), *octets);
    }
  });
  EXPECT_TRUE(received == sent);
}

TEST(Tls, session_tickets_are_not_taken_for_something_unread) {
  io_context io;
  Secured secured(io);
  EXPECT_FALSE(secured.pair.near.readable_now());
  run(io, [&]() -> awaitable<void> {
    auto told = co_await secured.pair.far.write("421 Bye\r\n");
    EXPECT_TRUE(told);
  });
  EXPECT_TRUE(run_until(io, [&] { return secured.pair.near.readable_now(); }));
  run(io, [&]() -> awaitable<void> {
    std::array<char, 64> buffer;
    auto octets = co_await secured.pair.near.read_some(buffer);
    EXPECT_EQ(count_of(octets), 9U);
  });
  EXPECT_FALSE(secured.pair.near.readable_now());
}

TEST(Tls, a_proper_end_and_a_truncated_one_are_both_the_end) {
  io_context io;
  for (const bool truncated : {false, true}) {
    Secured secured(io);
    std::array<char, 64> buffer;
    if (truncated) {
      secured.pair.far.close();
    } else {
      boost::asio::co_spawn(io, secured.pair.far.shut_down(), boost::asio::detached);
    }
    EXPECT_TRUE(run_until(io, [&] { return secured.pair.near.readable_now(); }));
    run(io, [&]() -> awaitable<void> {
      auto octets = co_await secured.pair.near.read_some(buffer);
      EXPECT_EQ(octets.error(), boost::asio::error::eof);
    });
    secured.pair.near.close();
    EXPECT_TRUE(run_until(io, [&] { return !secured.pair.far.is_open(); }));
  }
}

struct Refusal {
  const char* certificate;
  const char* name;
  const char* reason;
};

class TlsRefuses : public testing::TestWithParam<Refusal> {};

TEST_P(TlsRefuses, a_server_it_can_not_trust_and_says_why) {
  io_context io;
  auto pair = make_pair(io);
  auto client = make_client_context({path("ca.pem"), true});
  auto server = server_context(GetParam().certificate);
  const auto results = shake_hands(io, pair, client, server, GetParam().name);
  EXPECT_FALSE(*results.client);
  EXPECT_FALSE(*results.server);
  EXPECT_NE(pair.near.tls_failure().find(GetParam().reason), std::string::npos) << pair.near.tls_failure();
}

INSTANTIATE_TEST_SUITE_P(Certificates, TlsRefuses,
                         testing::Values(Refusal{"expired", "localhost", "expired"},
                                         Refusal{"wrong-name", "localhost", "ostname mismatch"},
                                         Refusal{"server", "other.example", "ostname mismatch"},
                                         Refusal{"server", "127.0.0.2", "IP address mismatch"},
                                         Refusal{"cn-only", "localhost", "ostname mismatch"},
                                         Refusal{"self-signed", "localhost", "self"}));

TEST(Tls, accepts_an_address_the_certificate_names) {
  io_context io;
  auto client = make_client_context({path("ca.pem"), true});
  auto server = server_context("server");
  for (const std::string address : {"127.0.0.1", "::1"}) {
    auto pair = make_pair(io);
    const auto results = shake_hands(io, pair, client, server, address);
    EXPECT_TRUE(*results.client) << address;
  }
}

TEST(Tls, does_not_verify_when_the_context_says_so) {
  io_context io;
  auto pair = make_pair(io);
  auto client = make_client_context({path("ca.pem"), false});
  auto server = server_context("expired");
  const auto results = shake_hands(io, pair, client, server, "localhost");
  EXPECT_TRUE(*results.client);
}

TEST(Tls, never_speaks_less_than_1_2) {
  io_context io;
  auto pair = make_pair(io);
  auto client = make_client_context({path("ca.pem"), true});
  auto server = server_context("server");
  SSL_CTX_set_security_level(server.native_handle(), 0);
  SSL_CTX_set_min_proto_version(server.native_handle(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(server.native_handle(), TLS1_1_VERSION);
  const auto results = shake_hands(io, pair, client, server, "localhost");
  EXPECT_FALSE(*results.client);
}

TEST(Tls, a_peer_that_is_silent_or_speaks_plain_text_ends_the_handshake) {
  io_context io;
  auto client = make_client_context({path("ca.pem"), true});
  for (const bool silent : {true, false}) {
    auto pair = make_pair(io);
    run(io, [&]() -> awaitable<void> {
      if (!silent) {
        auto told = co_await pair.far.write("421 Too many concurrent SMTP connections\r\n");
        EXPECT_TRUE(told);
      }
      pair.near.expires_after(silent ? milliseconds(30) : milliseconds(10000));
      auto done = co_await pair.near.start_tls_client(client, "localhost");
      EXPECT_FALSE(done);
      EXPECT_EQ(done.error() == boost::asio::error::timed_out, silent) << done.error().message();
    });
  }
}

TEST(TlsContext, names_the_file_that_can_not_be_used) {
  try {
    make_client_context({"/nowhere/ca.pem", true});
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("/nowhere/ca.pem"), std::string::npos);
  }
  EXPECT_THROW(make_server_context({path("server.pem"), path("expired.key")}), std::runtime_error);
}

}  // namespace
}  // namespace mailonce::net
