#include "mailonce/upstream/session_setup.h"

#include <gtest/gtest.h>

namespace mailonce::upstream {
namespace {

using smtp::Reply;

Options make_options(Security security, std::string username = {}) {
  Options options;
  options.security = security;
  options.username = std::move(username);
  options.password = options.username.empty() ? "" : "secret";
  options.ehlo_name = "relay.example";
  return options;
}

// What a dialogue came to: the actions as words, one a step.
std::string words(const SetupAction& action) {
  struct Visitor {
    std::string operator()(const ReadReply&) { return "read"; }
    std::string operator()(const Send& send) { return send.octets.substr(0, send.octets.size() - 2); }
    std::string operator()(const StartTls&) { return "tls"; }
    std::string operator()(const Ready&) { return "ready"; }
    std::string operator()(const Failed& failed) {
      return "failed: " + make_error_code(failed.errc).message();
    }
  };
  return std::visit(Visitor{}, action);
}

std::vector<std::string> talk(const Options& options, std::vector<Reply> replies, bool local = false) {
  SessionSetup setup(options, local);
  std::vector<std::string> said{words(setup.start())};
  for (const auto& reply : replies) {
    said.push_back(words(setup.on_reply(reply)));
    if (said.back() != "tls") continue;
    said.push_back(words(setup.on_tls()));
  }
  return said;
}

using Said = std::vector<std::string>;
const Reply greeting{220, "ready"};
const Reply plain_ehlo{250, "hello\nPIPELINING\n8BITMIME"};
// "\0user\0secret"
const std::string plain_response = "AHVzZXIAc2VjcmV0";
const std::string login_user = "dXNlcg==";
const std::string login_password = "c2VjcmV0";
const std::string tls_required = "failed: " + make_error_code(Errc::tls_required).message();
const std::string refused = "failed: " + make_error_code(Errc::refused).message();
const std::string auth_failed = "failed: " + make_error_code(Errc::auth_failed).message();

TEST(SessionSetup, is_ready_after_ehlo_when_nothing_else_is_asked_for) {
  const auto options = make_options(Security::plain);
  EXPECT_EQ(talk(options, {greeting, plain_ehlo}), (Said{"read", "EHLO relay.example", "ready"}));
}

TEST(SessionSetup, keeps_what_was_announced_last) {
  const auto options = make_options(Security::starttls);
  SessionSetup setup(options, false);
  setup.start();
  setup.on_reply(greeting);
  setup.on_reply({250, "hello\nSTARTTLS\nPIPELINING"});
  setup.on_reply({220, "go"});
  setup.on_tls();
  setup.on_reply({250, "hello\n8BITMIME"});
  EXPECT_FALSE(setup.capabilities().pipelining);  // said in the clear: forgotten
  EXPECT_TRUE(setup.capabilities().eight_bit_mime);
}

TEST(SessionSetup, says_helo_to_an_old_server_only_when_neither_tls_nor_a_password_is_needed) {
  const Reply unknown{502, "what?"};
  EXPECT_EQ(talk(make_options(Security::plain), {greeting, unknown, {250, "hi"}}),
            (Said{"read", "EHLO relay.example", "HELO relay.example", "ready"}));
  EXPECT_EQ(talk(make_options(Security::plain), {greeting, unknown, {421, "no"}}).back(), refused);
  EXPECT_EQ(talk(make_options(Security::plain), {greeting, {421, "busy"}}).back(), refused);
  EXPECT_EQ(talk(make_options(Security::plain, "user"), {greeting, unknown}, true).back(), refused);
  EXPECT_EQ(talk(make_options(Security::starttls), {greeting, unknown}).back(), tls_required);
}

TEST(SessionSetup, fails_when_it_is_not_welcome) {
  for (const int code : {421, 450, 554, 354}) {
    EXPECT_EQ(talk(make_options(Security::plain), {{code, "no"}}).back(), refused) << code;
  }
}

TEST(SessionSetup, makes_tls_and_greets_again_before_anything_else) {
  const auto options = make_options(Security::starttls, "user");
  EXPECT_EQ(talk(options, {greeting,
                           {250, "hello\nSTARTTLS\nAUTH PLAIN LOGIN"},
                           {220, "go"},
                           {250, "hello\nAUTH PLAIN LOGIN\nOk"},
                           {235, "welcome"}}),
            (Said{"read", "EHLO relay.example", "STARTTLS", "tls", "EHLO relay.example",
                  "AUTH PLAIN " + plain_response, "ready"}));
}

// "NO STARTTLS" (USENIX Security 2021): every way to keep a client from TLS.
TEST(SessionSetup, never_goes_on_in_the_clear_when_tls_is_required) {
  const auto options = make_options(Security::starttls, "user");
  EXPECT_EQ(talk(options, {greeting, {250, "hello\nAUTH PLAIN"}}).back(), tls_required);
  for (const int code : {250, 354, 421, 454, 501, 502, 554}) {
    EXPECT_EQ(talk(options, {greeting, {250, "hello\nSTARTTLS\nAUTH PLAIN"}, {code, "no"}}).back(),
              tls_required)
        << code;
  }
}

TEST(SessionSetup, with_tls_from_the_start_needs_no_starttls) {
  EXPECT_EQ(talk(make_options(Security::tls, "user"), {greeting, {250, "hello\nAUTH PLAIN"}, {235, "ok"}}),
            (Said{"read", "EHLO relay.example", "AUTH PLAIN " + plain_response, "ready"}));
}

TEST(SessionSetup, sends_no_password_in_the_clear_but_to_this_host_or_by_leave) {
  const Reply ehlo{250, "hello\nAUTH PLAIN"};
  auto options = make_options(Security::plain, "user");
  EXPECT_EQ(talk(options, {greeting, ehlo}).back(), auth_failed);
  EXPECT_EQ(talk(options, {greeting, ehlo}, true).back(), "AUTH PLAIN " + plain_response);
  options.allow_plaintext_auth = true;
  EXPECT_EQ(talk(options, {greeting, ehlo}).back(), "AUTH PLAIN " + plain_response);
}

// Office 365 offers no PLAIN; some offer it only in the form with '='.
TEST(SessionSetup, uses_login_when_plain_is_not_offered) {
  const auto options = make_options(Security::tls, "user");
  for (const std::string offer : {"AUTH LOGIN XOAUTH2", "AUTH=LOGIN"}) {
    EXPECT_EQ(
        talk(options,
             {greeting, {250, "hello\n" + offer}, {334, "VXNlcm5hbWU6"}, {334, "UGFzc3dvcmQ6"}, {235, "ok"}}),
        (Said{"read", "EHLO relay.example", "AUTH LOGIN", login_user, login_password, "ready"}))
        << offer;
  }
}

TEST(SessionSetup, fails_when_no_mechanism_is_known) {
  const auto options = make_options(Security::tls, "user");
  EXPECT_EQ(talk(options, {greeting, {250, "hello\nAUTH XOAUTH2 CRAM-MD5"}}).back(), auth_failed);
  EXPECT_EQ(talk(options, {greeting, {250, "hello"}}).back(), auth_failed);
}

// Mailgun asks again with "334 Go ahead", which is no base64.
TEST(SessionSetup, gives_the_plain_response_once_more_when_asked_whatever_the_text) {
  const auto options = make_options(Security::tls, "user");
  const Reply ehlo{250, "hello\nAUTH PLAIN"};
  EXPECT_EQ(talk(options, {greeting, ehlo, {334, "Go ahead"}, {235, "Accepted"}}),
            (Said{"read", "EHLO relay.example", "AUTH PLAIN " + plain_response, plain_response, "ready"}));
  EXPECT_EQ(talk(options, {greeting, ehlo, {334, "Go ahead"}, {334, "Go ahead"}}).back(), auth_failed);
}

// RFC 4954 §4: the initial response must not make the line longer than 512 octets.
TEST(SessionSetup, keeps_a_long_response_back_until_it_is_asked_for) {
  auto options = make_options(Security::tls, "user");
  options.password = std::string(600, 'p');
  const auto said = talk(options, {greeting, {250, "hello\nAUTH PLAIN"}, {334, ""}, {235, "ok"}});
  EXPECT_EQ(said[2], "AUTH PLAIN");
  EXPECT_GT(said[3].size(), 800U);
  EXPECT_EQ(said.back(), "ready");
}

TEST(SessionSetup, fails_when_the_credential_is_refused) {
  for (const int code : {421, 454, 504, 530, 535, 354}) {
    EXPECT_EQ(talk(make_options(Security::tls, "user"), {greeting, {250, "hello\nAUTH PLAIN"}, {code, "no"}})
                  .back(),
              auth_failed)
        << code;
    EXPECT_EQ(talk(make_options(Security::tls, "user"),
                   {greeting, {250, "hello\nAUTH LOGIN"}, {334, "u"}, {334, "p"}, {code, "no"}})
                  .back(),
              auth_failed)
        << code;
  }
  EXPECT_EQ(talk(make_options(Security::tls, "user"),
                 {greeting, {250, "hello\nAUTH LOGIN"}, {334, "u"}, {334, "p"}, {334, "again"}})
                .back(),
            auth_failed);
}

TEST(SessionSetup, refuses_a_credential_that_can_not_be_said) {
  auto options = make_options(Security::tls, "user");
  options.password = std::string("a\0b", 3);
  EXPECT_EQ(talk(options, {greeting, {250, "hello\nAUTH PLAIN"}}).back(), auth_failed);
}

// The reason goes into the log.
TEST(SessionSetup, never_repeats_a_credential_the_server_echoes) {
  const auto options = make_options(Security::tls, "user");
  for (const std::string& echo : {"unknown: AUTH PLAIN " + plain_response, std::string("bad password secret"),
                                  "bad line " + login_password}) {
    SessionSetup setup(options, false);
    setup.start();
    setup.on_reply(greeting);
    setup.on_reply({250, "hello\nAUTH PLAIN"});
    const auto action = setup.on_reply({500, echo});
    const auto* failed = std::get_if<Failed>(&action);
    ASSERT_NE(failed, nullptr);
    EXPECT_EQ(failed->reason.find("secret"), std::string::npos) << failed->reason;
    EXPECT_EQ(failed->reason.find(plain_response), std::string::npos) << failed->reason;
    EXPECT_EQ(failed->reason.find(login_password), std::string::npos) << failed->reason;
    EXPECT_NE(failed->reason.find("500"), std::string::npos) << failed->reason;
  }
}

}  // namespace
}  // namespace mailonce::upstream
