// What happens during an outage of the store, and after it.
#include "guard_fixture.h"

namespace mailonce::window::guard {
namespace {

TEST(GuardInAnOutage, LocalDecidesInMemoryAndWritesBackWhenTheStoreReturns) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->down = true;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    auto answer = co_await claim_mail(process);
    EXPECT_TRUE(answer && answer->claim);
    EXPECT_EQ(answer->source, Source::local);
    auto second = co_await claim_mail(process);
    EXPECT_TRUE(second && second->busy);
    co_await begin_mail(answer);
    bool stored = co_await commit(*answer->claim, "Ok local");
    EXPECT_FALSE(stored);
    EXPECT_EQ(process.outage.kept, 1U);
    store->down = false;
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
    EXPECT_EQ(in_store(*store, "mail"), State::sent);

    // Another process now gets the first reply.
    Process other(io, store);
    auto repeat = co_await claim_mail(other);
    EXPECT_TRUE(repeat && repeat->verdicts.at(0).record.reply.text == "Ok local");
    EXPECT_EQ(repeat->source, Source::store);
    EXPECT_EQ(process.file.count("does not answer"), 1);
    EXPECT_EQ(process.file.count("answers again"), 1);
  });
}

TEST(GuardInAnOutage, ManyFailuresAreOneLineAndTheStoreIsNotAskedByMessages) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->down = true;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    for (int i = 0; i < 200; ++i) {
      auto asked = request("mail " + std::to_string(i), StoreDownPolicy::local);
      auto answer = co_await process.window.claim(std::move(asked));
      EXPECT_TRUE(answer && answer->claim);
      co_await answer->claim->release();
    }
    EXPECT_EQ(process.file.count("does not answer"), 1);
    EXPECT_LT(store->steps, 100);  // one claim, and probes as time goes by
    EXPECT_EQ(process.outage.figures.claims_local, 200U);
  });
}

TEST(GuardInAnOutage, DeferIsAnErrorAndHoldsNothing) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->down = true;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    for (int i = 0; i < 2; ++i) {
      auto asked = request("mail", StoreDownPolicy::defer);
      auto answer = co_await process.window.claim(std::move(asked));
      EXPECT_FALSE(answer);
    }
    EXPECT_EQ(process.shadow.size(), 0U);
  });
}

TEST(GuardInAnOutage, ForwardHoldsNothingAndStillRecordsWhatWasSent) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->down = true;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    auto asked = request("mail", StoreDownPolicy::forward);
    auto answer = co_await process.window.claim(std::move(asked));
    EXPECT_TRUE(answer && answer->claim);
    EXPECT_EQ(answer->source, Source::unasked);
    EXPECT_EQ(process.shadow.size(), 0U);
    co_await begin_mail(answer);
    co_await commit(*answer->claim, "Ok");
    store->down = false;
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
    EXPECT_EQ(in_store(*store, "mail"), State::sent);
  });
}

// The outage begins after the mail was sent: this process still knows it.
TEST(GuardInAnOutage, WhatWasSentBeforeItIsRecognised) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    auto end = co_await attempt(process.window, StoreDownPolicy::local, End::sent);
    EXPECT_EQ(end, End::sent);
    store->down = true;
    auto repeat = co_await claim_mail(process);
    EXPECT_TRUE(repeat && repeat->verdicts.at(0).verdict == Verdict::duplicate);
    EXPECT_EQ(repeat->source, Source::local);
  });
}

// Claimed in the store, the outage begins, a repeat arrives: it meets the attempt's shadow.
TEST(GuardInAnOutage, AnAttemptFromBeforeItStillBlocksItsRepeat) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    auto first = co_await claim_mail(process);
    EXPECT_TRUE(first && first->claim && first->source == Source::store);
    store->down = true;
    auto repeat = co_await claim_mail(process);
    EXPECT_TRUE(repeat && repeat->busy);
    co_await first->claim->release();
  });
}

// A window shorter than the upstream takes for its answer.
TEST(GuardInAnOutage, AnAttemptThatOutlastsItsWindowStillBlocksItsRepeat) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->down = true;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    auto asked = request("mail", StoreDownPolicy::local);
    asked.window = milliseconds(20);
    auto again = asked;
    auto first = co_await process.window.claim(std::move(asked));
    EXPECT_TRUE(first && first->claim);
    co_await begin_mail(first);
    co_await test::nap(milliseconds(40));
    auto repeat = co_await process.window.claim(std::move(again));
    EXPECT_TRUE(repeat && repeat->busy);
    co_await first->claim->release();
  });
}

