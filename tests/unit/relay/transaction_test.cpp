#include "mailonce/relay/transaction.h"

#include "fixture.h"

namespace mailonce::relay::test {
namespace {

const smtp::Reply queued{250, "2.0.0 Ok: queued as 1"};

class Promise : public RelayTest {};

TEST_F(Promise, ANewMessageIsForwardedAndTheUpstreamsReplyIsTheReply) {
  const auto result = send(mail("Hello"), {"a@example.net"});
  EXPECT_EQ(result.final_reply, queued);
  ASSERT_EQ(upstream.accepted.size(), 1U);
  EXPECT_EQ(upstream.accepted[0].content, mail("Hello"));
  EXPECT_EQ(window.commits, 1);
}

TEST_F(Promise, ARepeatIsAnsweredWithTheFirstReplyAndNotForwarded) {
  send(mail("Hello"), {"a@example.net"});
  upstream.plans.push_back({.final_reply = {250, "2.0.0 Ok: queued as 2"}});
  const auto again = send(mail("Hello", "<second@app.example>"), {"a@example.net"});
  EXPECT_EQ(again.final_reply, queued);
  EXPECT_EQ(upstream.copies("a@example.net"), 1);
}

TEST_F(Promise, ADifferentMessageIsNeverDropped) {
  send(mail("Hello"), {"a@example.net"});
  send(mail("Hello!"), {"a@example.net"});
  EXPECT_EQ(upstream.copies("a@example.net"), 2);
}

TEST_F(Promise, OnlyTheNewRecipientsOfARepeatAreForwarded) {
  send(mail("Hello"), {"a@example.net", "b@example.net"});
  const auto again = send(mail("Hello"), {"a@example.net", "b@example.net", "c@example.net"});
  EXPECT_TRUE(again.final_reply.completed());
  EXPECT_EQ(upstream.copies("a@example.net"), 1);
  EXPECT_EQ(upstream.copies("b@example.net"), 1);
  EXPECT_EQ(upstream.copies("c@example.net"), 1);
  EXPECT_EQ(upstream.accepted.back().recipients, std::vector<std::string>{"c@example.net"});
}

TEST_F(Promise, ARecipientNamedTwiceHasOneRecord) {
  const auto result = send(mail("Hello"), {"a@example.net", "a@EXAMPLE.net"});
  EXPECT_TRUE(result.final_reply.completed());
  EXPECT_EQ(upstream.accepted.size(), 1U);
  EXPECT_EQ(window.records.size(), 1U);
}

// A refusal is the upstream's own, at RCPT or at the dot, and the next attempt is forwarded.
TEST_F(Promise, ARefusalIsPassedOnAndTheNextAttemptIsForwarded) {
  const smtp::Reply refusals[] = {{451, "4.3.0 Later"}, {550, "5.1.1 Never"}, {421, "4.3.0 Bye"}};
  for (const auto& refusal : refusals) {
    const auto content = mail("refused with " + refusal.text);
    upstream.plans = {{.mail = refusal},
                      {.rcpt = {{"a@example.net", refusal}}},
                      {.data = refusal},
                      {.final_reply = refusal}};
    EXPECT_EQ(send(content, {"a@example.net"}).recipients[0], refusal) << "MAIL";
    EXPECT_EQ(send(content, {"a@example.net"}).recipients[0], refusal) << "RCPT";
    EXPECT_EQ(send(content, {"a@example.net"}).final_reply, refusal) << "DATA";
    EXPECT_EQ(send(content, {"a@example.net"}).final_reply, refusal) << "dot";
    EXPECT_EQ(upstream.copies("a@example.net"), 0);
    EXPECT_EQ(send(content, {"a@example.net"}).final_reply, queued);
    EXPECT_EQ(upstream.copies("a@example.net"), 1);
    upstream.accepted.clear();
  }
}

// Any step before the dot, on a stale connection or a fresh one: the client sees nothing of it.
TEST_F(Promise, AConnectionThatBreaksBeforeTheDotIsReplacedUnseen) {
  int number = 0;
  for (const bool reused : {true, false}) {
    for (const auto step : {Break::envelope, Break::data, Break::content, Break::send_before_dot}) {
      upstream.plans = {{.broken = step, .reused = reused}};
      const auto content = mail("number " + std::to_string(++number));
      EXPECT_EQ(send(content, {"a@example.net"}).final_reply, queued) << static_cast<int>(step);
      EXPECT_EQ(upstream.copies("a@example.net"), number);
    }
  }
  EXPECT_EQ(window.commits, number);
}

// 552 while the body is under way: an answer, not a broken connection to be replaced.
TEST_F(Promise, ARefusalInTheMiddleOfTheBodyIsTheAnswer) {
  for (const auto step : {Break::refused_in_body, Break::refused_before_dot}) {
    const smtp::Reply refusal{552, "5.3.4 Too large"};
    upstream.borrowed = 0;
    upstream.plans = {{.broken = step, .final_reply = refusal}};
    EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply, refusal);
    EXPECT_EQ(upstream.borrowed, 1);
    EXPECT_TRUE(window.records.empty()) << "released, not in doubt";
  }
  EXPECT_EQ(upstream.copies("a@example.net"), 0);
  EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply, queued);
}

