// Which upstream gets the message: routes, and what happens when one can not serve.
#include "mailonce/relay/route.h"

#include "fixture.h"

namespace mailonce::relay::test {
namespace {

using upstream::Errc;

class FailoverTest : public RelayTest {
 protected:
  FailoverTest() { others.emplace_back("second"); }
  ScriptedUpstream& second() { return others.front(); }
};

TEST_F(FailoverTest, the_second_is_not_asked_while_the_first_serves) {
  EXPECT_EQ(send(mail("x"), {"a@example.net"}).final_reply.code, 250);
  EXPECT_EQ(upstream.copies("a@example.net"), 1);
  EXPECT_EQ(second().borrowed, 0);
}

class FailoverFor : public FailoverTest, public testing::WithParamInterface<Errc> {};

TEST_P(FailoverFor, an_upstream_that_can_not_be_had) {
  Plan broken{Break::borrow};
  broken.error = make_error_code(GetParam());
  upstream.plans.assign(4, broken);
  EXPECT_EQ(send(mail("x"), {"a@example.net"}).final_reply.code, 250);
  EXPECT_EQ(upstream.copies("a@example.net"), 0);
  EXPECT_EQ(second().copies("a@example.net"), 1);
  ASSERT_EQ(window.records.size(), 1U);
  EXPECT_EQ(window.records.begin()->second.upstream, "second");
}
INSTANTIATE_TEST_SUITE_P(All, FailoverFor,
                         testing::Values(Errc::unreachable, Errc::exhausted, Errc::closed, Errc::timed_out,
                                         Errc::malformed_reply, Errc::tls_required, Errc::tls_failed,
                                         Errc::refused, Errc::auth_failed, Errc::lacks_extension));

class FailoverAt : public FailoverTest, public testing::WithParamInterface<Break> {};

TEST_P(FailoverAt, a_step_before_the_dot) {
  upstream.plans.assign(4, Plan{GetParam()});
  const auto told = send(mail("x"), {"a@example.net", "b@example.net"});
  EXPECT_EQ(told.final_reply.code, 250);
  for (const auto* each : {"a@example.net", "b@example.net"}) {
    EXPECT_EQ(upstream.copies(each), 0);
    EXPECT_EQ(second().copies(each), 1);
  }
}
INSTANTIATE_TEST_SUITE_P(All, FailoverAt,
                         testing::Values(Break::envelope, Break::data, Break::content,
                                         Break::send_before_dot));

TEST_F(FailoverTest, nothing_goes_on_after_the_dot) {
  for (const auto end : {Break::send_after_dot, Break::accepted_unsaid}) {
    upstream.plans.assign(1, Plan{end});
    const auto told = send(mail(end == Break::send_after_dot ? "x" : "y"), {"a@example.net"});
    EXPECT_EQ(told.final_reply.code, 451);
  }
  Plan throttled;
  throttled.final_reply = {454, "Throttling failure: Maximum sending rate exceeded."};
  upstream.plans.assign(1, throttled);
  EXPECT_EQ(send(mail("z"), {"a@example.net"}).final_reply.code, 454);
  EXPECT_EQ(second().borrowed, 0);
}

TEST_F(FailoverTest, a_sender_that_is_refused_for_now_is_the_state_of_that_upstream) {
  for (const int code : {421, 451, 454}) {
    Plan refusing;
    refusing.mail = {code, "4.7.0 not now"};
    upstream.plans.assign(1, refusing);
    EXPECT_EQ(send(mail(std::to_string(code)), {"a@example.net"}).final_reply.code, 250);
  }
  EXPECT_EQ(second().copies("a@example.net"), 3);
}

TEST_F(FailoverTest, what_is_said_of_a_message_or_a_recipient_stands) {
  Plan permanent;
  permanent.mail = {550, "5.7.1 never"};
  upstream.plans.assign(1, permanent);
  EXPECT_EQ(send(mail("x"), {"a@example.net"}).recipients.front().code, 550);
  Plan greylisting;
  greylisting.rcpt["a@example.net"] = {450, "4.2.0 later"};
  upstream.plans.assign(1, greylisting);
  EXPECT_EQ(send(mail("x"), {"a@example.net"}).recipients.front().code, 450);
  EXPECT_EQ(second().borrowed, 0);
}

TEST_F(FailoverTest, DATA_refused_for_now_goes_on_to_the_next) {
  Plan refusing;
  refusing.data = {451, "4.3.0 not now"};
  upstream.plans.assign(1, refusing);
  EXPECT_EQ(send(mail("x"), {"a@example.net"}).final_reply.code, 250);
  EXPECT_EQ(second().copies("a@example.net"), 1);
}

TEST_F(FailoverTest, the_last_ones_answer_is_the_answer) {
  Plan gone{Break::borrow};
  gone.error = make_error_code(Errc::unreachable);
  upstream.plans.assign(1, gone);
  Plan refusing;
  refusing.mail = {451, "4.3.0 not now"};
  second().plans.assign(1, refusing);
  EXPECT_EQ(send(mail("x"), {"a@example.net"}).recipients.front(), refusing.mail);
}

// Nobody gives a mail up because the one that stands in refuses it.
TEST_F(FailoverTest, a_5xx_of_the_second_is_no_5xx_of_the_first) {
  Plan gone{Break::borrow};
  gone.error = make_error_code(Errc::unreachable);
  const auto told = [&](const Plan& refusing) {
    upstream.plans.assign(1, gone);
    second().plans.assign(1, refusing);
    const auto answers = send(mail("x"), {"a@example.net"});
    return answers.recipients.front().completed() ? answers.final_reply : answers.recipients.front();
  };
  Plan of_sender, of_recipient, of_data, of_message;
  of_sender.mail = {554, "5.7.1 MAIL FROM domain not verified"};
  of_recipient.rcpt["a@example.net"] = {550, "5.1.1 no such user"};
  of_data.data = {554, "5.7.1 no"};
  of_message.final_reply = {554, "5.7.1 Message rejected"};
  EXPECT_EQ(
      told(of_sender).wire(),
      "451 4.4.1 The upstream server can not be reached, try again later (and second: 554 5.7.1 MAIL FROM "
      "domain not verified)\r\n");
  for (const auto& each : {of_recipient, of_data, of_message}) EXPECT_EQ(told(each).code, 451);
  EXPECT_TRUE(window.records.empty());
  EXPECT_EQ(send(mail("x"), {"a@example.net"}).final_reply.code, 250);
  EXPECT_EQ(upstream.copies("a@example.net"), 1);
}

TEST_F(FailoverTest, a_5xx_where_the_client_was_told_2xx_before_is_no_5xx_either) {
  Plan refusing;
  refusing.data = {451, "4.3.0 not now"};
  upstream.plans.assign(1, refusing);
  Plan knows_it_not;
  knows_it_not.rcpt["a@example.net"] = {550, "5.1.1 no such user"};
  second().plans.assign(1, knows_it_not);
  EXPECT_EQ(send(mail("x"), {"a@example.net"}).final_reply.code, 451);
}

TEST_F(FailoverTest, a_repeat_of_what_the_second_took_is_a_duplicate_at_the_first) {
  Plan gone{Break::borrow};
  gone.error = make_error_code(Errc::unreachable);
  upstream.plans.assign(1, gone);
  const auto first = send(mail("x"), {"a@example.net"});
  const auto again = send(mail("x", "<again@app.example>"), {"a@example.net"});
  EXPECT_EQ(again.final_reply, first.final_reply);
  EXPECT_EQ(upstream.copies("a@example.net"), 0);
  EXPECT_EQ(second().copies("a@example.net"), 1);
}

TEST_F(FailoverTest, a_rate_is_asked_once_a_message_and_waited_for) {
  upstream.pace.push_back(milliseconds(70));
  Plan breaks{Break::data};
  upstream.plans.assign(1, breaks);
  EXPECT_EQ(send(mail("x"), {"a@example.net", "b@example.net"}).final_reply.code, 250);
  EXPECT_EQ(upstream.booked, std::vector<std::size_t>{2});
  EXPECT_EQ(upstream.waited, std::vector<milliseconds>{milliseconds(70)});
  EXPECT_EQ(second().borrowed, 0);
}

TEST_F(RelayTest, a_rate_that_is_used_up_is_told) {
  upstream.pace.push_back(make_error_code(Errc::too_fast));
  const auto told = send(mail("x"), {"a@example.net"}).final_reply;
  EXPECT_EQ(told.code, 451);
  EXPECT_EQ(told.text.substr(0, 6), "4.3.2 ");
  EXPECT_EQ(send(mail("x"), {"a@example.net"}).final_reply.code, 250);
}

// A process that dies in that time must not leave doubt of a message that was not begun.
TEST_F(RelayTest, what_waits_for_the_rate_is_not_being_sent) {
  for (const auto wait : {milliseconds(70), milliseconds(7000)}) {
    upstream.pace.push_back(wait);
    const int before = window.begins;
    int meanwhile = -1;
    upstream.while_waiting = [&] { meanwhile = window.begins; };
    EXPECT_EQ(send(mail(std::to_string(wait.count())), {"a@example.net"}).final_reply.code, 250);
    EXPECT_EQ(meanwhile, before);
    EXPECT_EQ(window.begins, before + 1);
  }
  EXPECT_EQ(upstream.borrowed, 3) << "a long wait gives the connection back";
}

TEST_F(FailoverTest, a_connection_that_closes_at_a_recipient_is_the_state_of_that_upstream) {
  Plan closing;
  closing.rcpt["a@example.net"] = {421, "4.3.2 closing"};
  upstream.plans.assign(1, closing);
  EXPECT_EQ(send(mail("x"), {"a@example.net"}).final_reply.code, 250);
  EXPECT_EQ(second().copies("a@example.net"), 1);
}

TEST_F(RelayTest, a_duplicate_takes_nothing_of_the_rate) {
  send(mail("x"), {"a@example.net"});
  send(mail("x"), {"a@example.net"});
  EXPECT_EQ(upstream.booked.size(), 1U);
}

smtp::Sender from(const std::string& address) {
  return {smtp::Address::parse_reverse_path("<" + address + ">").value(), {}, {}};
}

TEST(Routes, the_first_that_matches_decides_and_without_one_all_serve) {
  ScriptedUpstream one("one"), two("two"), three("three");
  const Upstreams all{&one, &two, &three};
  Route news{{message::Pattern::glob("*@news.example.com")}, {}, {2, 0}};
  Route shop{{}, {message::Pattern::glob("shop")}, {1}};
  Route both{{message::Pattern::glob("*@example.com")}, {message::Pattern::glob("crm")}, {2}};
  const std::vector<Route> routes{news, shop, both};
  const Router router(routes, all);
  const auto chosen = [&](const std::string& address, std::string_view user) {
    const auto choice = router.choose(from(address), user);
    return Upstreams(choice.begin(), choice.end());
  };
  EXPECT_EQ(chosen("a@NEWS.example.com", "shop"), (Upstreams{&three, &one}));
  EXPECT_EQ(chosen("a@example.com", "shop"), (Upstreams{&two}));
  EXPECT_EQ(chosen("a@example.com", "crm"), (Upstreams{&three}));
  EXPECT_EQ(chosen("a@example.org", "crm"), all);
  EXPECT_EQ(chosen("", ""), all);  // nobody is logged in
}

}  // namespace
}  // namespace mailonce::relay::test
