#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <regex>

#include "load_fixture.h"

namespace mailonce::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST_F(LoadTest, WithoutAFileTheCommandLineIsEnough) {
  const auto loaded = load({}, {{"127.0.0.1:0"}, "smtp://127.0.0.1:2526", "redis://127.0.0.1:6380/3"});
  EXPECT_THAT(loaded.report.lines(), IsEmpty());
  const auto& configuration = loaded.configuration;
  ASSERT_THAT(configuration.server.listeners, SizeIs(1));
  EXPECT_EQ(configuration.server.listeners[0].endpoint.port(), 0);
  EXPECT_EQ(configuration.upstreams.front().port, 2526);
  EXPECT_EQ(configuration.window.kind, window::Kind::redis);
  EXPECT_EQ(configuration.window.redis.servers.at(0).port, 6380);
  EXPECT_EQ(configuration.window.redis.database, 3U);
}

TEST_F(LoadTest, WithNothingItListensOnLoopbackAndKeepsItsOwnWindow) {
  const auto loaded = load({}, {{}, "smtp://127.0.0.1:2526", {}});
  ASSERT_THAT(loaded.configuration.server.listeners, SizeIs(1));
  EXPECT_EQ(loaded.configuration.server.listeners[0].endpoint.port(), 2525);
  EXPECT_TRUE(loaded.configuration.server.listeners[0].endpoint.address().is_loopback());
  EXPECT_EQ(loaded.configuration.window.kind, window::Kind::sqlite);
  EXPECT_THAT(loaded.configuration.window.sqlite.path, testing::EndsWith("/window.db"));
}

TEST_F(LoadTest, TheEmbeddedStoreIsInTheStateDirectory) {
  ::setenv("STATE_DIRECTORY", "/var/lib/first:/var/lib/second", 1);
  for (const auto* store : {"", "sqlite:"}) {
    const auto loaded =
        load({}, {{}, "smtp://127.0.0.1:2526", *store ? std::optional<std::string>(store) : std::nullopt});
    EXPECT_EQ(loaded.configuration.window.sqlite.path, "/var/lib/first/window.db") << store;
  }
  ::unsetenv("STATE_DIRECTORY");
}

TEST_F(LoadTest, TheEmbeddedStoresFileIsRelativeToTheConfigurationsFolder) {
  const std::pair<const char*, std::string> cases[] = {
      {"sqlite:window.db", (folder_ / "window.db").string()},
      {"sqlite:/tmp/w.db", "/tmp/w.db"},
      {"sqlite:///tmp/w.db", "/tmp/w.db"},
      {"sqlite:/home/a:b@corp.example/w.db", "/home/a:b@corp.example/w.db"},
  };
  for (const auto& [url, path] : cases) {
    const auto loaded =
        load_text(std::string(upstream) + "[window]\ndurability = \"process\"\nstore = \"" + url + "\"\n");
    EXPECT_THAT(loaded.report.lines(), IsEmpty()) << url;
    EXPECT_EQ(loaded.configuration.window.sqlite.path, path);
    EXPECT_EQ(loaded.configuration.window.sqlite.durability, window::Durability::process);
  }
}