// While facts wait to be written back the store is asked for the rest only.
TEST(GuardAfterAnOutage, KnownRecipientsAreAnsweredFromMemoryAndTheRestFromTheStore) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    Process other(io, store);
    auto theirs = request("mail", StoreDownPolicy::local, {"BBBB"});
    auto taken = co_await other.window.claim(std::move(theirs));
    EXPECT_TRUE(taken && taken->claim);
    co_await commit(*taken->claim, "Ok other");

    auto asked = request("mail", StoreDownPolicy::local, {"AAAA"});
    auto first = co_await process.window.claim(std::move(asked));
    EXPECT_TRUE(first && first->claim);
    store->fail_at = store->steps;  // the commit
    co_await commit(*first->claim, "Ok mine");
    EXPECT_EQ(process.outage.kept, 1U);
    process.outage.back(*process.file.log);  // the store answers again, the fact is still to be written

    auto again = request("mail", StoreDownPolicy::local, {"AAAA", "BBBB", "CCCC"});
    auto repeat = co_await process.window.claim(std::move(again));
    EXPECT_TRUE(repeat && repeat->claim);
    EXPECT_EQ(repeat->verdicts.at(0).verdict, Verdict::duplicate);
    EXPECT_EQ(repeat->verdicts.at(0).record.reply.text, "Ok mine");
    EXPECT_EQ(repeat->verdicts.at(1).verdict, Verdict::duplicate);
    EXPECT_EQ(repeat->verdicts.at(1).record.reply.text, "Ok other");
    EXPECT_EQ(repeat->verdicts.at(2).verdict, Verdict::mine);
    co_await repeat->claim->release();
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
  });
}

Step another_claims(const std::vector<std::string>& recipients, milliseconds lease) {
  Step claim;
  claim.verb = Verb::claim_resend;
  claim.fingerprint = sha256("mail");
  claim.recipients = recipients;
  claim.particulars.owner = "another relay";
  claim.particulars.lease = lease;
  claim.particulars.window = milliseconds(7'200'000);
  return claim;
}

const std::vector<std::string> one_recipient{"AAAA"};

// What this process is not sure to have sent, and another relay claimed without knowing.
TEST(GuardAfterAnOutage, ADoubtThatMeetsAnothersClaimIsNotLost) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->down = true;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    auto answer = co_await claim_mail(process);
    EXPECT_TRUE(answer && answer->claim);
    co_await begin_mail(answer);
    co_await answer->claim->doubt();
    EXPECT_EQ(process.outage.kept, 1U);
    auto claim = another_claims(one_recipient, milliseconds(30'000));
    store->memory->apply(claim);
    store->down = false;
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
    EXPECT_EQ(in_store(*store, "mail"), State::claimed) << "the other goes on";
    claim.verb = Verb::release;
    store->memory->apply(claim);
    EXPECT_EQ(in_store(*store, "mail"), State::sending) << "and gives up: it is doubt";
    Process third(io, store);
    auto resend = co_await claim_mail(third);
    EXPECT_TRUE(resend && resend->claim && resend->verdicts.at(0).after_doubt);
    EXPECT_EQ(resend->verdicts.at(0).record.message_id, "<mine@example>");
    co_await resend->claim->release();
  });
}

TEST(GuardAfterAnOutage, ADoubtThatOnlyThisProcessKnowsOutlivesAnothersExpiredClaim) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    auto first = co_await claim_mail(process);
    EXPECT_TRUE(first && first->claim);
    co_await begin_mail(first);
    store->fail_at = store->steps;  // the doubt
    co_await first->claim->doubt();
    EXPECT_EQ(process.outage.kept, 1U);
    process.outage.back(*process.file.log);
    store->forget();
    store->memory->apply(another_claims(one_recipient, milliseconds(1)));
    co_await test::nap(milliseconds(5));
    const bool still_kept = process.outage.kept == 1U;
    auto resend = co_await claim_mail(process);
    EXPECT_TRUE(resend && resend->claim);
    EXPECT_TRUE(resend->verdicts.at(0).after_doubt) << still_kept;
    co_await resend->claim->release();
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
  });
}

// The store's record of the attempt has lapsed, and it has not heard yet how the attempt ended.
TEST(GuardInNormalTimes, ARepeatThatComesWhileAnEndIsOnItsWayToTheStoreWaits) {
  for (const auto verb : {Verb::commit, Verb::doubt, Verb::release}) {
    auto store = std::make_shared<ScriptedStore>(system_clock);
    run([&](boost::asio::io_context& io) -> awaitable<void> {
      Process process(io, store);
      auto first = co_await claim_mail(process);
      EXPECT_TRUE(first && first->claim);
      co_await begin_mail(first);
      bool met = false;
      store->on_step = [&](const Step& step) {
        if (step.verb != verb) return;
        met = process.shadow.apply(another_claims(one_recipient, milliseconds(30'000))).blocked;
      };
      if (verb == Verb::commit) co_await commit(*first->claim, "Ok");
      if (verb == Verb::doubt) co_await first->claim->doubt();
      if (verb == Verb::release) co_await first->claim->release();
      EXPECT_TRUE(met) << static_cast<int>(verb);
      store->on_step = {};
    });
  }
}

// Claimed in memory during the outage; the store returns before the dot: another relay is told `busy`.
TEST(GuardAfterAnOutage, AnAttemptBegunInMemoryIsAnnouncedBeforeItsDot) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->down = true;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    Process other(io, store);
    auto first = co_await claim_mail(process);
    EXPECT_TRUE(first && first->claim && first->source == Source::local);
    store->down = false;
    const auto back = [&]() -> awaitable<bool> { co_return !process.outage.down(); };
    bool returned = co_await eventually(back);
    EXPECT_TRUE(returned);
    co_await begin_mail(first);
    auto repeat = co_await claim_mail(other);
    EXPECT_TRUE(repeat && repeat->busy);
    co_await commit(*first->claim, "Ok");
    EXPECT_EQ(in_store(*store, "mail"), State::sent);
  });
}

