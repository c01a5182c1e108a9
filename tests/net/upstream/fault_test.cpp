// Each fault at each step of a session and a transaction: what is told to the relay, and that the next
// transaction is none the worse.
#include <gmock/gmock.h>

#include "rig.h"

namespace mailonce::upstream {
namespace {

struct Fault {
  const char* phase;
  const char* verb;
};

std::string step_of(const std::string& phase) {
  if (phase == "mail" || phase == "rcpt") return "envelope";
  if (phase == "data") return "data";
  if (phase == "dot") return "send";
  return "borrow";
}

void be_patient_only(Options& options, bool patient) {
  if (patient) return;
  options.timeouts.greeting = options.timeouts.command = options.timeouts.final = milliseconds(150);
}

class FaultGivesAnError
    : public testing::TestWithParam<std::tuple<const char*, std::pair<const char*, Errc>>> {};

TEST_P(FaultGivesAnError, and_the_next_transaction_works) {
  const auto& [phase, fault] = GetParam();
  const auto& [verb, errc] = fault;
  Rig rig;
  rig.options.username = "user";
  rig.options.password = "secret";
  be_patient_only(rig.options, errc != Errc::timed_out);
  rig.provider.arm(std::string(phase) + " " + verb);
  const auto first = rig.attempt();
  EXPECT_EQ(first.step, step_of(phase));
  // A reset right after the handshake of TCP may already be what connect() reports.
  const bool connecting = std::string_view(phase) == "banner" && std::string_view(verb) == "rst";
  EXPECT_TRUE(first.error == make_error_code(errc) ||
              (connecting && first.error == make_error_code(Errc::unreachable)))
      << first.error.message();
  EXPECT_EQ(first.dot_sent, std::string_view(phase) == "dot");
  EXPECT_THAT(rig.logged(), testing::HasSubstr("upstream_failed"));
  EXPECT_EQ(rig.pool().counts().open, 0U);

  rig.options.timeouts = {};
  rig.end_pool();
  const auto second = rig.attempt();
  EXPECT_EQ(second.step, "send");
  EXPECT_TRUE(second.reply.completed());
  // A spoilt reply to the dot: the upstream took that message. This is what doubt is for.
  const std::string spoilt = std::string(phase) + " " + verb;
  const bool taken =
      spoilt == "dot half" || spoilt == "dot long" || spoilt == "dot lf" || spoilt == "dot nul";
  EXPECT_EQ(rig.provider.stats().accepted, taken ? 2U : 1U);
}

INSTANTIATE_TEST_SUITE_P(
    Everywhere, FaultGivesAnError,
    testing::Combine(testing::Values("banner", "ehlo", "auth", "mail", "rcpt", "data", "dot"),
                     testing::Values(std::pair{"close", Errc::closed}, std::pair{"rst", Errc::closed},
                                     std::pair{"half", Errc::timed_out}, std::pair{"stall", Errc::timed_out},
                                     std::pair{"garbage", Errc::malformed_reply},
                                     std::pair{"mismatched", Errc::malformed_reply},
                                     std::pair{"long", Errc::malformed_reply},
                                     std::pair{"lf", Errc::malformed_reply},
                                     std::pair{"nul", Errc::malformed_reply})));

class FaultIsNone : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(FaultIsNone, for_an_unusual_but_proper_reply) {
  const auto& [phase, verb] = GetParam();
  Rig rig;
  rig.options.username = "user";
  rig.options.password = "secret";
  rig.provider.arm(std::string(phase) + " " + verb);
  const auto only = rig.attempt();
  EXPECT_EQ(only.step, "send") << only.error.message();
  EXPECT_TRUE(only.reply.completed());
}

INSTANTIATE_TEST_SUITE_P(Everywhere, FaultIsNone,
                         testing::Combine(testing::Values("banner", "auth", "mail", "rcpt", "data", "dot"),
                                          testing::Values("split", "multiline 200", "no-text")));

class RefusalInSetUp : public testing::TestWithParam<std::pair<const char*, Errc>> {};

TEST_P(RefusalInSetUp, is_an_error_of_its_own_and_its_text_is_logged) {
  Rig rig;
  rig.options.username = "user";
  rig.options.password = "secret";
  rig.provider.arm(GetParam().first);
  const auto only = rig.attempt();
  EXPECT_EQ(only.step, "borrow");
  EXPECT_EQ(only.error, make_error_code(GetParam().second));
  EXPECT_THAT(rig.logged(), testing::HasSubstr("not today"));
  EXPECT_EQ(rig.provider.stats().mail, 0U);
}

INSTANTIATE_TEST_SUITE_P(Phases, RefusalInSetUp,
                         testing::Values(std::pair{"banner reply 421 not today", Errc::refused},
                                         std::pair{"banner reply 554 not today", Errc::refused},
                                         std::pair{"ehlo reply 450 not today", Errc::refused},
                                         std::pair{"ehlo reply 550 not today", Errc::refused},
                                         std::pair{"auth reply 454 not today", Errc::auth_failed},
                                         std::pair{"auth reply 535 not today", Errc::auth_failed}));

class Refusal : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(Refusal, is_a_value_as_the_upstream_said_it) {
  const auto& [phase, code] = GetParam();
  Rig rig;
  rig.provider.arm(std::string(phase) + " reply " + code + " 4.2.1 not today");
  const auto only = rig.attempt();
  EXPECT_EQ(only.step, step_of(phase));
  EXPECT_FALSE(only.error) << only.error.message();
  EXPECT_EQ(only.reply, (smtp::Reply{std::atoi(code), "4.2.1 not today"}));
  EXPECT_TRUE(rig.settled());
  EXPECT_EQ(rig.pool().counts().idle, std::string_view(code) == "421" ? 0U : 1U);
}

INSTANTIATE_TEST_SUITE_P(Phases, Refusal,
                         testing::Combine(testing::Values("mail", "rcpt", "data", "dot"),
                                          testing::Values("421", "450", "451", "454", "550", "554")));

class RefusalInTheBody : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

// 552 for a message too large, before its end. The body is far larger than what sockets hold.
TEST_P(RefusalInTheBody, is_the_answer_and_no_dot_is_sent) {
  const auto& [profile, verb] = GetParam();
  Rig rig(test::Profile::load(profile));
  rig.provider.arm(std::string("octets=100000 body ") + verb + " 552 5.3.4 too large");
  std::string large = "Subject: x\r\n\r\n";
  while (large.size() < 16'000'000) large += std::string(70, 'x') + "\r\n";
  const auto only = rig.attempt(large);
  EXPECT_FALSE(only.error) << only.error.message();
  EXPECT_EQ(only.reply, (smtp::Reply{552, "5.3.4 too large"}));
  EXPECT_FALSE(only.dot_sent);
  EXPECT_EQ(rig.provider.stats().accepted, 0U);
  EXPECT_TRUE(rig.settled());
  EXPECT_EQ(rig.pool().counts().idle, 0U);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, RefusalInTheBody,
                         testing::Combine(testing::Values("plain", "ses"),
                                          testing::Values("reply", "reply-close")));

TEST(Answer, that_closes_in_the_body_is_no_refusal_of_the_message) {
  Rig rig;
  rig.provider.arm("octets=100000 body reply-close 421 4.3.2 shutting down");
  const auto only = rig.attempt("Subject: x\r\n\r\n" + std::string(8'000'000, 'x') + "\r\n");
  EXPECT_EQ(only.error, make_error_code(Errc::closed));
  EXPECT_FALSE(only.dot_sent);
}

// The relay does it again on another connection.
TEST(Connection, that_ends_in_the_body_is_closed_and_nothing_else) {
  for (const std::string verb : {"close", "rst"}) {
    Rig rig;
    rig.provider.arm("octets=100000 body " + verb);
    const auto only = rig.attempt("Subject: x\r\n\r\n" + std::string(8'000'000, 'x') + "\r\n");
    EXPECT_EQ(only.error, make_error_code(Errc::closed)) << verb << ": " << only.error.message();
    EXPECT_FALSE(only.dot_sent);
  }
}

TEST(Answer, that_can_not_be_one_is_malformed) {
  for (const std::string fault : {"mail reply 354 go", "rcpt reply 334 go", "data reply 250 done"}) {
    Rig rig;
    rig.provider.arm(fault);
    EXPECT_EQ(rig.attempt().error, make_error_code(Errc::malformed_reply)) << fault;
  }
  Rig rig;
  rig.provider.arm("dot reply 354 go");
  const auto only = rig.attempt();
  EXPECT_EQ(only.error, make_error_code(Errc::malformed_reply));
  EXPECT_TRUE(only.dot_sent);
}

// It could be taken for the answer to what is said next, the final dot at worst.
TEST(Answer, nobody_asked_for_keeps_the_dot_from_being_sent) {
  for (const std::string profile : {"plain", "ses"}) {
    Rig rig(test::Profile::load(profile));
    rig.provider.arm("data inject 250 2.0.0 Ok: queued\\r\\n");
    const auto only = rig.attempt();
    EXPECT_EQ(only.step, "send");
    EXPECT_EQ(only.error, make_error_code(Errc::malformed_reply));
    EXPECT_FALSE(only.dot_sent);
    EXPECT_EQ(rig.provider.stats().accepted, 0U);
    EXPECT_EQ(rig.provider.stats().dots, 0U);
  }
  Rig rig;
  rig.provider.arm("rcpt inject 354 go\\r\\n");
  const auto only = rig.attempt();
  EXPECT_EQ(only.step, "data");
  // Read together with the answer to RCPT, or still unread when DATA is due: it looks like a notice then.
  EXPECT_TRUE(only.error == make_error_code(Errc::malformed_reply) ||
              only.error == make_error_code(Errc::closed))
      << only.error.message();
}

TEST(Answer, after_the_dot_counts_even_when_the_connection_ends_then) {
  Rig rig;
  rig.provider.arm("after close");
  const auto first = rig.attempt();
  EXPECT_TRUE(first.reply.completed());
  EXPECT_TRUE(rig.provider.wait_for([](const test::Stats& stats) { return stats.open == 0; }));
  EXPECT_TRUE(rig.attempt().reply.completed());
  EXPECT_EQ(rig.provider.stats().accepted, 2U);
}

TEST(Connection, that_can_not_be_made_is_unreachable) {
  Rig rig;
  rig.provider.stop_listening();
  const auto only = rig.attempt();
  EXPECT_EQ(only.step, "borrow");
  EXPECT_EQ(only.error, make_error_code(Errc::unreachable));
  EXPECT_THAT(rig.logged(), testing::HasSubstr("connect"));
}

TEST(Log, never_holds_the_password) {
  Rig rig;
  rig.options.username = "user";
  rig.options.password = "secret";
  rig.provider.arm("auth reply 535 what is AUTH PLAIN AHVzZXIAc2VjcmV0");
  EXPECT_EQ(rig.attempt().error, make_error_code(Errc::auth_failed));
  EXPECT_THAT(rig.logged(), testing::HasSubstr("535"));
  EXPECT_THAT(rig.logged(), testing::Not(testing::HasSubstr("AHVzZXIAc2VjcmV0")));
  EXPECT_THAT(rig.logged(), testing::Not(testing::HasSubstr("secret")));
}

}  // namespace
}  // namespace mailonce::upstream