TEST_F(Promise, AConnectionThatBreaksAtTheThirdTryIsATemporaryFailure) {
  for (const auto step : {Break::data, Break::content, Break::send_before_dot}) {
    upstream.plans = {{.broken = step}, {.broken = step}, {.broken = step}};
    EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply.code, 451);
  }
  EXPECT_EQ(upstream.copies("a@example.net"), 0);
  EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply, queued);
}

// No network error is ever a 5xx: it would bounce the mail.
TEST_F(Promise, AnUnreachableUpstreamIsATemporaryFailureAtRcpt) {
  using upstream::Errc;
  for (const auto errc :
       {Errc::unreachable, Errc::exhausted, Errc::timed_out, Errc::malformed_reply, Errc::tls_required,
        Errc::tls_failed, Errc::refused, Errc::auth_failed, Errc::lacks_extension}) {
    upstream.plans = {{.broken = Break::borrow, .error = make_error_code(errc)}};
    EXPECT_TRUE(send(mail("Hello"), {"a@example.net"}).recipients[0].transient());
  }
}

// The client was told 250 for both; a fresh connection takes only one: neither is sent, and the client hears
// why.
TEST_F(Promise, ARecipientRefusedOnTheSecondConnectionFailsTheWholeMessage) {
  const smtp::Reply full{452, "4.2.2 Mailbox full"};
  upstream.plans = {{.broken = Break::data}, {.rcpt = {{"b@example.net", full}}}};
  const auto result = send(mail("Hello"), {"a@example.net", "b@example.net"});
  EXPECT_EQ(result.final_reply, full);
  EXPECT_TRUE(upstream.accepted.empty());
  EXPECT_EQ(window.releases, 1);
}

TEST_F(Promise, OnlyRecipientsTheUpstreamAcceptedAreClaimed) {
  upstream.plans = {{.rcpt = {{"b@example.net", {550, "5.1.1 Unknown"}}}}};
  const auto result = send(mail("Hello"), {"a@example.net", "b@example.net"});
  EXPECT_TRUE(result.recipients[0].completed());
  EXPECT_EQ(result.recipients[1].code, 550);
  EXPECT_EQ(window.records.size(), 1U);
}

class Busy : public RelayTest {
 protected:
  void hold(const std::string& content) {
    const auto identity = message::identify(content, options.policy.scope, options.policy.identity);
    key = identity->fingerprint.hex() + ":" +
          message::recipient_digest("a@example.net", options.policy.identity.secret);
    window.held.insert(key);
  }
  std::string key;
};

TEST_F(Busy, GetsTheFirstReplyWhenTheOtherAttemptSucceeds) {
  hold(mail("Hello"));
  window.on_wait = [this] {
    if (window.waits < 3) return;
    window.held.clear();
    auto& record = window.records[key];
    record.state = window::State::sent;
    record.reply = {250, "2.0.0 Ok: queued as 7"};
  };
  EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply.text, "2.0.0 Ok: queued as 7");
  EXPECT_TRUE(upstream.accepted.empty());
}

TEST_F(Busy, IsForwardedWhenTheOtherAttemptWasRefused) {
  hold(mail("Hello"));
  window.on_wait = [this] { window.held.clear(); };
  EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply, queued);
}

