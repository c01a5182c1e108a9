// Every verb on every class of record.
#include "mailonce/window/protocol.h"

#include <gtest/gtest.h>

#include <string>

namespace mailonce::window {
namespace {

constexpr TimePoint now{milliseconds(1'000'000)};
constexpr TimePoint later = now + milliseconds(5000);
constexpr TimePoint earlier = now - milliseconds(1);

Record record(State state, std::string owner, TimePoint deadline, bool doubtful = false) {
  Record out;
  out.state = state;
  out.owner = std::move(owner);
  out.deadline = deadline;
  out.doubtful = doubtful;
  out.message_id = "<first@example>";
  out.content = "first-content";
  return out;
}

Particulars mine() {
  Particulars out;
  out.owner = "me";
  out.lease = milliseconds(30'000);
  out.window = milliseconds(7'200'000);
  out.message_id = "<mine@example>";
  out.content = "my-content";
  out.upstream = "ses";
  out.reply_code = 250;
  out.reply_text = "Ok 0100";
  return out;
}

// One record of each class, in the order of the enumeration.
std::array<Record, class_count> one_of_each() {
  return {Record{},
          record(State::claimed, "me", earlier),
          record(State::claimed, "other", later),
          record(State::claimed, "other", earlier),
          record(State::sending, "me", later),
          record(State::sending, "other", later),
          record(State::sending, "other", earlier),
          record(State::sent, "other", TimePoint{})};
}

TEST(Classify, KnowsWhatARecordIsToAnOwnerAtAMoment) {
  const auto records = one_of_each();
  for (std::size_t i = 0; i < class_count; ++i) {
    EXPECT_EQ(classify(records[i], "me", now), static_cast<Class>(i)) << i;
  }
}

TEST(Classify, ALeaseEndsAtItsDeadlineAndNotAfterIt) {
  EXPECT_EQ(classify(record(State::claimed, "other", now + milliseconds(1)), "me", now),
            Class::claimed_other);
  EXPECT_EQ(classify(record(State::claimed, "other", now), "me", now), Class::claimed_expired);
}

// Nobody took it, so nobody else may have sent.
TEST(Classify, AnOwnExpiredRecordIsStillMine) {
  EXPECT_EQ(classify(record(State::claimed, "me", earlier), "me", now), Class::claimed_mine);
  EXPECT_EQ(classify(record(State::sending, "me", earlier), "me", now), Class::sending_mine);
}

TEST(Classify, DeclaredDoubtIsDoubtForItsOwnerToo) {
  EXPECT_EQ(classify(record(State::sending, "me", TimePoint{}), "me", now), Class::doubt);
  EXPECT_EQ(classify(record(State::sending, "other", TimePoint{}), "me", now), Class::doubt);
}

TEST(Classify, AResendWhoseLeaseExpiredIsInDoubtAgain) {
  EXPECT_EQ(classify(record(State::claimed, "other", earlier, true), "me", now), Class::doubt);
  EXPECT_EQ(classify(record(State::claimed, "other", later, true), "me", now), Class::claimed_other);
}

// What stands after a verb: '=' unchanged, '!' blocked, '-' absent, c s mine, d declared doubt, S sent.
char after(Verb verb, const Record& found) {
  const auto action = table(verb)[static_cast<std::size_t>(classify(found, "me", now))];
  if (action == Action::block) return '!';
  if (action == Action::keep) return '=';
  Record written = found;
  if (!rewrite(action, written, mine(), now)) return '-';
  if (written.owner != "me") return written.doubtful && written.owner == found.owner ? 'm' : 'x';
  switch (classify(written, "me", now)) {
    case Class::claimed_mine:
      return 'c';
    case Class::sending_mine:
      return 's';
    case Class::doubt:
      return 'd';
    case Class::sent:
      return 'S';
    default:
      return 'x';
  }
}

TEST(Verbs, DoToEachClassWhatTheProtocolSays) {
  const std::pair<Verb, std::string> rows[] = {
      //                      absent, claimed: mine, other, expired, sending: mine, other, doubt, sent
      {Verb::claim_resend, "cc!c!!c="},
      {Verb::claim_suppress, "cc!c!!=="},
      {Verb::claim_defer, "cc!c!!!="},
      {Verb::begin, "!s!!s!!!"},
      {Verb::commit, "SSSSSSS="},
      {Verb::release, "=-==-==="},
      {Verb::renew, "=c==s==="},
      {Verb::doubt, "ddmddmm="},
      {Verb::probe, "cc=c===="},
      {Verb::look, "========"},
      {Verb::forget, "=!!-!!--"},
      {Verb::resolve_sent, "======S="},
      {Verb::resolve_not_sent, "======-="},
  };
  const auto records = one_of_each();
  for (const auto& [verb, expected] : rows) {
    std::string found;
    for (const auto& each : records) found += after(verb, each);
    EXPECT_EQ(found, expected) << "verb " << static_cast<int>(verb);
  }
}

TEST(Verbs, AClaimAfterDoubtKeepsTheFirstMessageIdAndContent) {
  Record found = record(State::sending, "other", earlier);
  ASSERT_TRUE(rewrite(Action::claim_doubtful, found, mine(), now));
  EXPECT_TRUE(found.doubtful);
  EXPECT_EQ(found.message_id, "<first@example>");
  EXPECT_EQ(found.content, "first-content");
  EXPECT_EQ(lifetime(found, mine(), now), mine().window);
}

TEST(Verbs, AReleaseAfterDoubtReturnsToDoubt) {
  for (const auto state : {State::claimed, State::sending}) {
    Record found = record(state, "me", later, true);
    ASSERT_TRUE(rewrite(Action::remove, found, mine(), now));
    EXPECT_EQ(classify(found, "me", now), Class::doubt);
    EXPECT_EQ(found.message_id, "<first@example>");
  }
}

TEST(Verbs, ADoubtWrittenLateMarksTheAttemptItMeets) {
  for (const auto state : {State::claimed, State::sending}) {
    Record found = record(state, "other", later);
    ASSERT_TRUE(rewrite(Action::mark, found, mine(), now));
    EXPECT_EQ(found.owner, "other");
    EXPECT_EQ(found.state, state);
    EXPECT_EQ(found.deadline, later);
    EXPECT_EQ(found.message_id, "<mine@example>") << "of the copy that may have been sent";
    auto theirs = mine();
    theirs.owner = "other";
    EXPECT_TRUE(rewrite(Action::remove, found, theirs, now)) << "given up, it is doubt again";
    EXPECT_EQ(classify(found, "me", now), Class::doubt);
  }
}

TEST(Verbs, AnUnreadableRecordIsOfNoOtherContent) {
  Record found;
  found.state = State::sending;
  found.unreadable = true;
  ASSERT_TRUE(rewrite(Action::claim_doubtful, found, mine(), now));
  EXPECT_EQ(found.content, "my-content");
}

TEST(Verbs, ACommitTellsTheMessageIdAndTheContentThatWereSent) {
  Record own = record(State::sending, "me", later, true);
  ASSERT_TRUE(rewrite(Action::commit, own, mine(), now));
  EXPECT_EQ(own.message_id, "<mine@example>");
  EXPECT_EQ(own.content, "my-content");
  EXPECT_EQ(own.reply, (smtp::Reply{250, "Ok 0100"}));
  Record anothers = record(State::claimed, "other", later);
  ASSERT_TRUE(rewrite(Action::commit, anothers, mine(), now));
  EXPECT_EQ(anothers.message_id, "<mine@example>");
}

TEST(Verbs, ACommitWrittenBackLivesForTheRestOfItsWindow) {
  auto particulars = mine();
  particulars.age = milliseconds(7'000'000);
  Record found;
  ASSERT_TRUE(rewrite(Action::commit, found, particulars, now));
  EXPECT_EQ(found.at, now - particulars.age);
  EXPECT_EQ(lifetime(found, particulars, now), milliseconds(200'000));
}

TEST(Lifetime, IsTheLeaseForAClaimAndTheWindowForAllElse) {
  EXPECT_EQ(lifetime(record(State::claimed, "me", later), mine(), now), mine().lease);
  EXPECT_EQ(lifetime(record(State::sending, "me", later), mine(), now), mine().window);
  EXPECT_EQ(lifetime(record(State::sent, "me", {}), mine(), now), mine().window);
}

TEST(Lifetime, ADeclaredDoubtIsHeldByNobodyAndEndsWithItsWindow) {
  auto particulars = mine();
  particulars.window = milliseconds(1000);
  EXPECT_EQ(lifetime(record(State::sending, "me", {}), particulars, now), particulars.window);
}

TEST(Lifetime, AShortWindowDoesNotEndAnAttemptUnderWay) {
  auto particulars = mine();
  particulars.window = milliseconds(1000);
  EXPECT_EQ(lifetime(record(State::sending, "me", later), particulars, now), particulars.lease);
  EXPECT_EQ(lifetime(record(State::sent, "me", {}), particulars, now), particulars.window);
}

}  // namespace
}  // namespace mailonce::window
