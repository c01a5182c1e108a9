#include "descriptors.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

namespace mailonce::cli {
namespace {

config::Configuration with_upstream(std::size_t connections) {
  config::Configuration configuration;
  configuration.upstreams.emplace_back().pool.max_connections = connections;
  return configuration;
}

TEST(Descriptors, leave_room_for_the_way_on) {
  EXPECT_EQ(connections_that_fit(1024, with_upstream(50)), (1024U - 64 - 50) / 4 * 3);
  EXPECT_EQ(connections_that_fit(64, with_upstream(50)), 1U) << "whatever it is, somebody is served";
  EXPECT_GE(connections_that_fit(20'000, with_upstream(50)), 10'000U);
}

TEST(Descriptors, are_taken_as_the_system_allows_and_no_more) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  auto low = before;
  low.rlim_cur = 256;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  const auto configuration = with_upstream(50);
  server::Options server;
  server.max_connections = 10;
  EXPECT_EQ(fit_connections(configuration, server), std::nullopt);
  EXPECT_EQ(server.max_connections, 10U);
  rlimit after{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);

  server.max_connections = static_cast<std::size_t>(before.rlim_max);
  if (before.rlim_max == RLIM_INFINITY) return;
  const auto told = fit_connections(configuration, server);
  ASSERT_TRUE(told);
  EXPECT_NE(told->find(std::to_string(server.max_connections) + " connections and not"), std::string::npos);
}

}  // namespace
}  // namespace mailonce::cli