TEST_F(LoadTest, AnEmbeddedStoreThatCanNotBeWrittenIsToldBeforeServing) {
  write("file", "");
  const std::pair<std::string, const char*> cases[] = {
      {(folder_ / "file/window.db").string(), "is in no folder: "},
      {folder_.string(), "is not a file"},
      {"/proc/mailonce/window.db", "can not be made in /proc: "},
  };
  for (const auto& [path, reason] : cases) {
    const auto loaded = load({}, {{}, "smtp://127.0.0.1:2526", "sqlite:" + path});
    EXPECT_THAT(loaded.report.lines(), IsEmpty()) << path;
    const auto problem = unusable_store(loaded.configuration);
    if (std::string(path).starts_with("/proc") && ::geteuid() == 0)
      continue;  // root may write everywhere, it says
    ASSERT_TRUE(problem) << path;
    EXPECT_THAT(problem->text(), HasSubstr("window.store = \"sqlite:" + path + "\": ")) << path;
    EXPECT_THAT(problem->text(), HasSubstr(reason)) << path;
  }
  const auto fine = load({}, {{}, "smtp://127.0.0.1:2526", "sqlite:" + (folder_ / "new/window.db").string()});
  EXPECT_FALSE(unusable_store(fine.configuration));
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
  EXPECT_EQ(configuration.upstreams.front().host, "127.0.0.1");
  EXPECT_EQ(configuration.upstreams.front().security, upstream::Security::plain);
  EXPECT_EQ(configuration.upstreams.front().pool.max_idle, seconds(3));
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
  const auto& [server, relay, upstreams, window, log] = loaded.configuration;
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
  EXPECT_EQ(upstreams.front().port, 2526);
}

TEST_F(LoadTest, SecretsComeFromFilesBesideTheConfiguration) {
  write("p", "hunter 2\r\n");
  write("s", "0123456789abcdef\n");
  const auto loaded = load_text(
      "[[upstream]]\nurl = \"smtps://host\"\nusername = \"u\"\npassword_file = \"p\"\n[window]\nsecret_file "
      "= \"s\"\n");
  EXPECT_THAT(loaded.report.lines(), IsEmpty());
  EXPECT_EQ(loaded.configuration.upstreams.front().password, "hunter 2");
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
  EXPECT_EQ(by_default.configuration.upstreams.front().password, "one");
  EXPECT_EQ(by_default.configuration.window.redis.password, "two");
  const auto named =
      load_text("[[upstream]]\nurl = \"smtps://u@host\"\npassword_env = \"MAILONCE_TEST_NAMED\"\n");
  EXPECT_EQ(named.configuration.upstreams.front().password, "three");
}

TEST_F(LoadTest, OneProvidersPasswordIsNotSentToAnother) {
  write("p", "for a");
  const std::string file = "[[upstream]]\nurl = \"smtps://u@a.example\"\npassword_file = \"p\"\n";
  EXPECT_EQ(load_text(file, {{}, "smtps://u@a.example:2465", {}}).configuration.upstreams.front().password,
            "for a");
  const auto other = load_text(file, {{}, "smtps://u@b.example", {}});
  EXPECT_THAT(other.report.lines(),
              ElementsAre(HasSubstr("--upstream = \"smtps://u@b.example\": names the user")));
  EXPECT_EQ(load_text(file, {{}, "smtp://127.0.0.1", {}}).configuration.upstreams.front().username, "");
}

TEST_F(LoadTest, APasswordInClearTextNeedsThisHostOrTheOperatorsLeave) {
  ::setenv("MAILONCE_UPSTREAM_PASSWORD", "one", 1);
  EXPECT_TRUE(load({}, {{}, "smtp://u@127.0.0.1", {}}).report.ok());
  EXPECT_TRUE(load({}, {{}, "smtp://u@[::1]", {}}).report.ok());
  EXPECT_FALSE(load({}, {{}, "smtp://u@host", {}}).report.ok());
  EXPECT_TRUE(load_text("[[upstream]]\nurl = \"smtp://u@host\"\nallow_plaintext_auth = true\n").report.ok());
}

std::string without(std::string text, std::string_view from, std::string_view to) {
  const auto begin = text.find(from);
  return text.erase(begin, text.find(to, begin) - begin);
}

