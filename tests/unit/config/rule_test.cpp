// [[rule]], and what rules and [policy] ignore.
#include <gmock/gmock.h>

#include <regex>

#include "load_fixture.h"

namespace mailonce::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class RuleTest : public LoadTest {};

TEST_F(RuleTest, ARuleIsThePolicyButForWhatItSets) {
  const auto loaded = load_text(std::string(upstream) + R"(
[[rule]]
name = "codes"
match = { sender = "*@auth.example", subject = ["Your code*", "/^[0-9]{6} is/"], header = { X-App = "otp" } }
window = "5min"
sliding = "1h"
doubt = "suppress"
[[rule]]
name = "reports"
match.recipient = ["*@example.net", "*@example.org"]
mode = "observe"
strategy = ["header:X-Report"]
[policy]
store_down = "defer"
scope = "shop"
[window]
key = "3d"
)");
  EXPECT_THAT(loaded.report.lines(), IsEmpty());
  const auto& rules = loaded.configuration.relay.rules;
  ASSERT_THAT(rules, SizeIs(2));
  const auto& codes = rules[0];
  EXPECT_EQ(codes.policy.rule, "codes");
  EXPECT_THAT(codes.match.senders, SizeIs(1));
  EXPECT_THAT(codes.match.recipients, IsEmpty());
  ASSERT_THAT(codes.match.headers, SizeIs(2));
  EXPECT_EQ(codes.match.headers[0].name, "Subject");
  EXPECT_THAT(codes.match.headers[0].patterns, SizeIs(2));
  EXPECT_TRUE(codes.match.headers[0].patterns[1].matches("123456 is your code"));
  EXPECT_EQ(codes.match.headers[1].name, "X-App");
  EXPECT_EQ(codes.policy.content_window, seconds(300));
  EXPECT_EQ(codes.policy.key_window, seconds(300));
  EXPECT_EQ(codes.policy.slide_cap, seconds(3600));
  EXPECT_EQ(codes.policy.doubt, window::DoubtPolicy::suppress);
  EXPECT_EQ(codes.policy.store_down, window::StoreDownPolicy::defer) << "the policy stands below the rule";
  EXPECT_EQ(codes.policy.mode, relay::Mode::enforce);
  EXPECT_EQ(codes.policy.scope, "shop\ncodes");
  EXPECT_EQ(rules[1].policy.key_window, seconds(3 * 86400));
  EXPECT_EQ(rules[1].policy.mode, relay::Mode::observe);
  EXPECT_THAT(rules[1].match.recipients, SizeIs(2));
  EXPECT_EQ(rules[1].policy.identity.strategies[0].header, "X-Report");
  EXPECT_EQ(loaded.configuration.relay.policy.mode, relay::Mode::enforce);
}

