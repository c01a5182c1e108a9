#include <gmock/gmock.h>

#include "fixture.h"
#include "support/scripted_upstream.h"

namespace mailonce::cli {
namespace {

using test::Profile;
using test::ScriptedUpstream;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string upstream(std::uint16_t port) {
  return "[[upstream]]\nurl = \"smtp://127.0.0.1:" + std::to_string(port) +
         "\"\nehlo_name = \"relay.example.org\"\n";
}

TEST_F(CommandLine, CheckSaysWhatAGoodConfigurationMeans) {
  EXPECT_EQ(mailonce({"check", "--config", write("m.toml", upstream(2526))}), 0);
  EXPECT_THAT(out(), HasSubstr("listen 127.0.0.1:2525, relays for 127.0.0.0/8, ::1/128, no TLS\n"));
  EXPECT_THAT(out(), HasSubstr("upstream default smtp://127.0.0.1:2526, no login, 50 connections at most\n"));
  EXPECT_THAT(err(), IsEmpty());
}

TEST_F(CommandLine, CheckSaysEverythingThatIsWrong) {
  const auto file =
      write("m.toml", upstream(2526) + "[window]\ncontent = \"soon\"\n[policy]\nmod = \"enforce\"\n");
  EXPECT_EQ(mailonce({"check", "--config", file, "--listen", "nowhere"}), 2);
  EXPECT_THAT(err(), HasSubstr(file + ":5: window.content = \"soon\": is not a duration; write "));
  EXPECT_THAT(err(), HasSubstr("policy.mod: is not a known key; did you mean \"mode\"?"));
  EXPECT_THAT(err(), HasSubstr("--listen = \"nowhere\": has no port"));
  EXPECT_THAT(out(), IsEmpty());
}

TEST_F(CommandLine, CheckRefusesAnAuthorityFileWithoutCertificates) {
  write("ca.pem", "not a certificate\n");
  const auto file = write("m.toml", "[[upstream]]\nurl = \"smtps://127.0.0.1\"\nca_file = \"ca.pem\"\n");
  EXPECT_EQ(mailonce({"check", "--config", file}), 2);
  EXPECT_THAT(err(), HasSubstr("ca.pem"));
}

TEST_F(CommandLine, CheckConnectsWhenAsked) {
  ScriptedUpstream provider;
  EXPECT_EQ(mailonce({"check", "--connect", "--config", write("m.toml", upstream(provider.port()))}), 0)
      << err();
  EXPECT_THAT(out(), HasSubstr("upstream 127.0.0.1: connected, offers "));
  EXPECT_THAT(out(), HasSubstr("store: answers\n"));
}

TEST_F(CommandLine, CheckTellsWhyAnUpstreamIsNotReached) {
  ScriptedUpstream provider;
  const auto file = write("m.toml", upstream(provider.port()));
  provider.stop_listening();
  EXPECT_EQ(mailonce({"check", "--connect", "--config", file}), 2);
  EXPECT_THAT(out(), HasSubstr("upstream 127.0.0.1: "));
  EXPECT_THAT(out(), Not(HasSubstr("connected")));
}

TEST_F(CommandLine, CheckTellsWhyAStoreDoesNotAnswer) {
  ScriptedUpstream provider;
  ScriptedUpstream no_redis;
  const auto port = std::to_string(no_redis.port());
  no_redis.stop_listening();
  const auto file = write("m.toml", upstream(provider.port()));
  EXPECT_EQ(mailonce({"check", "--connect", "--config", file, "--store", "redis://127.0.0.1:" + port}), 2);
  EXPECT_THAT(out(), HasSubstr("upstream 127.0.0.1: connected"));
  EXPECT_THAT(out(), HasSubstr("store: "));
  EXPECT_THAT(out(), Not(HasSubstr("store: answers")));
}

}  // namespace
}  // namespace mailonce::cli