// What stands behind "#" in conf/mailonce.toml is said to be the default: it is read, and changes nothing.
TEST_F(LoadTest, TheDocumentedDefaultsAreTheDefaults) {
  const auto plain = load_text(documented());
  EXPECT_THAT(plain.report.lines(), IsEmpty());

  // All but examples of what is absent by default.
  const std::regex example(
      R"(\n#(hostname|username|ca_file|ehlo_name|profile|max_rate|auth_upstream|file|sliding|\w+_file|\w+_env) = [^\n]*)");
  const std::regex setting(R"(\n#(?=[a-z_]+ = ))");
  auto text = without(without(documented(), "\n#[[route]]", "\n# The record"), "\n#[[rule]]", "\n[limits]");
  text = std::regex_replace(text, example, "");
  const auto written = load_text(std::regex_replace(text, setting, "\n"));
  EXPECT_THAT(written.report.lines(), IsEmpty());
  EXPECT_EQ(summary(written.configuration), summary(plain.configuration));

  const auto& a = written.configuration;
  const Configuration b;
  const upstream::Options provider;
  EXPECT_EQ(a.server.max_message_octets, b.server.max_message_octets);
  EXPECT_EQ(a.server.max_recipients, b.server.max_recipients);
  EXPECT_EQ(a.server.max_connections, b.server.max_connections);
  EXPECT_EQ(a.server.max_unauthenticated_connections, b.server.max_unauthenticated_connections);
  EXPECT_EQ(a.server.max_commands_without_message, b.server.max_commands_without_message);
  EXPECT_EQ(a.server.messages_per_minute, b.server.messages_per_minute);
  EXPECT_EQ(a.server.min_data_rate, b.server.min_data_rate);
  EXPECT_EQ(a.server.blob.memory_octets, b.server.blob.memory_octets);
  EXPECT_EQ(a.server.blob.directory, b.server.blob.directory);
  EXPECT_EQ(a.server.timeouts.handshake, b.server.timeouts.handshake);
  EXPECT_EQ(a.server.timeouts.login, b.server.timeouts.login);
  EXPECT_EQ(a.server.timeouts.rate_grace, b.server.timeouts.rate_grace);
  EXPECT_EQ(a.server.timeouts.command, b.server.timeouts.command);
  EXPECT_EQ(a.server.timeouts.data, b.server.timeouts.data);
  EXPECT_EQ(a.server.timeouts.message, b.server.timeouts.message);
  EXPECT_EQ(a.server.timeouts.write, b.server.timeouts.write);
  EXPECT_EQ(a.server.timeouts.drain, b.server.timeouts.drain);
  EXPECT_EQ(a.upstreams.front().name, provider.name);
  EXPECT_EQ(a.upstreams.front().allow_plaintext_auth, provider.allow_plaintext_auth);
  EXPECT_EQ(a.upstreams.front().tls.verify, provider.tls.verify);
  EXPECT_EQ(a.upstreams.front().timeouts.connect, provider.timeouts.connect);
  EXPECT_EQ(a.upstreams.front().timeouts.greeting, provider.timeouts.greeting);
  EXPECT_EQ(a.upstreams.front().timeouts.command, provider.timeouts.command);
  EXPECT_EQ(a.upstreams.front().timeouts.data_block, provider.timeouts.data_block);
  EXPECT_EQ(a.upstreams.front().timeouts.final, provider.timeouts.final);
  EXPECT_EQ(a.upstreams.front().pool.max_connections, provider.pool.max_connections);
  EXPECT_EQ(a.upstreams.front().pool.max_wait, provider.pool.max_wait);
  EXPECT_EQ(a.upstreams.front().pool.max_idle, provider.pool.max_idle);
  EXPECT_EQ(a.upstreams.front().pool.max_age, provider.pool.max_age);
  EXPECT_EQ(a.upstreams.front().pool.max_messages, provider.pool.max_messages);
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

TEST_F(LoadTest, TheReadyConfigurationsNeedOnlyTheirPassword) {
  for (const auto* name : {"ses", "mailgun"}) {
    const auto text = documented(name);
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
              ElementsAre("listen 127.0.0.1:2525, relays for 127.0.0.0/8, ::1/128, no TLS",
                          "upstream default smtps://host:465, login u, 50 connections at most", "store redis://host:6379/0",
                          "window content 2h, key 1d, message-id 1d",
                          "policy enforce, strategy key, content, doubt resend, store_down local"));
}

}  // namespace
}  // namespace mailonce::config
