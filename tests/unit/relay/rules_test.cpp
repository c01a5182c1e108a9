// Rules: who decides for which recipient, and messages for whose recipients more than one rule decides.
#include "fixture.h"

namespace mailonce::relay::test {
namespace {

using message::Pattern;

const smtp::Reply queued{250, "2.0.0 Ok: queued as 1"};

smtp::Sender sender(const std::string& path = "<shop@example.com>") {
  return {smtp::Address::parse_reverse_path(path).value(), {}, {}};
}

smtp::Recipient recipient(const std::string& address) {
  return {smtp::Address::parse_forward_path("<" + address + ">").value()};
}

Rule rule(const std::string& name, Match match, Mode mode = Mode::enforce) {
  Rule out;
  out.match = std::move(match);
  out.policy.rule = name;
  out.policy.scope = "default\n" + name;
  out.policy.mode = mode;
  return out;
}

Match to(const std::string& glob) {
  Match match;
  match.recipients = {Pattern::glob(glob)};
  return match;
}

class Choice : public testing::Test {
 protected:
  std::string decides(const std::string& to, const std::string& content = mail("Hello"),
                      const std::string& from = "<shop@example.com>") {
    return RuleChoice(rules, otherwise, sender(from), user, content).policy_for(recipient(to)).rule;
  }

  std::vector<Rule> rules;
  Policy otherwise;
  std::string user;
};

TEST_F(Choice, IsThePolicyWithoutRules) {
  EXPECT_EQ(decides("a@example.net"), "default");
}

TEST_F(Choice, IsTheFirstRuleThatMatches) {
  rules = {rule("a", to("a@*")), rule("net", to("*@EXAMPLE.net")), rule("all", {})};
  EXPECT_EQ(decides("a@example.net"), "a");
  EXPECT_EQ(decides("b@example.net"), "net");
  EXPECT_EQ(decides("b@example.org"), "all");
}

TEST_F(Choice, NeedsEveryCriterionAndAnyPatternOfEach) {
  Match match = to("*@example.net");
  match.senders = {Pattern::glob("other@*"), Pattern::glob("shop@*")};
  match.headers = {{"Subject", {*Pattern::regex("^Order [0-9]+$")}}};
  rules = {rule("orders", match)};
  EXPECT_EQ(decides("a@example.net"), "orders");
  EXPECT_EQ(decides("a@example.org"), "default");
  EXPECT_EQ(decides("a@example.net", mail("Hello"), "<x@example.com>"), "default");
  EXPECT_EQ(decides("a@example.net", "Subject: Order\r\n\r\nx\r\n"), "default");
}

TEST_F(Choice, ReadsHeadersDecodedAndEveryFieldOfTheName) {
  Match match;
  match.headers = {{"x-kind", {Pattern::glob("*für alle*")}}};
  rules = {rule("kind", match)};
  const std::string two = "X-Kind: nobody\r\nX-KIND: Gut =?utf-8?q?f=C3=BCr_alle?=\r\n\r\nx\r\n";
  EXPECT_EQ(decides("a@example.net", two), "kind");
  EXPECT_EQ(decides("a@example.net", "X-Kind: nobody\r\n\r\nX-Kind: =?utf-8?q?f=C3=BCr_alle?=\r\n"),
            "default")
      << "the body is no header";
}

TEST_F(Choice, ReadsHeadersAroundBrokenOctets) {
  Match match;
  match.headers = {{"Subject", {*Pattern::regex("^.*: Rechnung [0-9]+$")}}};
  rules = {rule("invoices", match)};
  EXPECT_EQ(decides("a@example.net",
                    "Subject: Gr\xfc\xdf"
                    "e: Rechnung 7\r\n\r\nx\r\n"),
            "invoices");
  EXPECT_EQ(decides("a@example.net",
                    "Subject: Gr\xfc\xdf"
                    "e: Rechnung \xfc\r\n\r\nx\r\n"),
            "default");
}

TEST_F(Choice, KnowsTheSenderOfBounces) {
  Match match;
  match.senders = {*Pattern::regex("^$")};
  rules = {rule("bounces", match)};
  EXPECT_EQ(decides("a@example.net", mail("Hello"), "<>"), "bounces");
  EXPECT_EQ(decides("a@example.net"), "default");
}

class Rules : public RelayTest {};

TEST_F(Rules, DecideForEachRecipientByItself) {
  options.rules = {rule("watched", to("watched@*"), Mode::observe), rule("free", to("free@*"), Mode::off)};
  const std::vector<std::string> all = {"a@example.net", "watched@example.net", "free@example.net"};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(send(mail("Hello"), all).final_reply, queued);
  EXPECT_EQ(upstream.copies("a@example.net"), 1);
  EXPECT_EQ(upstream.copies("watched@example.net"), 2);
  EXPECT_EQ(upstream.copies("free@example.net"), 2);
  EXPECT_EQ(window.records.size(), 2U);
}

TEST_F(Rules, AreScopesOfTheirOwn) {
  send(mail("Hello"), {"a@example.net"});
  options.rules = {rule("new", {})};
  send(mail("Hello"), {"a@example.net"});
  EXPECT_EQ(upstream.copies("a@example.net"), 2);
  send(mail("Hello"), {"a@example.net"});
  EXPECT_EQ(upstream.copies("a@example.net"), 2);
}

TEST_F(Rules, CommitEveryRecipientWhateverItsRule) {
  options.rules = {rule("b", to("b@*"))};
  send(mail("Hello"), {"a@example.net", "b@example.net"});
  EXPECT_EQ(window.commits, 2);
  EXPECT_EQ(send(mail("Hello"), {"b@example.net", "a@example.net"}).final_reply, queued);
  EXPECT_EQ(upstream.accepted.size(), 1U);
}

// What one rule refuses is refused for all: a message has one reply. Nothing stays held.
TEST_F(Rules, ThatRefuseHoldNothingOfTheOthers) {
  auto by_key = rule("key", to("b@*"));
  by_key.policy.identity.strategies = {{message::Strategy::Kind::key, {}}};
  options.rules = {by_key};
  options.policy.identity.strategies = {{message::Strategy::Kind::content, {}}};
  const std::string key = "Idempotency-Key: order-1001\r\n";
  send(mail("Hello", "<1@x>", key), {"b@example.net"});
  EXPECT_EQ(send(mail("Goodbye", "<2@x>", key), {"a@example.net", "b@example.net"}).final_reply.code, 554);
  EXPECT_EQ(send(mail("Goodbye", "<3@x>", key), {"a@example.net"}).final_reply, queued);
}

TEST_F(Rules, ThatOnlyObserveNeverKeepAMessageBack) {
  options.rules = {rule("watched", {}, Mode::observe)};
  options.rules[0].policy.store_down = window::StoreDownPolicy::defer;
  window.store_down = true;
  EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply, queued);
  window.store_down = false;
  window.begin_fails = true;
  EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply, queued);
  window.begin_fails = false;
  window.lose_next_claims = 1;
  EXPECT_EQ(send(mail("Other"), {"a@example.net"}).final_reply, queued);
  EXPECT_EQ(upstream.copies("a@example.net"), 3);
}

}  // namespace
}  // namespace mailonce::relay::test