TEST_F(Busy, IsATemporaryFailureAfterTheWait) {
  hold(mail("Hello"));
  options.wait = milliseconds(20);
  EXPECT_EQ(send(mail("Hello"), {"b@example.net", "a@example.net"}).final_reply.text.substr(0, 5), "4.4.5");
  EXPECT_TRUE(upstream.accepted.empty());
}

TEST_F(Busy, EndsWhenItsClientLeavesAndSendsNothing) {
  hold(mail("Hello"));
  window.on_wait = [this] { window.held.clear(); };  // the other attempt is refused: this one could be sent
  client_left = [] { return true; };
  const auto result = send(mail("Hello"), {"a@example.net"});
  EXPECT_EQ(result.final_reply.code, 451);
  EXPECT_EQ(window.waits, 1);
  EXPECT_TRUE(upstream.accepted.empty());
}

class Store : public RelayTest {};

TEST_F(Store, DownUnderDeferIsATemporaryFailureAndNeverADuplicate) {
  send(mail("Hello"), {"a@example.net"});
  window.store_down = true;
  const auto result = send(mail("Hello"), {"a@example.net"});
  EXPECT_EQ(result.final_reply.text.substr(0, 5), "4.3.0");
  EXPECT_EQ(upstream.copies("a@example.net"), 1);
}

TEST_F(Store, GoneBeforeBeginMeansThatNoDotIsWritten) {
  window.begin_fails = true;
  EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply.text.substr(0, 5), "4.3.0");
  EXPECT_TRUE(upstream.accepted.empty());
  EXPECT_EQ(window.releases, 1);
}

TEST_F(Store, AClaimLostBeforeTheDotIsClaimedAgain) {
  window.lose_next_claims = 2;
  EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply, queued);
  EXPECT_EQ(upstream.copies("a@example.net"), 1);
}

// Claimed again, the recipients are the client's again, not those that were left after the first claim.
TEST_F(Store, AClaimLostOnAPartialRepeatIsClaimedAgainForTheRightRecipients) {
  send(mail("Hello"), {"a@example.net"});
  window.lose_next_claims = 1;
  const auto result = send(mail("Hello"), {"a@example.net", "b@example.net", "c@example.net"});
  EXPECT_TRUE(result.final_reply.completed());
  ASSERT_EQ(upstream.accepted.size(), 2U);
  EXPECT_EQ(upstream.accepted[1].recipients, (std::vector<std::string>{"b@example.net", "c@example.net"}));
  EXPECT_EQ(window.records.size(), 3U);
}

TEST_F(Store, ForgettingBetweenTwoClaimsSendsToEveryRecipient) {
  send(mail("Hello"), {"a@example.net"});
  window.lose_next_claims = 1;
  window.on_lost = [this] { window.records.clear(); };
  send(mail("Hello"), {"a@example.net", "b@example.net"});
  EXPECT_EQ(upstream.accepted.back().recipients,
            (std::vector<std::string>{"a@example.net", "b@example.net"}));
}

// The gate is asked on every connection: making another may have outlasted the lease.
TEST_F(Store, AClaimLostWhileAnotherConnectionIsMadeIsNotSentOn) {
  upstream.plans = {{.broken = Break::send_before_dot}};
  window.begins_before_loss = 1;
  const auto result = send(mail("Hello"), {"a@example.net"});
  EXPECT_TRUE(result.final_reply.completed());
  EXPECT_EQ(upstream.copies("a@example.net"), 1);
  EXPECT_EQ(window.releases, 1) << "the lost claim was given up and made again";
}

TEST_F(Store, AClaimLostAgainAndAgainIsATemporaryFailure) {
  window.lose_next_claims = 100;
  EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply.text.substr(0, 5), "4.4.5");
  EXPECT_TRUE(upstream.accepted.empty());
}

// begin's answer is awaited even when the upstream refuses first: the records are then released.
TEST_F(Store, IsLeftCleanWhenDataIsRefused) {
  upstream.plans = {{.data = {554, "5.5.1 No"}}};
  EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply.code, 554);
  EXPECT_EQ(window.releases, 1);
  EXPECT_TRUE(window.records.empty());
}

}  // namespace
}  // namespace mailonce::relay::test
