// TLS with the upstream: made before anything is said, or nothing is said.
#include <gmock/gmock.h>

#include <fstream>

#include "rig.h"

namespace mailonce::upstream {
namespace {

using testing::HasSubstr;
using testing::Not;

test::Certificate certificate(const std::string& name) {
  const auto read = [&](const std::string& suffix) {
    std::ifstream file(std::string(MAILONCE_TEST_CERTIFICATES) + "/" + name + suffix);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  return {read(".pem"), read(".key")};
}

test::UpstreamOptions listen(const std::string& name, bool implicit = false) {
  test::UpstreamOptions options;
  options.certificate = certificate(name);
  options.implicit_tls = implicit;
  return options;
}

void with_credential(Rig& rig, Security security) {
  rig.options.security = security;
  rig.options.username = "user";
  rig.options.password = "secret";
}

std::string all_commands(const Rig& rig) {
  std::string all;
  for (const auto& command : rig.provider.commands()) all += command + "\n";
  return all;
}

class Secured : public testing::TestWithParam<Security> {};

TEST_P(Secured, mail_and_password_go_through_tls) {
  Rig rig(test::Profile::load("ses"), listen("server", GetParam() == Security::tls));
  with_credential(rig, GetParam());
  std::string message = "Subject: x\r\n\r\n";
  while (message.size() < 400000) message += ".line of a message that fills many records\r\n";
  for (int i = 0; i < 2; ++i) {
    const auto result = rig.attempt(message);
    EXPECT_EQ(result.step, "send") << result.error.message() << rig.logged();
    EXPECT_TRUE(result.reply.completed());
    EXPECT_TRUE(result.dot_sent);
  }
  const auto accepted = rig.provider.accepted();
  ASSERT_EQ(accepted.size(), 2U);
  EXPECT_TRUE(accepted[0].tls);
  EXPECT_EQ(accepted[0].user, "user");
  EXPECT_TRUE(accepted[0].content == message);
  EXPECT_EQ(rig.provider.stats().connections, 1U);
}

TEST_P(Secured, a_certificate_that_can_not_be_trusted_ends_it_before_anything_is_said) {
  struct Row {
    const char* name;
    const char* reason;
  };
  for (const Row& row : {Row{"expired", "expired"}, Row{"wrong-name", "mismatch"}, Row{"cn-only", "mismatch"},
                         Row{"self-signed", "self"}}) {
    Rig rig(test::Profile::load("plain"), listen(row.name, GetParam() == Security::tls));
    with_credential(rig, GetParam());
    rig.options.host = "localhost";
    EXPECT_EQ(rig.attempt().error, make_error_code(Errc::tls_failed)) << row.name;
    EXPECT_THAT(rig.logged(), HasSubstr(row.reason));
    EXPECT_THAT(all_commands(rig), Not(HasSubstr("AUTH")));
    EXPECT_THAT(all_commands(rig), Not(HasSubstr("MAIL")));
  }
}

TEST_P(Secured, silence_and_breaks_after_the_dot_are_unclear) {
  struct Row {
    const char* fault;
    Errc errc;
  };
  for (const Row& row : {Row{"dot close", Errc::closed}, Row{"dot rst", Errc::closed},
                         Row{"dot stall", Errc::timed_out}, Row{"dot garbage", Errc::malformed_reply}}) {
    Rig rig(test::Profile::load("plain"), listen("server", GetParam() == Security::tls));
    with_credential(rig, GetParam());
    if (row.errc == Errc::timed_out) rig.options.timeouts.final = milliseconds(100);
    rig.provider.arm(row.fault);
    const auto result = rig.attempt();
    EXPECT_EQ(result.error, make_error_code(row.errc)) << row.fault;
    EXPECT_TRUE(result.dot_sent);
  }
}

INSTANTIATE_TEST_SUITE_P(Both, Secured, testing::Values(Security::starttls, Security::tls));

// CVE-2011-0411 from the other side: what comes behind the 220 in the clear would pass for replies inside
// TLS.
TEST(StartTls, refuses_octets_injected_before_the_handshake) {
  for (const std::string injected : {"250-example.org\\r\\n250 AUTH LOGIN\\r\\n", "250-SMTPUT"}) {
    Rig rig(test::Profile::load("plain"), listen("server"));
    with_credential(rig, Security::starttls);
    rig.provider.arm("starttls inject " + injected);
    EXPECT_EQ(rig.attempt().error, make_error_code(Errc::tls_failed)) << injected;
    EXPECT_EQ(rig.provider.stats().mail, 0U);
    EXPECT_EQ(rig.provider.stats().auth_ok, 0U);
  }
}

TEST(StartTls, that_is_not_offered_or_refused_ends_it) {
  Rig without(test::Profile::load("plain"));
  with_credential(without, Security::starttls);
  EXPECT_EQ(without.attempt().error, make_error_code(Errc::tls_required));
  EXPECT_THAT(all_commands(without), Not(HasSubstr("AUTH")));
  for (const std::string fault :
       {"starttls reply 454 4.7.0 not now", "starttls reply 502 what", "ehlo reply 502 what"}) {
    Rig rig(test::Profile::load("plain"), listen("server"));
    with_credential(rig, Security::starttls);
    rig.provider.arm(fault);
    EXPECT_EQ(rig.attempt().error, make_error_code(Errc::tls_required)) << fault;
    EXPECT_THAT(all_commands(rig), Not(HasSubstr("AUTH")));
    EXPECT_THAT(all_commands(rig), Not(HasSubstr("MAIL")));
  }
}

TEST(StartTls, ends_with_an_error_when_the_session_inside_breaks) {
  for (const auto& [fault, errc] :
       {std::pair{"tls close", Errc::tls_failed}, std::pair{"ehlo-tls close", Errc::closed},
        std::pair{"ehlo-tls garbage", Errc::malformed_reply},
        std::pair{"ehlo-tls reply 550 no", Errc::refused}}) {
    Rig rig(test::Profile::load("plain"), listen("server"));
    with_credential(rig, Security::starttls);
    rig.provider.arm(fault);
    EXPECT_EQ(rig.attempt().error, make_error_code(errc)) << fault;
  }
}

// Seen in public: "421 Too many concurrent SMTP connections" as plain text on port 465.
TEST(ImplicitTls, refuses_plain_text) {
  Rig rig(test::Profile::load("plain"), listen("server", true));
  with_credential(rig, Security::tls);
  rig.provider.arm("tls plaintext 421 Too many concurrent SMTP connections");
  EXPECT_EQ(rig.attempt().error, make_error_code(Errc::tls_failed));
}

TEST(Tls, may_be_left_unverified_by_the_operators_choice) {
  Rig rig(test::Profile::load("plain"), listen("expired"));
  with_credential(rig, Security::starttls);
  rig.options.tls.verify = false;
  EXPECT_TRUE(rig.attempt().reply.completed());
}

}  // namespace
}  // namespace mailonce::upstream
