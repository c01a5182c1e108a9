// Keys used again for other content, and the modes.
#include "fixture.h"

namespace mailonce::relay::test {
namespace {

const smtp::Reply queued{250, "2.0.0 Ok: queued as 1"};

class Key : public RelayTest {
 protected:
  static std::string keyed(const std::string& text) {
    return mail(text, "<x@y>", "Idempotency-Key: order-1001\r\n");
  }
};

TEST_F(Key, MakesTwoBuildsOfOneMessageTheSame) {
  send(keyed("Hello"), {"a@example.net"});
  EXPECT_EQ(send(keyed("Hello"), {"a@example.net"}).final_reply, queued);
  EXPECT_EQ(upstream.copies("a@example.net"), 1);
}

TEST_F(Key, ReusedForOtherContentIsRefusedAndNotDropped) {
  send(keyed("Hello"), {"a@example.net"});
  const auto result = send(keyed("Goodbye"), {"a@example.net"});
  EXPECT_EQ(result.final_reply.code, 554);
  EXPECT_EQ(result.final_reply.text.substr(0, 5), "5.6.0");
  EXPECT_EQ(upstream.copies("a@example.net"), 1);
}

TEST_F(Key, ReusedForOtherContentIsForwardedOnceUnderForward) {
  options.policy.key_conflict = Conflict::forward;
  send(keyed("Hello"), {"a@example.net"});
  send(keyed("Goodbye"), {"a@example.net"});
  send(keyed("Goodbye"), {"a@example.net"});
  EXPECT_EQ(upstream.copies("a@example.net"), 2);
  // The first content's repeats are still recognised, beside a recipient who never got it.
  send(keyed("Hello"), {"a@example.net", "b@example.net"});
  EXPECT_EQ(upstream.copies("a@example.net"), 2);
  EXPECT_EQ(upstream.copies("b@example.net"), 1);
}

TEST_F(Key, ReusedForOtherContentIsADuplicateUnderDuplicate) {
  options.policy.key_conflict = Conflict::duplicate;
  send(keyed("Hello"), {"a@example.net"});
  EXPECT_EQ(send(keyed("Goodbye"), {"a@example.net"}).final_reply, queued);
  EXPECT_EQ(upstream.copies("a@example.net"), 1);
}

// A key that is the Message-ID: leaving it out wins over the first attempt's.
TEST_F(Key, ThatIsTheMessageIdIsLeftOutOnceInAResend) {
  options.strip_key_header = true;
  options.policy.identity.key_headers = {"Message-ID"};
  upstream.plans = {{.broken = Break::accepted_unsaid}};
  send(mail("Hello"), {"a@example.net"});
  send(mail("Hello"), {"a@example.net"});
  ASSERT_EQ(upstream.accepted.size(), 2U);
  EXPECT_EQ(upstream.accepted[1].content, upstream.accepted[0].content);
}

TEST_F(Key, IsLeftOutOnTheWayUpstreamWhenAskedTo) {
  options.strip_key_header = true;
  send(keyed("Hello"), {"a@example.net"});
  EXPECT_EQ(upstream.accepted[0].content, mail("Hello", "<x@y>"));
  send(keyed("Hello"), {"a@example.net"});
  EXPECT_EQ(upstream.copies("a@example.net"), 1);
}

class ModeOf : public RelayTest {};

TEST_F(ModeOf, ObserveForwardsEverythingAndStillRecords) {
  options.policy.mode = Mode::observe;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply, queued);
  EXPECT_EQ(upstream.copies("a@example.net"), 3);
  EXPECT_EQ(window.records.size(), 1U);
}

TEST_F(ModeOf, ObserveForwardsWhenTheStoreIsDown) {
  options.policy.mode = Mode::observe;
  window.store_down = true;
  EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply, queued);
}

TEST_F(ModeOf, OffForwardsEverythingAndRecordsNothing) {
  options.policy.mode = Mode::off;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply, queued);
  EXPECT_EQ(upstream.copies("a@example.net"), 2);
  EXPECT_TRUE(window.records.empty());
}

TEST_F(ModeOf, AMailThatLoopsIsRefused) {
  std::string received;
  for (int i = 0; i <= 100; ++i) received += "Received: from a by b; Tue, 1 Dec 2026 10:00:00 +0000\r\n";
  EXPECT_EQ(send(mail("Hello", "<x@y>", received), {"a@example.net"}).final_reply.text.substr(0, 5), "5.4.6");
}

TEST_F(ModeOf, ALargeMessageIsFingerprintedOffTheWorkersThread) {
  options.offload_octets = 10;
  EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply, queued);
  send(mail("Hello"), {"a@example.net"});
  EXPECT_EQ(upstream.copies("a@example.net"), 1);
}

}  // namespace
}  // namespace mailonce::relay::test
