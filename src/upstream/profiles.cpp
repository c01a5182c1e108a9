// How providers end sessions and limit them, as they document it or as they were seen to do.
#include <algorithm>

#include "mailonce/upstream/options.h"

namespace mailonce::upstream {
namespace {

constexpr PoolLimits usual;

// Of whom it is not known, nothing is assumed but what any may do: an idle connection is not kept for long.
constexpr Profile all[] = {
    // Closes after 10 s without mail ("451 4.4.2 Timeout waiting for data from client"), also on a connection
    // just made. The rate depends on the account.
    {"ses", {50, usual.max_wait, seconds(8), usual.max_age, usual.max_messages}, {}},
    {"mailgun", usual, {}},
    {"postmark", usual, {}},
    // Up to 5,000 messages on one connection.
    {"sendgrid", {50, usual.max_wait, seconds(8), usual.max_age, 4900}, {}},
    {"gmail", {10, usual.max_wait, seconds(8), seconds(300), 100}, {}},
    // 3 connections a mailbox (432 4.3.2), 30 messages a minute (of one recipient, to be safe); sessions of 20 minutes, on some paths of 5,
    // are ended while they are busy.
    {"office365", {3, usual.max_wait, seconds(8), seconds(240), usual.max_messages}, {30, seconds(60)}},
};

}  // namespace

std::span<const Profile> profiles() noexcept {
  return all;
}

const Profile* find_profile(std::string_view name) noexcept {
  const auto* found =
      std::find_if(std::begin(all), std::end(all), [&](const auto& each) { return each.name == name; });
  return found == std::end(all) ? nullptr : found;
}

}  // namespace mailonce::upstream
