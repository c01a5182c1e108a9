// Doubt: what the client is told, and what a resend looks like.
#include "fixture.h"

namespace mailonce::relay::test {
namespace {

class Doubt : public RelayTest {
 protected:
  // An attempt whose dot was sent and not answered; the upstream has the message.
  void leave_doubt() {
    upstream.plans = {{.broken = Break::accepted_unsaid}};
    const auto result = send(mail("Hello"), {"a@example.net"});
    EXPECT_EQ(result.final_reply.code, 451);
    EXPECT_EQ(result.final_reply.text.substr(0, 5), "4.4.2");
    EXPECT_EQ(window.doubts, 1);
    EXPECT_EQ(upstream.borrowed, 1) << "after the dot nothing is retried";
  }
};

TEST_F(Doubt, IsResentOnceWithTheFirstMessageId) {
  leave_doubt();
  EXPECT_TRUE(send(mail("Hello", "<second@app.example>"), {"a@example.net"}).final_reply.completed());
  EXPECT_EQ(upstream.copies("a@example.net"), 2);
  EXPECT_EQ(upstream.accepted[1].content, mail("Hello", "<first@app.example>"));
  EXPECT_TRUE(send(mail("Hello", "<third@app.example>"), {"a@example.net"}).final_reply.completed());
  EXPECT_EQ(upstream.copies("a@example.net"), 2);
}

TEST_F(Doubt, IsResentUnchangedWhenDkimSigned) {
  leave_doubt();
  const auto sealed = mail("Hello", "<second@app.example>", "DKIM-Signature: v=1; a=rsa-sha256; b=abc\r\n");
  send(sealed, {"a@example.net"});
  EXPECT_EQ(upstream.accepted[1].content, sealed);
}

TEST_F(Doubt, IsResentUnchangedWhenThatIsSwitchedOff) {
  options.resend_first_message_id = false;
  leave_doubt();
  send(mail("Hello", "<second@app.example>"), {"a@example.net"});
  EXPECT_EQ(upstream.accepted[1].content, mail("Hello", "<second@app.example>"));
}

TEST_F(Doubt, NeverPutsTheFirstMessageIdOnOtherContent) {
  options.policy.mode = Mode::observe;
  const auto keyed = [](const std::string& text, const std::string& id) {
    return mail(text, id, "Idempotency-Key: order-1001\r\n");
  };
  upstream.plans = {{.broken = Break::accepted_unsaid}};
  send(keyed("Hello", "<first@app.example>"), {"a@example.net"});
  send(keyed("Goodbye", "<second@app.example>"), {"a@example.net"});
  EXPECT_EQ(upstream.accepted[1].content, keyed("Goodbye", "<second@app.example>"));
}

// What stands in a record could come from anywhere; it must not break out of its header field.
TEST_F(Doubt, NeverPutsAStrangeMessageIdIntoAMessage) {
  leave_doubt();
  for (auto& [key, record] : window.records) record.message_id = "<x@y>\r\nBcc: evil@example.org";
  send(mail("Hello", "<second@app.example>"), {"a@example.net"});
  EXPECT_EQ(upstream.accepted[1].content, mail("Hello", "<second@app.example>"));
}

TEST_F(Doubt, IsAnsweredWithSuccessUnderSuppress) {
  options.policy.doubt = window::DoubtPolicy::suppress;
  leave_doubt();
  EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply.code, 250);
  EXPECT_EQ(upstream.copies("a@example.net"), 1);
}

TEST_F(Doubt, WaitsForAPersonUnderDefer) {
  options.policy.doubt = window::DoubtPolicy::defer;
  leave_doubt();
  const auto result = send(mail("Hello"), {"a@example.net"});
  EXPECT_EQ(result.final_reply.text.substr(0, 5), "4.4.2");
  EXPECT_EQ(upstream.copies("a@example.net"), 1);
  EXPECT_EQ(window.waits, 0) << "nobody ends this while the client waits";
}

// Only a completed reply to the dot is success: a 354 or a 1xx says nothing.
TEST_F(Doubt, IsWhatAnIntermediateReplyToTheDotMeans) {
  upstream.plans = {{.final_reply = {354, "Go on"}}};
  EXPECT_EQ(send(mail("Hello"), {"a@example.net"}).final_reply.text.substr(0, 5), "4.4.2");
  EXPECT_EQ(window.doubts, 1);
}

}  // namespace
}  // namespace mailonce::relay::test