TEST(GuardAfterAnOutage, AnAttemptBegunInMemoryIsLostWhenAnotherRelayHasTheMessage) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->down = true;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    auto first = co_await claim_mail(process);
    EXPECT_TRUE(first && first->claim);
    auto claim = another_claims(one_recipient, milliseconds(30'000));
    store->memory->apply(claim);
    claim.verb = Verb::commit;
    store->memory->apply(claim);
    store->down = false;
    const auto back = [&]() -> awaitable<bool> { co_return !process.outage.down(); };
    bool returned = co_await eventually(back);
    EXPECT_TRUE(returned);
    std::string goes_out = "<mine@example>";
    auto begun = co_await first->claim->begin(std::move(goes_out));
    EXPECT_TRUE(begun && *begun == Begun::lost);
    co_await first->claim->release();
    EXPECT_EQ(in_store(*store, "mail"), State::sent);
    auto repeat = co_await claim_mail(process);
    EXPECT_TRUE(repeat && repeat->verdicts.at(0).verdict == Verdict::duplicate);
  });
}

// The store carried the claim out and its answer was lost; memory then says that it was sent: nobody goes on.
TEST(GuardInAnOutage, AClaimThatNobodyGoesOnWithIsUndoneInTheStore) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    auto end = co_await attempt(process.window, StoreDownPolicy::local, End::sent);
    EXPECT_EQ(end, End::sent);
    store->forget();  // the store was emptied
    store->fail_at = store->steps;
    store->carries_out = true;
    auto repeat = co_await claim_mail(process);
    EXPECT_TRUE(repeat && repeat->verdicts.at(0).verdict == Verdict::duplicate);
    EXPECT_EQ(in_store(*store, "mail"), State::claimed);
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
    EXPECT_EQ(in_store(*store, "mail"), State::absent);
  });
}

// One fact that the store refuses for ever must not hold up the others.
TEST(GuardAfterAnOutage, AFactTheStoreRefusesLetsTheOthersPass) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->down = true;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    for (const std::string name : {"spoilt", "second", "third"}) {
      auto asked = request(name, StoreDownPolicy::local);
      auto answer = co_await process.window.claim(std::move(asked));
      EXPECT_TRUE(answer && answer->claim);
      co_await commit(*answer->claim, "Ok");
    }
    store->refuses = sha256("spoilt");
    store->down = false;
    const auto only_that_one = [&]() -> awaitable<bool> { co_return process.outage.kept == 1U; };
    bool passed = co_await eventually(only_that_one);
    EXPECT_TRUE(passed);
    EXPECT_EQ(in_store(*store, "second"), State::sent);
    EXPECT_EQ(in_store(*store, "third"), State::sent);
    store->refuses.reset();
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
  });
}

TEST(GuardAtTheEnd, SettlingWaitsForWhatIsKeptAndForClaimsThatWereDropped) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    auto dropped = request("dropped", StoreDownPolicy::local);
    auto given_up = co_await process.window.claim(std::move(dropped));
    EXPECT_TRUE(given_up && given_up->claim);
    EXPECT_EQ(in_store(*store, "dropped"), State::claimed);
    store->down = true;
    auto end = co_await attempt(process.window, StoreDownPolicy::local, End::sent);
    EXPECT_EQ(end, End::sent);
    EXPECT_EQ(process.outage.kept, 1U);
    co_await process.window.settle(milliseconds(30));
    EXPECT_EQ(process.outage.kept, 1U) << "it gives up in time";
    store->down = false;
    given_up->claim.reset();
    co_await process.window.settle(milliseconds(20'000));
    EXPECT_EQ(process.outage.kept, 0U);
    EXPECT_EQ(in_store(*store, "mail"), State::sent);
    EXPECT_EQ(in_store(*store, "dropped"), State::absent);
  });
}

TEST(GuardAtTheEnd, WhatCouldNotBeWrittenBackIsLogged) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->down = true;
  LogFile file;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    SystemClock clock;
    MemoryStore shadow{{}, clock};
    Outage outage;
    auto guarded = std::make_shared<GuardedStore>(io.get_executor(), store, shadow, outage, *file.log);
    {
      ProtocolWindow window(io.get_executor(), guarded, milliseconds(30'000), std::make_shared<Hub>(),
                            *file.log);
      auto end = co_await attempt(window, StoreDownPolicy::local, End::sent);
      EXPECT_EQ(end, End::sent);
    }
    guarded.reset();
    EXPECT_EQ(file.count("write_back_lost"), 1);
    EXPECT_EQ(outage.kept, 0U);
  });
}

}  // namespace
}  // namespace mailonce::window::guard