TEST_F(RuleTest, EveryMistakeInARuleIsNamedWithItsPlaceAndCure) {
  const auto wrong = [&](const std::string& rule) {
    const auto lines = load_text(std::string(upstream) + "[[rule]]\n" + rule).report.lines();
    return lines.size() == 1 ? lines[0]
                             : std::to_string(lines.size()) + " lines: " + testing::PrintToString(lines);
  };
  const std::string name = "name = \"a\"\n";
  EXPECT_THAT(wrong("match = {}\n"), HasSubstr("rule[0].name: is missing"));
  EXPECT_THAT(wrong("name = \"\"\nmatch = {}\n"), HasSubstr("rule[0].name = \"\": is not 1 to 64"));
  EXPECT_THAT(wrong("name = \"default\"\nmatch = {}\n"), HasSubstr("is another rule's name too"));
  EXPECT_THAT(wrong(name), HasSubstr("rule[0].match: is missing"));
  EXPECT_THAT(wrong(name + "match = \"*\"\n"), HasSubstr("rule[0].match = \"*\": is a string"));
  EXPECT_THAT(wrong(name + "match = { sender = \"/(/\" }\n"),
              HasSubstr("rule[0].match.sender = \"/(/\": is no regular expression: missing )"));
  EXPECT_THAT(wrong(name + "match = { sender = [] }\n"), HasSubstr("holds no pattern"));
  EXPECT_THAT(wrong(name + "match = { sender = [\"\"] }\n"), HasSubstr("rule[0].match.sender[0]"));
  EXPECT_THAT(wrong(name + "match = { sendr = \"*\" }\n"), HasSubstr("did you mean \"sender\""));
  EXPECT_THAT(wrong(name + "match = { header = { \"a b\" = \"*\" } }\n"),
              HasSubstr("rule[0].match.header.a b"));
  EXPECT_THAT(wrong(name + "match = {}\nwindow = 5\n"), HasSubstr("write \"5s\""));
  EXPECT_THAT(wrong(name + "match = {}\nwindow = \"2h\"\nsliding = \"1h\"\n"),
              HasSubstr("nothing would slide"));
  EXPECT_THAT(wrong(name + "match = {}\nscope = \"x\"\n"), HasSubstr("a rule is a scope of its own"));
  EXPECT_THAT(wrong(name + "match = {}\nmodes = \"off\"\n"), HasSubstr("did you mean \"mode\""));
}

TEST_F(RuleTest, TheDocumentedRuleIsOneAndItsOtherSettingsAreThePolicys) {
  const auto file = documented();
  const auto begin = file.find("#[[rule]]");
  const auto block = file.substr(begin, file.find("[limits]") - begin);
  const auto rule = std::regex_replace(block, std::regex(R"((^|\n)#(?=\[\[|[a-z_]+ = ))"), "\n");
  const auto loaded = load_text(upstream + rule);
  EXPECT_THAT(loaded.report.lines(), IsEmpty());
  ASSERT_THAT(loaded.configuration.relay.rules, SizeIs(1));
  const auto& policy = loaded.configuration.relay.rules[0].policy;
  const relay::Policy b;
  EXPECT_EQ(policy.rule, "one-time codes");
  EXPECT_EQ(policy.mode, b.mode);
  EXPECT_EQ(policy.key_conflict, b.key_conflict);
  EXPECT_EQ(policy.message_id_conflict, b.message_id_conflict);
  EXPECT_EQ(policy.doubt, b.doubt);
  EXPECT_EQ(policy.store_down, b.store_down);
}

TEST_F(RuleTest, WhatIsIgnoredIsAnExpressionThatLeavesSomething) {
  const auto with = [&](const std::string& list) {
    return load_text(std::string(upstream) + "[policy]\nignore = " + list + "\n").report.lines();
  };
  EXPECT_THAT(with("['token=[0-9a-f]+']"), IsEmpty());
  EXPECT_THAT(with("['(']"),
              ElementsAre(HasSubstr("policy.ignore[0] = \"(\": is no regular expression: missing )")));
  EXPECT_THAT(with("['(?s).*']"), ElementsAre(HasSubstr("warning: ")));
  EXPECT_THAT(with("['.+']"), ElementsAre(HasSubstr("takes everything out of a text")));
}

TEST_F(RuleTest, AWindowOfItsOwnSlidesOnlyIfTheRuleSaysSo) {
  const auto loaded =
      load_text(std::string(upstream) +
                "[window]\nsliding = \"7d\"\n[[rule]]\nname = \"alerts\"\nmatch = {}\nwindow = "
                "\"1min\"\n[[rule]]\nname = \"others\"\nmatch = {}\n");
  EXPECT_THAT(loaded.report.lines(), IsEmpty());
  EXPECT_EQ(loaded.configuration.relay.rules.at(0).policy.slide_cap, seconds(0));
  EXPECT_EQ(loaded.configuration.relay.rules.at(1).policy.slide_cap, seconds(7 * 86400));
}

}  // namespace
}  // namespace mailonce::config
