// Who gets a place: of all, of an address, and of those that must still log in.
#include "admission.h"

#include <gtest/gtest.h>

#include <vector>

namespace mailonce::server {
namespace {

using Place = Admission::Place;

Client from(const char* address) {
  return {false, boost::asio::ip::make_address(address)};
}

Options limits(std::size_t all, std::size_t of_address, std::size_t strangers = 0) {
  Options options;
  options.max_connections = all;
  options.max_connections_per_address = of_address;
  options.max_unauthenticated_connections = strangers;
  return options;
}

class Admissions : public testing::Test {
 protected:
  // Why not; empty: it has a place.
  std::string come(const Client& client, Standing standing = Standing::known) {
    auto& place = places.emplace_back();
    auto turned = admission.enter(place);
    if (!turned) turned = place.take(client, standing);
    if (!turned) return {};
    places.pop_back();
    return std::string(turned->why);
  }

  Options options = limits(6, 2, 3);
  Admission admission{options};
  std::vector<Place> places;
};

TEST_F(Admissions, APlaceIsGivenBackWithItsConnection) {
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(come(from("192.0.2.1")), "");
    EXPECT_EQ(come(from("192.0.2.1")), "");
    EXPECT_EQ(come(from("192.0.2.1")), "too_many_connections_of_address");
    EXPECT_EQ(come(from("192.0.2.2")), "");
    places.clear();
  }
}

TEST_F(Admissions, AllConnectionsCountWhetherTheirClientIsKnownOrNot) {
  std::vector<Place> waiting(6);
  for (auto& place : waiting) EXPECT_FALSE(admission.enter(place));
  EXPECT_EQ(come(from("192.0.2.1")), "too_many_connections");
  waiting.pop_back();
  EXPECT_EQ(come(from("192.0.2.1")), "");
}

TEST_F(Admissions, WhoseClientChangesIsCountedForTheNewOne) {
  come(from("192.0.2.1"));
  come(from("192.0.2.1"));
  EXPECT_FALSE(places.back().take(from("192.0.2.2"), Standing::known));
  EXPECT_EQ(come(from("192.0.2.1")), "");
  EXPECT_EQ(come(from("192.0.2.2")), "");
  EXPECT_EQ(places.front().take(from("192.0.2.2"), Standing::known)->why, "too_many_connections_of_address");
  EXPECT_EQ(come(from("192.0.2.1")), "") << "and no more for the old one";
}

TEST_F(Admissions, WithoutAnAddressThereIsNoLimitOfTheAddress) {
  for (int i = 0; i < 6; ++i) EXPECT_EQ(come({true, {}}), "");
}

TEST_F(Admissions, StrangersHaveAShareUntilTheyLogIn) {
  for (const auto* address : {"192.0.2.1", "192.0.2.2", "192.0.2.3"})
    EXPECT_EQ(come(from(address), Standing::stranger), "");
  EXPECT_EQ(come(from("192.0.2.4"), Standing::stranger), "too_many_unauthenticated");
  EXPECT_EQ(come(from("192.0.2.4")), "") << "who need not log in has its place";
  EXPECT_TRUE(places.front().stranger());
  places.front().logged_in();
  places.front().logged_in();
  EXPECT_FALSE(places.front().stranger());
  EXPECT_EQ(come(from("192.0.2.5"), Standing::stranger), "");
  EXPECT_EQ(come(from("192.0.2.6"), Standing::stranger), "too_many_unauthenticated");
  places.clear();
  for (const auto* address : {"192.0.2.1", "192.0.2.2", "192.0.2.3"})
    EXPECT_EQ(come(from(address), Standing::stranger), "");
  EXPECT_EQ(come(from("192.0.2.4"), Standing::stranger), "too_many_unauthenticated");
}

TEST(Admission, TheShareOfStrangersIsHalf) {
  const auto options = limits(5, 0);
  Admission admission(options);
  std::vector<Place> places(3);
  for (auto& place : places) EXPECT_FALSE(admission.enter(place));
  EXPECT_FALSE(places[0].take(from("192.0.2.1"), Standing::stranger));
  EXPECT_FALSE(places[1].take(from("192.0.2.1"), Standing::stranger));
  EXPECT_EQ(places[2].take(from("192.0.2.1"), Standing::stranger)->why, "too_many_unauthenticated");
}

TEST(Standing, FollowsFromAddressAndLogin) {
  Listener listener;
  EXPECT_EQ(standing_of(listener, from("127.0.0.1")), Standing::known);
  EXPECT_EQ(standing_of(listener, {true, {}}), Standing::known);
  EXPECT_EQ(standing_of(listener, from("192.0.2.1")), Standing::nobody);
  EXPECT_EQ(standing_of(listener, {}), Standing::nobody) << "nobody knows who it is";
  listener.login = LoginAt::users;
  EXPECT_EQ(standing_of(listener, from("192.0.2.1")), Standing::stranger);
}

}  // namespace
}  // namespace mailonce::server
