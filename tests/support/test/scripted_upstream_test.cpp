#include "support/scripted_upstream.h"

#include <gtest/gtest.h>

#include "client.h"

namespace mailonce::test {
namespace {

class Upstream : public testing::Test {
 protected:
  // What the client reads after a message, with `fault` armed; empty: the connection ended.
  std::string message_with(std::string_view fault) {
    upstream_.reset();
    upstream_.arm(fault);
    Client client(upstream_.port());
    client.begin();
    client.send("Subject: x\r\n\r\nbody\r\n.\r\n");
    return client.reply();
  }
  ScriptedUpstream upstream_;
};

TEST_F(Upstream, RecordsWhatItAcceptsAfterUnstuffing) {
  Client client(upstream_.port());
  EXPECT_TRUE(client.begin("b@example.com").starts_with("354"));
  auto reply = client.ask("Subject: hello\r\nX-Test-Id: 7\r\n\r\n..one\r\n...two\r\n.");
  auto accepted = upstream_.accepted();
  ASSERT_EQ(accepted.size(), 1u);
  EXPECT_EQ(accepted[0].content, "Subject: hello\r\nX-Test-Id: 7\r\n\r\n.one\r\n..two\r\n");
  EXPECT_EQ(accepted[0].recipients, std::vector<std::string>{"b@example.com"});
  EXPECT_EQ(accepted[0].subject, "hello");
  EXPECT_EQ(accepted[0].test_id, "7");
  EXPECT_EQ(accepted[0].reply + "\r\n", reply);
}

TEST_F(Upstream, FindsTheEndOfAMessageHoweverItIsSplit) {
  std::string_view wire = "Subject: x\r\n\r\n.\n.\r\r\n..\r\n.x\r\n.\r\n";
  std::string_view content = "Subject: x\r\n\r\n\n.\r\r\n.\r\nx\r\n";
  for (std::size_t cut = 1; cut < wire.size(); ++cut) {
    Client client(upstream_.port());
    client.begin();
    auto received = upstream_.stats().octets;
    client.send(wire.substr(0, cut));
    EXPECT_TRUE(upstream_.wait_for([&](const Stats& stats) { return stats.octets == received + cut; }));
    client.send(wire.substr(cut));
    EXPECT_TRUE(client.reply().starts_with("250")) << cut;
    EXPECT_EQ(upstream_.accepted().back().content, content) << cut;
  }
}

TEST_F(Upstream, AnEmptyMessageIsAMessage) {
  Client client(upstream_.port());
  client.begin();
  EXPECT_TRUE(client.ask(".").starts_with("250"));
  EXPECT_EQ(upstream_.accepted().at(0).octets, 0u);
}

TEST_F(Upstream, CountsOctetsThatHaveNoPlace) {
  Client client(upstream_.port());
  client.begin();
  client.ask(std::string_view("a\nb\rc\r\r\n\0\r\n.", 12));
  auto stats = upstream_.stats();
  EXPECT_EQ(stats.bare_lf, 1u);
  EXPECT_EQ(stats.bare_cr, 2u);
  EXPECT_EQ(stats.nul, 1u);
}

TEST_F(Upstream, AReplyMayComeInEveryWrongShape) {
  EXPECT_TRUE(message_with("dot split").starts_with("250 2.0.0 Ok"));
  auto lines = message_with("dot multiline 200");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 200);
  EXPECT_EQ(message_with("dot long 10000").size(), 10000u);
  EXPECT_EQ(message_with("dot no-text"), "250\r\n");
  EXPECT_FALSE(message_with("dot lf").ends_with("\r\n"));
  EXPECT_NE(message_with("dot nul").find('\0'), std::string::npos);
  EXPECT_EQ(upstream_.stats().accepted, 1u);
  EXPECT_EQ(message_with("dot mismatched"), "250-first line\r\n550 last line\r\n");
  EXPECT_EQ(message_with("dot garbage"), "Segmentation fault\r\n");
  EXPECT_EQ(upstream_.stats().accepted, 0u);
}

TEST_F(Upstream, ACutConnectionTookTheMessageOnlyWhenItSaysSo) {
  EXPECT_EQ(message_with("dot close"), "");
  EXPECT_EQ(upstream_.stats().accepted, 0u);
  EXPECT_EQ(message_with("dot rst"), "");
  EXPECT_EQ(upstream_.stats().accepted, 0u);
  EXPECT_EQ(message_with("dot accept-then-close"), "");
  EXPECT_EQ(upstream_.stats().accepted, 1u);
}

TEST_F(Upstream, AHeldSessionGoesOnWhenItIsLetGo) {
  upstream_.arm("dot hold");
  Client client(upstream_.port());
  client.begin();
  client.send(".\r\n");
  ASSERT_TRUE(upstream_.wait_for([](const Stats& stats) { return stats.held == 1; }));
  EXPECT_EQ(upstream_.stats().accepted, 0u);
  upstream_.go();
  EXPECT_TRUE(client.reply().starts_with("250"));
  EXPECT_EQ(upstream_.stats().accepted, 1u);
}

TEST_F(Upstream, SpeaksUnaskedAfterAMessage) {
  upstream_.arm("after reply 451 4.4.2 Timeout");
  Client client(upstream_.port());
  client.begin();
  EXPECT_TRUE(client.ask(".").starts_with("250"));
  EXPECT_EQ(client.reply(), "451 4.4.2 Timeout\r\n");
}

TEST_F(Upstream, CutsInsideABody) {
  upstream_.arm("octets=6 body close");
  Client client(upstream_.port());
  client.begin();
  client.send("12345");
  client.send("678");
  EXPECT_EQ(client.reply(), "");
  EXPECT_EQ(upstream_.stats().dots, 0u);
}

TEST_F(Upstream, InjectsBehindItsReplyInOneWrite) {
  UpstreamOptions options;
  options.certificate = make_self_signed();
  ScriptedUpstream upstream(Profile::load("plain"), std::move(options));
  upstream.arm("starttls inject 250-x\\r\\n250 y\\r\\n");
  Client client(upstream.port());
  client.reply();
  EXPECT_NE(client.ask("EHLO x").find("STARTTLS"), std::string::npos);
  EXPECT_TRUE(client.ask("STARTTLS").starts_with("220"));
  EXPECT_EQ(client.reply(), "250-x\r\n250 y\r\n");
}

TEST_F(Upstream, RefusesConnectionsAndTakesThemAgain) {
  upstream_.stop_listening();
  EXPECT_FALSE(Client(upstream_.port()).connected());
  upstream_.listen_again();
  EXPECT_TRUE(Client(upstream_.port()).connected());
}

TEST_F(Upstream, DropsOpenConnections) {
  Client client(upstream_.port());
  client.reply();
  upstream_.drop_connections();
  EXPECT_EQ(client.line(), "");
}

TEST(Ses, ClosesIdleConnectionsWithALineNobodyAskedFor) {
  ScriptedUpstream upstream(Profile::load("ses", "idle_close.after_s = 0.05"));
  Client client(upstream.port());
  client.reply();
  EXPECT_EQ(client.line(), "451 4.4.2 Timeout waiting for data from client.\r\n");
  EXPECT_EQ(client.line(), "");
}

TEST(Ses, DoesNotTakePipelinedCommands) {
  ScriptedUpstream upstream(Profile::load("ses"));
  Client client(upstream.port());
  client.reply();
  EXPECT_TRUE(client.ask("MAIL FROM:<a@example.com>\r\nRCPT TO:<b@example.com>").starts_with("554"));
  EXPECT_EQ(upstream.stats().unannounced_pipelining, 1u);
}

TEST(Limits, AreKept) {
  ScriptedUpstream upstream(Profile::load("plain",
                                          "max_messages = {limit = 1, line = '421 Enough'}\n"
                                          "max_recipients = {limit = 1, line = '452 Too many'}\n"
                                          "rate = {limit = 1, line = '454 Slower'}"));
  Client client(upstream.port());
  client.begin();
  EXPECT_TRUE(client.ask(".").starts_with("250"));
  EXPECT_EQ(client.ask("MAIL FROM:<a@example.com>"), "421 Enough\r\n");
  Client other(upstream.port());
  EXPECT_TRUE(other.begin().starts_with("354"));
  EXPECT_EQ(other.ask("."), "454 Slower\r\n");
  other.ask("MAIL FROM:<a@example.com>");
  other.ask("RCPT TO:<b@example.com>");
  EXPECT_EQ(other.ask("RCPT TO:<c@example.com>"), "452 Too many\r\n");
}

TEST(Authentication, KnowsItsUsers) {
  ScriptedUpstream upstream(Profile::load("ses", "auth.required = true\nauth.users = {me = 'secret'}"));
  Client client(upstream.port());
  client.reply();
  client.ask("EHLO x");
  EXPECT_TRUE(client.ask("MAIL FROM:<a@example.com>").starts_with("530"));
  EXPECT_TRUE(client.ask("AUTH PLAIN AG1lAHdyb25n").starts_with("535"));
  EXPECT_EQ(client.ask("AUTH LOGIN"), "334 VXNlcm5hbWU6\r\n");
  EXPECT_EQ(client.ask("bWU="), "334 UGFzc3dvcmQ6\r\n");
  EXPECT_TRUE(client.ask("c2VjcmV0").starts_with("235"));
  EXPECT_TRUE(client.ask("MAIL FROM:<a@example.com>").starts_with("250"));
}

}  // namespace
}  // namespace mailonce::test
