// Records seen from outside: how long they live, the same in every store.
#include <gtest/gtest.h>

#include "run.h"
#include "stores.h"

namespace mailonce::window {
namespace {

using test::run;
using test::Shelf;
using test::Which;

class Visit : public testing::TestWithParam<Which> {};
INSTANTIATE_TEST_SUITE_P(Stores, Visit,
                         testing::Values(Which::memory, Which::sqlite, Which::redis, Which::sentinel,
                                         Which::cluster));

awaitable<void> take_step(Store& store, Verb verb, std::string owner, milliseconds age) {
  const auto attempt = test::attempt_on("mail", std::move(owner));
  auto step = attempt.step(verb);
  step.particulars.age = age;
  auto done = co_await store.step(step);
  EXPECT_TRUE(done && !done->blocked);
}

awaitable<std::vector<StoredRecord>> all(Store& store) {
  std::vector<StoredRecord> found;
  const std::function<void(const StoredRecord&)> see = [&](const StoredRecord& stored) {
    found.push_back(stored);
  };
  auto visited = co_await store.visit(see);
  EXPECT_TRUE(visited) << visited.error().message();
  co_return found;
}

TEST_P(Visit, ADoubtWrittenLateShortensNoDoubtAndNoAttempt) {
  for (const auto held : {Verb::doubt, Verb::begin}) {
    run([&](boost::asio::io_context& io) -> awaitable<void> {
      Shelf shelf(GetParam());
      const auto store = shelf.store(io);
      const milliseconds now{0};
      co_await take_step(*store, Verb::claim_resend, "first", now);
      co_await take_step(*store, held, "first", now);
      co_await take_step(*store, Verb::doubt, "late", milliseconds(3'600'000));
      auto found = co_await all(*store);
      EXPECT_EQ(found.size(), 1U);
      if (found.size() != 1) co_return;
      EXPECT_EQ(found[0].fingerprint, sha256("mail"));
      EXPECT_EQ(found[0].recipient, "AAAA");
      EXPECT_TRUE(found[0].record.doubtful);
      EXPECT_EQ(found[0].record.message_id, "<late@example>");
      EXPECT_GT(found[0].left, milliseconds(7'190'000));
    });
  }
}

TEST_P(Visit, ShowsWhatIsThereAndNotWhatIsNot) {
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Shelf shelf(GetParam());
    const auto store = shelf.store(io);
    auto found = co_await all(*store);
    EXPECT_TRUE(found.empty());
    co_await take_step(*store, Verb::claim_resend, "first", milliseconds(0));
    found = co_await all(*store);
    EXPECT_EQ(found.size(), 1U);
    co_await take_step(*store, Verb::release, "first", milliseconds(0));
    found = co_await all(*store);
    EXPECT_EQ(found.size(), 0U);
  });
}

}  // namespace
}  // namespace mailonce::window
