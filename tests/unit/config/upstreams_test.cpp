// [[upstream]] where there are several, [[route]], and what is known of providers.
#include <gmock/gmock.h>

#include "load_fixture.h"

namespace mailonce::config {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

class UpstreamsTest : public LoadTest {
 protected:
  Configuration good(const std::string& text, const Overrides& overrides = {}) {
    const auto loaded = load_text(text, overrides);
    EXPECT_THAT(loaded.report.lines(), IsEmpty());
    return loaded.configuration;
  }
  static constexpr const char* two =
      "[[upstream]]\nname = \"a\"\nurl = \"smtp://127.0.0.1:2526\"\n"
      "[[upstream]]\nname = \"b\"\nurl = \"smtp://127.0.0.1:2527\"\n";
};

TEST_F(UpstreamsTest, AProfileSetsWhatIsNotWritten) {
  const std::string office = "[[upstream]]\nurl = \"smtp://127.0.0.1\"\nprofile = \"office365\"\n";
  const auto known = good(office).upstreams.front();
  EXPECT_EQ(known.pool.max_connections, 3U);
  EXPECT_LT(known.pool.max_age, seconds(300)) << "sessions of 5 minutes are ended while they are busy";
  EXPECT_EQ(known.max_rate, (upstream::Rate{30, seconds(60)}));
  const auto written = good(office + "max_connections = 2\nmax_rate = \"10/s\"\n").upstreams.front();
  EXPECT_EQ(written.pool.max_connections, 2U);
  EXPECT_EQ(written.max_rate, (upstream::Rate{10, seconds(1)}));
  EXPECT_EQ(written.pool.max_age, known.pool.max_age);
}

TEST_F(UpstreamsTest, EveryProfileKeepsIdleConnectionsForLessThanTenSeconds) {
  for (const auto& profile : upstream::profiles())
    EXPECT_LT(profile.pool.max_idle, seconds(10)) << profile.name;
}

TEST_F(UpstreamsTest, RatesHaveTheirUnit) {
  for (const auto& [text, rate] : std::initializer_list<std::pair<const char*, upstream::Rate>>{
           {"14/s", {14, seconds(1)}},
           {"30/min", {30, seconds(60)}},
           {"500/h", {500, seconds(3600)}},
           {"50000/d", {50'000, seconds(86'400)}}}) {
    const auto loaded = good(std::string(upstream) + "max_rate = \"" + text + "\"\n");
    EXPECT_EQ(loaded.upstreams.front().max_rate, rate) << text;
  }
}

TEST_F(UpstreamsTest, RoutesAndListenersNameThem) {
  const auto loaded = good(
      std::string(two) +
      "[[route]]\nmatch = { sender = \"*@news.example\", credential = [\"x\", \"y\"] }\nupstream = \"b\"\n"
      "[[route]]\nmatch = {}\nupstream = [\"b\", \"a\"]\n"
      "[[listen]]\naddress = \"127.0.0.1:0\"\nauth = \"upstream\"\nauth_upstream = \"b\"\n"
      "allow_plaintext_auth = true\n");
  ASSERT_EQ(loaded.relay.routes.size(), 2U);
  EXPECT_EQ(loaded.relay.routes[0].upstreams, std::vector<std::size_t>{1});
  EXPECT_EQ(loaded.relay.routes[0].credentials.size(), 2U);
  EXPECT_EQ(loaded.relay.routes[1].upstreams, (std::vector<std::size_t>{1, 0}));
  EXPECT_EQ(loaded.server.listeners.front().login_upstream, 1U);
  EXPECT_THAT(summary(loaded), Contains("route of a part of the mail to b"));
  EXPECT_THAT(summary(loaded), Contains("route of the other mail to b, a"));
}

TEST_F(UpstreamsTest, TheCommandLinesUpstreamIsTheOnlyOne) {
  const auto loaded =
      good(std::string(two) + "[[route]]\nmatch = {}\nupstream = \"b\"\n", {{}, "smtp://127.0.0.1:2599", {}});
  ASSERT_EQ(loaded.upstreams.size(), 1U);
  EXPECT_EQ(loaded.upstreams.front().port, 2599);
  EXPECT_THAT(loaded.relay.routes, IsEmpty());
}

// Each worker has connections of its own, and with one or two it would be out of them at once.
TEST_F(UpstreamsTest, FewConnectionsAreSharedByFewWorkers) {
  const auto workers = [&](const std::string& connections) {
    return good(std::string(upstream) + "max_connections = " + connections + "\n[server]\nworkers = 8\n")
        .server.workers;
  };
  EXPECT_EQ(workers("2"), 1U);
  EXPECT_EQ(workers("10"), 2U);
  EXPECT_EQ(workers("50"), 8U);
}

TEST_F(UpstreamsTest, OnePasswordOfTheEnvironmentIsNotForAll) {
  ::setenv("MAILONCE_UPSTREAM_PASSWORD", "one", 1);
  const auto loaded = load_text(
      "[[upstream]]\nname = \"a\"\nurl = \"smtps://u@a\"\n[[upstream]]\nname = \"b\"\nurl = "
      "\"smtps://u@b\"\n");
  EXPECT_THAT(loaded.report.lines(), Contains(HasSubstr("name a file in password_file")).Times(2));
}

}  // namespace
}  // namespace mailonce::config
