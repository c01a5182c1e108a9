#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>

#include "mailonce/base/random.h"
#include "mailonce/config/configuration.h"

namespace mailonce::config {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class LoadTest : public testing::Test {
 protected:
  LoadTest() : folder_(fs::temp_directory_path() / ("mailonce-config-" + random_token())) {
    fs::create_directory(folder_);
    ::unsetenv("MAILONCE_UPSTREAM_PASSWORD");
    ::unsetenv("MAILONCE_STORE_PASSWORD");
  }
  ~LoadTest() override {
    fs::remove_all(folder_);
    ::unsetenv("MAILONCE_UPSTREAM_PASSWORD");
    ::unsetenv("MAILONCE_STORE_PASSWORD");
  }

  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) {
    const auto path = (folder_ / name).string();
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  Loaded load_text(const std::string& text, const Overrides& overrides = {}) {
    return load(write("mailonce.toml", text), overrides);
  }

  fs::path folder_;
};

constexpr const char* upstream = "[[upstream]]\nurl = \"smtp://127.0.0.1:2526\"\n";

TEST_F(LoadTest, WithoutAFileTheCommandLineIsEnough) {
  const auto loaded = load({}, {{"127.0.0.1:0"}, "smtp://127.0.0.1:2526", "redis://127.0.0.1:6380/3"});
  EXPECT_THAT(loaded.report.lines(), IsEmpty());
  const auto& configuration = loaded.configuration;
  ASSERT_THAT(configuration.server.listeners, SizeIs(1));
  EXPECT_EQ(configuration.server.listeners[0].endpoint.port(), 0);
  EXPECT_EQ(configuration.upstream.port, 2526);
  EXPECT_EQ(configuration.window.kind, window::Kind::redis);
  EXPECT_EQ(configuration.window.redis.port, 6380);
  EXPECT_EQ(configuration.window.redis.database, 3U);
}

TEST_F(LoadTest, WithNothingItListensOnLoopbackAndKeepsItsOwnWindow) {
  const auto loaded = load({}, {{}, "smtp://127.0.0.1:2526", {}});
  ASSERT_THAT(loaded.configuration.server.listeners, SizeIs(1));
  EXPECT_EQ(loaded.configuration.server.listeners[0].endpoint.port(), 2525);
  EXPECT_TRUE(loaded.configuration.server.listeners[0].endpoint.address().is_loopback());
  EXPECT_EQ(loaded.configuration.window.kind, window::Kind::memory);
}

TEST_F(LoadTest, WithoutAnUpstreamThereIsNowhereToGo) {
  EXPECT_THAT(
      load({}, {}).report.lines(),
      ElementsAre("error: mailonce: upstream: is missing: mail has nowhere to go; give --upstream URL, or "
                  "[[upstream]] in the file"));
}

TEST_F(LoadTest, MistakesOnTheCommandLineNameTheOption) {
  const auto loaded =
      load({}, {{"localhost:25", "127.0.0.1:0"}, "smtps://user:hunter2@host", "redis://h:x/"});
  EXPECT_THAT(
      loaded.report.lines(),
      ElementsAre(
          HasSubstr("error: --listen = \"localhost:25\": is not an IP address"),
          "error: --upstream = \"smtps://user:***@host\": holds a password, and files, command lines and "
          "logs are read by others; put it in a file or the environment: MAILONCE_UPSTREAM_PASSWORD",
          HasSubstr("error: --store = \"redis://h:x/\": ")));
}

TEST_F(LoadTest, TheCommandLineGoesOverTheFile) {
  const auto loaded = load_text(
      "[[listen]]\naddress = \"127.0.0.1:1\"\nallow = [\"127.0.0.1\"]\n[[listen]]\naddress = "
      "\"127.0.0.1:2\"\n"
      "[[upstream]]\nname = \"a\"\nurl = \"smtps://a.example\"\nmax_idle = \"3s\"\n[window]\nstore = "
      "\"redis://a\"\n",
      {{"127.0.0.1:3"}, "smtp://127.0.0.1:4", "memory:"});
  EXPECT_THAT(loaded.report.lines(), IsEmpty());
  const auto& configuration = loaded.configuration;
  ASSERT_THAT(configuration.server.listeners, SizeIs(1));
  EXPECT_EQ(configuration.server.listeners[0].endpoint.port(), 3);
  EXPECT_THAT(configuration.server.listeners[0].allow.v6, IsEmpty());
  EXPECT_EQ(configuration.upstream.host, "127.0.0.1");
  EXPECT_EQ(configuration.upstream.security, upstream::Security::plain);
  EXPECT_EQ(configuration.upstream.pool.max_idle, seconds(3));
  EXPECT_EQ(configuration.window.kind, window::Kind::memory);
}

TEST_F(LoadTest, TablesReachTheOptionsOfTheirModules) {
  const auto loaded = load_text(std::string(upstream) + R"(
[window]
content = "10min"
key = "3d"
message_id = "1h"
lease = "20s"
memory_max_records = 5000
prefix = "shop:"
[policy]
mode = "observe"
strategy = ["message-id", "header:X-Job"]
identity_headers = ["X-Tenant"]
documents = false
conflict = "forward"
content_differs = "reject"
doubt = "suppress"
store_down = "defer"
wait = "5s"
strip_key_header = true
[limits]
message_size = "10MB"
recipients = 50
memory_per_message = "64KiB"
drain_timeout = "5s"
[log]
format = "json"
level = "debug"
addresses = "domain"
file = "m.log"
[server]
workers = 3
hostname = "relay.example.org"
)");
  EXPECT_THAT(loaded.report.lines(), IsEmpty());
  const auto& [server, relay, provider, window, log] = loaded.configuration;
  EXPECT_EQ(relay.policy.content_window, seconds(600));
  EXPECT_EQ(relay.policy.key_window, seconds(3 * 86400));
  EXPECT_EQ(relay.policy.message_id_window, seconds(3600));
  EXPECT_EQ(window.lease, seconds(20));
  EXPECT_EQ(window.memory.max_records, 5000U);
  EXPECT_EQ(window.prefix, "shop:");
  EXPECT_EQ(relay.policy.mode, relay::Mode::observe);
  ASSERT_THAT(relay.policy.identity.strategies, SizeIs(2));
  EXPECT_EQ(relay.policy.identity.strategies[1].header, "X-Job");
  EXPECT_THAT(relay.policy.identity.identity_headers, ElementsAre("X-Tenant"));
  EXPECT_FALSE(relay.policy.identity.documents);
  EXPECT_THAT(relay.policy.identity.key_headers, SizeIs(3)) << "what is not written keeps its default";
  EXPECT_EQ(relay.policy.key_conflict, relay::Conflict::forward);
  EXPECT_EQ(relay.policy.message_id_conflict, relay::Conflict::reject);
  EXPECT_EQ(relay.policy.doubt, window::DoubtPolicy::suppress);
  EXPECT_EQ(relay.policy.store_down, window::StoreDownPolicy::defer);
  EXPECT_EQ(relay.wait, seconds(5));
  EXPECT_TRUE(relay.strip_key_header);
  EXPECT_EQ(server.max_message_octets, 10'000'000U);
  EXPECT_EQ(server.max_recipients, 50U);
  EXPECT_EQ(server.blob.memory_octets, 65536U);
  EXPECT_EQ(server.timeouts.drain, seconds(5));
  EXPECT_EQ(server.workers, 3U);
  EXPECT_EQ(server.hostname, "relay.example.org");
  EXPECT_EQ(log.format, observe::Format::json);
  EXPECT_EQ(log.level, observe::Level::debug);
  EXPECT_EQ(log.addresses, observe::Addresses::domain);
  EXPECT_EQ(log.file, (folder_ / "m.log").string()) << "paths are relative to the file";
  EXPECT_FALSE(fs::exists(log.file)) << "looking at a configuration makes no files";
  EXPECT_EQ(provider.port, 2526);
}

TEST_F(LoadTest, SecretsComeFromFilesBesideTheConfiguration) {
  write("p", "hunter 2\r\n");
  write("s", "0123456789abcdef\n");
  const auto loaded = load_text(
      "[[upstream]]\nurl = \"smtps://host\"\nusername = \"u\"\npassword_file = \"p\"\n[window]\nsecret_file "
      "= \"s\"\n");
  EXPECT_THAT(loaded.report.lines(), IsEmpty());
  EXPECT_EQ(loaded.configuration.upstream.password, "hunter 2");
  EXPECT_EQ(loaded.configuration.relay.policy.identity.secret, "0123456789abcdef");
}

TEST_F(LoadTest, ASecretThatEverybodyCanReadIsWarnedAbout) {
  write("p", "hunter2", 0644);
  const auto loaded = load_text("[[upstream]]\nurl = \"smtps://u@host\"\npassword_file = \"p\"\n");
  EXPECT_TRUE(loaded.report.ok());
  EXPECT_THAT(
      loaded.report.lines(),
      ElementsAre(HasSubstr("password_file = \"p\": every user of this machine can read it; chmod 600")));
}

TEST_F(LoadTest, AnEmptyOrShortSecretIsRefused) {
  write("p", "\n");
  ::setenv("MAILONCE_TEST_SHORT", "short", 1);
  const auto loaded = load_text(std::string(upstream) +
                                "password_file = \"p\"\n[window]\nsecret_env = \"MAILONCE_TEST_SHORT\"\n");
  EXPECT_THAT(
      loaded.report.lines(),
      ElementsAre(HasSubstr("upstream[0].password_file = \"p\": is empty"),
                  HasSubstr("window.secret_env = \"MAILONCE_TEST_SHORT\": holds less than 16 octets")));
}

TEST_F(LoadTest, PasswordsMayComeFromTheEnvironment) {
  ::setenv("MAILONCE_UPSTREAM_PASSWORD", "one", 1);
  ::setenv("MAILONCE_STORE_PASSWORD", "two", 1);
  ::setenv("MAILONCE_TEST_NAMED", "three", 1);
  const auto by_default = load({}, {{}, "smtps://u@host", "redis://host"});
  EXPECT_THAT(by_default.report.lines(), IsEmpty());
  EXPECT_EQ(by_default.configuration.upstream.password, "one");
  EXPECT_EQ(by_default.configuration.window.redis.password, "two");
  const auto named =
      load_text("[[upstream]]\nurl = \"smtps://u@host\"\npassword_env = \"MAILONCE_TEST_NAMED\"\n");
  EXPECT_EQ(named.configuration.upstream.password, "three");
}

TEST_F(LoadTest, OneProvidersPasswordIsNotSentToAnother) {
  write("p", "for a");
  const std::string file = "[[upstream]]\nurl = \"smtps://u@a.example\"\npassword_file = \"p\"\n";
  EXPECT_EQ(load_text(file, {{}, "smtps://u@a.example:2465", {}}).configuration.upstream.password, "for a");
  const auto other = load_text(file, {{}, "smtps://u@b.example", {}});
  EXPECT_THAT(other.report.lines(),
              ElementsAre(HasSubstr("--upstream = \"smtps://u@b.example\": names the user")));
  EXPECT_EQ(load_text(file, {{}, "smtp://127.0.0.1", {}}).configuration.upstream.username, "");
}

TEST_F(LoadTest, APasswordInClearTextNeedsThisHostOrTheOperatorsLeave) {
  ::setenv("MAILONCE_UPSTREAM_PASSWORD", "one", 1);
  EXPECT_TRUE(load({}, {{}, "smtp://u@127.0.0.1", {}}).report.ok());
  EXPECT_TRUE(load({}, {{}, "smtp://u@[::1]", {}}).report.ok());
  EXPECT_FALSE(load({}, {{}, "smtp://u@host", {}}).report.ok());
  EXPECT_TRUE(load_text("[[upstream]]\nurl = \"smtp://u@host\"\nallow_plaintext_auth = true\n").report.ok());
}

// What stands behind "#" in conf/mailonce.toml is said to be the default: it is read, and changes nothing.
TEST_F(LoadTest, TheDocumentedDefaultsAreTheDefaults) {
  std::ifstream in(std::string(CONF_FOLDER) + "/mailonce.toml");
  const std::string documented{std::istreambuf_iterator<char>(in), {}};
  const auto plain = load_text(documented);
  EXPECT_THAT(plain.report.lines(), IsEmpty());

  // All but examples of what is absent by default.
  const std::regex example(
      R"(\n#(hostname|username|ca_file|ehlo_name|file|sliding|\w+_file|\w+_env) = [^\n]*)");
  const std::regex rule(R"(\n#\[\[rule\]\][^]*(?=\n\[limits\]))");
  const std::regex setting(R"(\n#(?=[a-z_]+ = ))");
  const auto written = load_text(std::regex_replace(
      std::regex_replace(std::regex_replace(documented, rule, ""), example, ""), setting, "\n"));
  EXPECT_THAT(written.report.lines(), IsEmpty());
  EXPECT_EQ(summary(written.configuration), summary(plain.configuration));

  const auto& a = written.configuration;
  const Configuration b;
  EXPECT_EQ(a.server.workers, b.server.workers);
  EXPECT_EQ(a.server.max_message_octets, b.server.max_message_octets);
  EXPECT_EQ(a.server.max_recipients, b.server.max_recipients);
  EXPECT_EQ(a.server.max_connections, b.server.max_connections);
  EXPECT_EQ(a.server.blob.memory_octets, b.server.blob.memory_octets);
  EXPECT_EQ(a.server.blob.directory, b.server.blob.directory);
  EXPECT_EQ(a.server.timeouts.command, b.server.timeouts.command);
  EXPECT_EQ(a.server.timeouts.data, b.server.timeouts.data);
  EXPECT_EQ(a.server.timeouts.message, b.server.timeouts.message);
  EXPECT_EQ(a.server.timeouts.write, b.server.timeouts.write);
  EXPECT_EQ(a.server.timeouts.drain, b.server.timeouts.drain);
  EXPECT_EQ(a.upstream.name, b.upstream.name);
  EXPECT_EQ(a.upstream.allow_plaintext_auth, b.upstream.allow_plaintext_auth);
  EXPECT_EQ(a.upstream.tls.verify, b.upstream.tls.verify);
  EXPECT_EQ(a.upstream.timeouts.connect, b.upstream.timeouts.connect);
  EXPECT_EQ(a.upstream.timeouts.greeting, b.upstream.timeouts.greeting);
  EXPECT_EQ(a.upstream.timeouts.command, b.upstream.timeouts.command);
  EXPECT_EQ(a.upstream.timeouts.data_block, b.upstream.timeouts.data_block);
  EXPECT_EQ(a.upstream.timeouts.final, b.upstream.timeouts.final);
  EXPECT_EQ(a.upstream.pool.max_connections, b.upstream.pool.max_connections);
  EXPECT_EQ(a.upstream.pool.max_wait, b.upstream.pool.max_wait);
  EXPECT_EQ(a.upstream.pool.max_idle, b.upstream.pool.max_idle);
  EXPECT_EQ(a.upstream.pool.max_age, b.upstream.pool.max_age);
  EXPECT_EQ(a.upstream.pool.max_messages, b.upstream.pool.max_messages);
  EXPECT_EQ(a.window.lease, b.window.lease);
  EXPECT_EQ(a.window.prefix, b.window.prefix);
  EXPECT_EQ(a.window.memory.max_records, b.window.memory.max_records);
  EXPECT_EQ(a.window.redis.command_deadline, b.window.redis.command_deadline);
  EXPECT_EQ(a.relay.policy.identity.strategies, b.relay.policy.identity.strategies);
  EXPECT_EQ(a.relay.policy.identity.key_headers, b.relay.policy.identity.key_headers);
  EXPECT_EQ(a.relay.policy.identity.identity_headers, b.relay.policy.identity.identity_headers);
  EXPECT_EQ(a.relay.policy.scope, b.relay.policy.scope);
  EXPECT_EQ(a.relay.policy.key_conflict, b.relay.policy.key_conflict);
  EXPECT_EQ(a.relay.policy.message_id_conflict, b.relay.policy.message_id_conflict);
  EXPECT_EQ(a.relay.wait, b.relay.wait);
  EXPECT_EQ(a.relay.resend_first_message_id, b.relay.resend_first_message_id);
  EXPECT_EQ(a.relay.strip_key_header, b.relay.strip_key_header);
  EXPECT_EQ(a.relay.max_received_fields, b.relay.max_received_fields);
  EXPECT_EQ(a.log.format, b.log.format);
  EXPECT_EQ(a.log.level, b.log.level);
  EXPECT_EQ(a.log.addresses, b.log.addresses);
}

TEST_F(LoadTest, ARuleIsThePolicyButForWhatItSets) {
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

TEST_F(LoadTest, EveryMistakeInARuleIsNamedWithItsPlaceAndCure) {
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

TEST_F(LoadTest, TheDocumentedRuleIsOneAndItsOtherSettingsAreThePolicys) {
  std::ifstream in(std::string(CONF_FOLDER) + "/mailonce.toml");
  const std::string documented{std::istreambuf_iterator<char>(in), {}};
  const auto begin = documented.find("#[[rule]]");
  const auto block = documented.substr(begin, documented.find("[limits]") - begin);
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

TEST_F(LoadTest, WhatIsIgnoredIsAnExpressionThatLeavesSomething) {
  const auto with = [&](const std::string& list) {
    return load_text(std::string(upstream) + "[policy]\nignore = " + list + "\n").report.lines();
  };
  EXPECT_THAT(with("['token=[0-9a-f]+']"), IsEmpty());
  EXPECT_THAT(with("['(']"),
              ElementsAre(HasSubstr("policy.ignore[0] = \"(\": is no regular expression: missing )")));
  EXPECT_THAT(with("['(?s).*']"), ElementsAre(HasSubstr("warning: ")));
  EXPECT_THAT(with("['.+']"), ElementsAre(HasSubstr("takes everything out of a text")));
}

TEST_F(LoadTest, TheReadyConfigurationsNeedOnlyTheirPassword) {
  for (const auto* name : {"ses", "mailgun"}) {
    std::ifstream in(std::string(CONF_FOLDER) + "/" + name + ".toml");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto without = load_text(text);
    ASSERT_THAT(without.report.lines(), SizeIs(1)) << name;
    EXPECT_THAT(without.report.lines()[0], HasSubstr("password_file")) << name;
    write(std::string(name) + ".password", "secret\n");
    EXPECT_THAT(load_text(text).report.lines(), IsEmpty()) << name;
  }
}

TEST_F(LoadTest, TheSummaryHoldsNoSecret) {
  write("p", "hunter2\n");
  const auto loaded = load_text(
      "[[upstream]]\nurl = \"smtps://u@host\"\npassword_file = \"p\"\n[window]\n"
      "store = \"redis://host\"\npassword_file = \"p\"\n");
  EXPECT_THAT(summary(loaded.configuration),
              ElementsAre("listen 127.0.0.1:2525, relays for 127.0.0.0/8, ::1/128",
                          "upstream default smtps://host:465, login u", "store redis://host:6379/0",
                          "window content 2h, key 1d, message-id 1d",
                          "policy enforce, strategy key, content, doubt resend, store_down local"));
}

}  // namespace
}  // namespace mailonce::config
