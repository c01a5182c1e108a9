// Transactions that go well, over the providers' profiles.
#include "rig.h"

namespace mailonce::upstream {
namespace {

class Provider : public testing::TestWithParam<const char*> {};

TEST_P(Provider, takes_messages_over_one_kept_connection) {
  Rig rig(test::Profile::load(GetParam()));
  for (int i = 0; i < 3; ++i) {
    const auto result = rig.attempt();
    EXPECT_EQ(result.step, "send") << result.error.message();
    EXPECT_TRUE(result.reply.completed());
    EXPECT_EQ(result.reused, i > 0);
  }
  const auto stats = rig.provider.stats();
  EXPECT_EQ(stats.accepted, 3U);
  EXPECT_EQ(stats.connections, 1U);
  EXPECT_EQ(stats.unannounced_pipelining, 0U);
  EXPECT_EQ(stats.rset, 0U);
}

INSTANTIATE_TEST_SUITE_P(Profiles, Provider,
                         testing::Values("plain", "ses", "mailgun", "sendgrid", "gmail-relay", "office365"));

TEST(Message, arrives_octet_for_octet) {
  std::string large = "Subject: large\r\n\r\n.first\r\n";
  for (int i = 0; large.size() < 1500000; ++i)
    large += std::string(static_cast<std::size_t>(i % 5), '.') + "line\r\n";
  Rig rig;
  for (const std::string& message :
       {std::string("A: b\r\n\r\n.\r\n..\r\n.x\r\n"), std::string("A: b\r\n"), large}) {
    EXPECT_TRUE(rig.attempt(message).reply.completed());
    EXPECT_TRUE(rig.provider.accepted().back().content == message);
  }
}

TEST(Envelope, gives_each_recipient_its_own_answer_in_order) {
  for (const std::string profile : {"plain", "ses"}) {
    Rig rig(test::Profile::load(profile, "max_recipients = { limit = 1000, line = \"452 no\" }"));
    rig.provider.arm("rcpt[3] reply 550 5.1.1 unknown");
    rig.provider.arm("rcpt[120] reply 450 4.2.2 full");
    rig.pool();
    test::run(rig.io, [&]() -> awaitable<void> {
      auto connection = co_await rig.pool().borrow(Freshness::any);
      EXPECT_TRUE(connection);
      const auto from = sender();
      const auto to = recipients(250);
      auto replies = co_await (*connection)->envelope(from, to);
      EXPECT_TRUE(replies);
      if (!replies) co_return;
      EXPECT_EQ(replies->recipients.size(), 250U);
      for (std::size_t i = 0; i < replies->recipients.size(); ++i) {
        EXPECT_EQ(replies->recipients[i].code, i == 3 ? 550 : i == 120 ? 450 : 250) << i;
      }
    });
  }
}

TEST(Envelope, whose_sender_is_refused_tells_every_recipient_so) {
  for (const std::string profile : {"plain", "ses"}) {
    Rig rig(test::Profile::load(profile));
    rig.provider.arm("mail reply 553 5.1.8 who are you");
    rig.pool();
    test::run(rig.io, [&]() -> awaitable<void> {
      auto connection = co_await rig.pool().borrow(Freshness::any);
      EXPECT_TRUE(connection);
      const auto from = sender();
      const auto to = recipients(3);
      auto replies = co_await (*connection)->envelope(from, to);
      EXPECT_TRUE(replies);
      if (!replies) co_return;
      EXPECT_EQ(replies->mail.code, 553);
      EXPECT_EQ(replies->recipients, std::vector<smtp::Reply>(3, replies->mail));
    });
    EXPECT_EQ(rig.pool().counts().idle, 1U);  // at once: there is nothing to reset
    EXPECT_TRUE(rig.attempt().reply.completed());
    EXPECT_EQ(rig.provider.stats().connections, 1U);
  }
}

TEST(Envelope, begun_again_on_the_same_connection_replaces_the_first) {
  for (const std::string profile : {"plain", "ses"}) {
    Rig rig(test::Profile::load(profile));
    rig.pool();
    test::run(rig.io, [&]() -> awaitable<void> {
      auto connection = co_await rig.pool().borrow(Freshness::any);
      EXPECT_TRUE(connection);
      const auto from = sender();
      const auto to = recipients(3);
      auto first = co_await (*connection)->envelope(from, to);
      EXPECT_TRUE(first);
      const std::span<const smtp::Recipient> last = std::span(to).last(1);
      auto second = co_await (*connection)->envelope(from, last);
      EXPECT_TRUE(second);
      auto data = co_await (*connection)->data();
      EXPECT_TRUE(data);
      const std::vector<std::string_view> pieces{"A: b\r\n"};
      auto content = co_await (*connection)->content(pieces);
      EXPECT_TRUE(content);
      auto outcome = co_await (*connection)->send();
      EXPECT_TRUE(outcome.reply);
    });
    const auto accepted = rig.provider.accepted();
    ASSERT_EQ(accepted.size(), 1U);
    EXPECT_EQ(accepted[0].recipients, std::vector<std::string>{"r2@rcpt.example"});
    EXPECT_EQ(rig.provider.stats().rset, 1U);
  }
}

TEST(Envelope, declares_size_and_body_only_where_they_are_offered) {
  for (const bool offered : {true, false}) {
    Rig rig(offered ? test::Profile::load("plain")
                    : test::Profile::load("plain", "ehlo_plain = [\"upstream.example\", \"PIPELINING\"]"));
    rig.pool();
    error_code error;
    test::run(rig.io, [&]() -> awaitable<void> {
      auto connection = co_await rig.pool().borrow(Freshness::any);
      EXPECT_TRUE(connection);
      auto from = sender();
      from.size = 1234;
      from.body = smtp::BodyType::eight_bit_mime;
      const auto to = recipients();
      auto replies = co_await (*connection)->envelope(from, to);
      if (!replies) error = replies.error();
    });
    EXPECT_EQ(error, offered ? error_code() : make_error_code(Errc::lacks_extension));
    bool declared = false;
    for (const auto& command : rig.provider.commands()) {
      declared = declared || command.ends_with("MAIL FROM:<app@sender.example> SIZE=1234 BODY=8BITMIME");
    }
    EXPECT_EQ(declared, offered);
    EXPECT_EQ(rig.provider.stats().mail, offered ? 1U : 0U);
  }
}

TEST(Login, works_with_what_each_provider_understands) {
  struct Row {
    const char* profile;
    const char* users;
  };
  for (const Row& row : {Row{"plain", ""}, Row{"mailgun", ""}, Row{"office365", ""}, Row{"sendgrid", ""}}) {
    auto profile = test::Profile::load(row.profile);
    profile.auth.users = {{"user", "secret"}};
    profile.auth.required = true;
    if (profile.name == "office365") profile.ehlo_plain.push_back("AUTH LOGIN");
    Rig rig(profile);
    rig.options.username = "user";
    rig.options.password = "secret";
    const auto result = rig.attempt();
    EXPECT_EQ(result.step, "send") << row.profile << ": " << result.error.message();
    EXPECT_EQ(rig.provider.accepted().size(), 1U);
    Rig wrong(profile);
    wrong.options.username = "user";
    wrong.options.password = "other";
    EXPECT_EQ(wrong.attempt().error, make_error_code(Errc::auth_failed)) << row.profile;
  }
}

}  // namespace
}  // namespace mailonce::upstream
