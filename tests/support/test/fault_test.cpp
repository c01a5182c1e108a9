#include "support/fault.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace mailonce::test {
namespace {

using std::chrono::milliseconds;

Situation at(Phase phase, std::span<const std::string> recipients = {}) {
  Situation situation;
  situation.phase = phase;
  situation.recipients = recipients;
  return situation;
}

TEST(Fault, IsReadWithOptionsPhaseVerbAndArgument) {
  auto fault = Fault::parse("times=every nth=3 connection=2 delay=1s rcpt[4] reply 450 4.2.1 Later");
  EXPECT_EQ(fault.times, Fault::every);
  EXPECT_EQ(fault.nth, 3u);
  EXPECT_EQ(fault.connection, 2u);
  EXPECT_EQ(fault.before, milliseconds(1000));
  EXPECT_EQ(fault.phase, Phase::rcpt);
  EXPECT_EQ(fault.recipient, 4u);
  EXPECT_EQ(fault.verb, Verb::reply);
  EXPECT_EQ(fault.text, "450 4.2.1 Later");
}

TEST(Fault, ThreeDigitsStandForAReply) {
  EXPECT_EQ(Fault::parse("dot 451").text, "451 As you asked");
  EXPECT_EQ(Fault::parse("dot 451 4.3.0 No").text, "451 4.3.0 No");
}

TEST(Fault, TextMayHoldEscapedControlOctets) {
  EXPECT_EQ(Fault::parse("starttls inject 250-a\\r\\n250 b\\0").text, std::string("250-a\r\n250 b\0", 13));
}

TEST(Fault, SaysWhatItDoesNotUnderstand) {
  for (const char* wrong :
       {"", "dot", "dott close", "dot clos", "dot delay", "dot delay 8", "mail accept-then-close",
        "dot reply", "close dot", "weight=3 dot close", "times=x dot close", "dot close now"})
    EXPECT_THROW(Fault::parse(wrong), std::invalid_argument) << wrong;
}

TEST(Fault, AnAddressAsksForOneAtItsPhaseOnly) {
  EXPECT_FALSE(Fault::of_address("fault+dot.close@example.com", Phase::rcpt));
  auto fault = Fault::of_address("fault+dot.delay.8s@example.com", Phase::dot);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->time, milliseconds(8000));
  EXPECT_FALSE(Fault::of_address("fault@example.com", Phase::dot));
  EXPECT_FALSE(Fault::of_address("fault+nonsense@example.com", Phase::dot));
}

TEST(FaultPlan, UsesAFaultUpAndKeepsTheOrderOfArming) {
  FaultPlan plan;
  plan.arm(Fault::parse("mail 450"));
  plan.arm(Fault::parse("times=2 mail 550"));
  EXPECT_FALSE(plan.take(at(Phase::dot)));
  EXPECT_EQ(plan.take(at(Phase::mail))->text.substr(0, 3), "450");
  EXPECT_EQ(plan.take(at(Phase::mail))->text.substr(0, 3), "550");
  EXPECT_EQ(plan.take(at(Phase::mail))->text.substr(0, 3), "550");
  EXPECT_FALSE(plan.take(at(Phase::mail)));
  EXPECT_EQ(plan.armed(), 0u);
}

TEST(FaultPlan, TheNthOpportunityLeavesTheOnesBeforeAlone) {
  FaultPlan plan;
  plan.arm(Fault::parse("nth=3 data close"));
  EXPECT_FALSE(plan.take(at(Phase::data)));
  EXPECT_FALSE(plan.take(at(Phase::data)));
  EXPECT_TRUE(plan.take(at(Phase::data)));
}

TEST(FaultPlan, ARecipientIsMeantByItsPlaceOrByItsAddress) {
  std::vector<std::string> two = {"x@one.example", "y@two.example"};
  FaultPlan plan;
  plan.arm(Fault::parse("rcpt[0] 450"));
  EXPECT_FALSE(plan.take(at(Phase::rcpt, two)));
  EXPECT_TRUE(plan.take(at(Phase::rcpt, std::span(two).first(1))));
  plan.arm(Fault::parse("to=*@two.example rcpt 450"));
  EXPECT_FALSE(plan.take(at(Phase::rcpt, std::span(two).first(1))));
  EXPECT_TRUE(plan.take(at(Phase::rcpt, two)));
}

}  // namespace
}  // namespace mailonce::test
