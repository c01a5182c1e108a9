// The guard over a store that fails on command: each script runs once without a failure and then with one at
// every step, both before the store carried the step out and after.
#include "mailonce/window/guarded_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>

#include "mailonce/redis/error.h"
#include "mailonce/window/error.h"
#include "mailonce/window/protocol_window.h"
#include "run.h"

namespace mailonce::window {
namespace {

using test::eventually;
using test::run;

class ScriptedStore final : public Store {
 public:
  explicit ScriptedStore(const Clock& clock) : memory({}, clock) {}

  awaitable<Result<StepResult>> step(Step step) override {
    const bool fails = down || (fail_at && steps == *fail_at);
    ++steps;
    if (fails && !carries_out) co_return with;
    auto result = memory.apply(step);
    if (fails) co_return with;
    co_return result;
  }

  MemoryStore memory;
  int steps = 0;
  std::optional<int> fail_at;
  bool down = false;
  bool carries_out = false;  // a step that fails was carried out all the same
  error_code with = redis::Errc::timed_out;
};

struct LogFile {
  LogFile() {
    static int number = 0;
    path = testing::TempDir() + "guard_" + std::to_string(::getpid()) + "_" + std::to_string(number++);
    observe::LogOptions options;
    options.file = path;
    log.emplace(options);
  }
  ~LogFile() {
    log.reset();
    std::remove(path.c_str());
  }
  int count(const std::string& word) {
    log->flush();
    std::ifstream in(path);
    std::stringstream text;
    text << in.rdbuf();
    int found = 0;
    for (auto at = text.str().find(word); at != std::string::npos; at = text.str().find(word, at + 1))
      ++found;
    return found;
  }
  std::string path;
  std::optional<observe::Log> log;
};

// One relay process over a store that all processes share.
struct Process {
  Process(boost::asio::io_context& io, std::shared_ptr<ScriptedStore> given)
      : store(std::move(given)),
        guarded(std::make_shared<GuardedStore>(io.get_executor(), store, shadow, outage, *file.log,
                                               WriteBackOptions{milliseconds(2), milliseconds(10)})),
        window(io.get_executor(), guarded, milliseconds(30'000), std::make_shared<Hub>(), *file.log) {}

  SystemClock clock;
  LogFile file;
  MemoryStore shadow{{}, clock};
  Outage outage;
  std::shared_ptr<ScriptedStore> store;
  std::shared_ptr<GuardedStore> guarded;
  ProtocolWindow window;
};

const SystemClock system_clock;

ClaimRequest request(const std::string& message, StoreDownPolicy policy,
                     std::vector<std::string> recipients = {"AAAA"},
                     DoubtPolicy doubt = DoubtPolicy::resend) {
  ClaimRequest out;
  out.fingerprint = sha256(message);
  out.recipients = std::move(recipients);
  out.content = "content";
  out.message_id = "<mine@example>";
  out.doubt = doubt;
  out.store_down = policy;
  out.window = milliseconds(7'200'000);
  return out;
}

State in_store(ScriptedStore& store, const std::string& message) {
  const std::vector<std::string> recipients{"AAAA"};
  Step look;
  look.fingerprint = sha256(message);
  look.recipients = recipients;
  return store.memory.apply(look).before[0].state;
}

awaitable<bool> commit(Claim& claim, std::string text) {
  smtp::Reply reply{250, std::move(text)};
  std::string upstream = "ses";
  co_return co_await claim.commit(std::move(reply), std::move(upstream));
}

// What the first attempt came to.
enum class End { not_claimed, lost, sent, refused, doubt };

awaitable<End> attempt(Window& window, StoreDownPolicy policy, End wanted) {
  auto asked = request("mail", policy);
  auto answer = co_await window.claim(std::move(asked));
  if (!answer || answer->busy || !answer->claim) co_return End::not_claimed;
  auto begun = co_await answer->claim->begin();
  if (!begun || *begun == Begun::lost) {
    co_await answer->claim->release();
    co_return End::lost;
  }
  if (wanted == End::refused) co_await answer->claim->release();
  if (wanted == End::doubt) co_await answer->claim->doubt();
  if (wanted == End::sent) co_await commit(*answer->claim, "Ok first");
  co_return wanted;
}

awaitable<bool> written_back(Process& process) {
  const auto settled = [&]() -> awaitable<bool> {
    co_return !process.outage.down() && process.outage.kept == 0;
  };
  co_return co_await eventually(settled);
}

// Runs `script` with a failure at step 0, 1, 2, … until a run meets none.
template <class Script>
void at_every_step(const Script& script) {
  for (const bool carries_out : {false, true}) {
    for (int fail_at = 0;; ++fail_at) {
      SCOPED_TRACE(testing::Message()
                   << "failure at step " << fail_at << (carries_out ? ", carried out" : ""));
      auto store = std::make_shared<ScriptedStore>(system_clock);
      store->fail_at = fail_at;
      store->carries_out = carries_out;
      run([&](boost::asio::io_context& io) -> awaitable<void> { return script(io, store); });
      ASSERT_LT(fail_at, 20);
      if (store->steps <= fail_at) break;
    }
  }
}

constexpr StoreDownPolicy policies[] = {StoreDownPolicy::local, StoreDownPolicy::defer,
                                        StoreDownPolicy::forward};

class Guard : public testing::TestWithParam<StoreDownPolicy> {};

std::string name_of(const testing::TestParamInfo<StoreDownPolicy>& each) {
  switch (each.param) {
    case StoreDownPolicy::local:
      return "local";
    case StoreDownPolicy::defer:
      return "defer";
    case StoreDownPolicy::forward:
      return "forward";
  }
  return "unknown";
}

INSTANTIATE_TEST_SUITE_P(Policies, Guard, testing::ValuesIn(policies), name_of);

TEST_P(Guard, WhatWasSentIsADuplicateWhicheverStepFails) {
  at_every_step([&](boost::asio::io_context& io, std::shared_ptr<ScriptedStore> store) -> awaitable<void> {
    Process process(io, store);
    auto end = co_await attempt(process.window, GetParam(), End::sent);
    if (end == End::sent) {
      auto again = request("mail", GetParam());
      auto repeat = co_await process.window.claim(std::move(again));
      // An error defers the client; what must not be is a second copy.
      if (repeat) {
        EXPECT_EQ(repeat->claim, nullptr);
        EXPECT_EQ(repeat->verdicts.at(0).verdict, Verdict::duplicate);
        EXPECT_EQ(repeat->verdicts.at(0).record.reply.text, "Ok first");
      } else {
        EXPECT_EQ(GetParam(), StoreDownPolicy::defer);
      }
    } else {
      EXPECT_EQ(GetParam(), StoreDownPolicy::defer);
    }
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
    if (end == End::sent) {
      EXPECT_EQ(in_store(*store, "mail"), State::sent);
    }
  });
}

TEST_P(Guard, WhatWasRefusedIsNeverADuplicateWhicheverStepFails) {
  at_every_step([&](boost::asio::io_context& io, std::shared_ptr<ScriptedStore> store) -> awaitable<void> {
    Process process(io, store);
    co_await attempt(process.window, GetParam(), End::refused);
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
    auto again = request("mail", GetParam());
    auto repeat = co_await process.window.claim(std::move(again));
    if (repeat) {
      EXPECT_EQ(repeat->verdicts.at(0).verdict, Verdict::mine);
    }
    if (repeat && repeat->claim) co_await repeat->claim->release();
  });
}

TEST_P(Guard, DoubtIsNotForgottenWhicheverStepFails) {
  at_every_step([&](boost::asio::io_context& io, std::shared_ptr<ScriptedStore> store) -> awaitable<void> {
    Process process(io, store);
    auto end = co_await attempt(process.window, GetParam(), End::doubt);
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
    if (end == End::doubt) {
      EXPECT_EQ(in_store(*store, "mail"), State::sending);
      auto again = request("mail", GetParam(), {"AAAA"}, DoubtPolicy::suppress);
      store->fail_at.reset();
      auto repeat = co_await process.window.claim(std::move(again));
      EXPECT_TRUE(repeat && repeat->verdicts.at(0).verdict == Verdict::duplicate);
      EXPECT_TRUE(repeat && repeat->verdicts.at(0).after_doubt);
    }
  });
}

TEST(GuardInAnOutage, LocalDecidesInMemoryAndWritesBackWhenTheStoreReturns) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->down = true;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    auto asked = request("mail", StoreDownPolicy::local);
    auto answer = co_await process.window.claim(std::move(asked));
    EXPECT_TRUE(answer && answer->claim);
    EXPECT_EQ(answer->source, Source::local);
    auto twin = request("mail", StoreDownPolicy::local);
    auto second = co_await process.window.claim(std::move(twin));
    EXPECT_TRUE(second && second->busy);
    auto begun = co_await answer->claim->begin();
    EXPECT_TRUE(begun && *begun == Begun::sending);
    bool stored = co_await commit(*answer->claim, "Ok local");
    EXPECT_FALSE(stored);
    EXPECT_EQ(process.outage.kept, 1U);
    store->down = false;
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
    EXPECT_EQ(in_store(*store, "mail"), State::sent);

    // Another process now gets the first reply.
    Process other(io, store);
    auto later = request("mail", StoreDownPolicy::local);
    auto repeat = co_await other.window.claim(std::move(later));
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
    auto begun = co_await answer->claim->begin();
    EXPECT_TRUE(begun && *begun == Begun::sending);
    co_await commit(*answer->claim, "Ok");
    store->down = false;
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
    EXPECT_EQ(in_store(*store, "mail"), State::sent);
  });
}

// Redis was frozen, and carries the claims out when it goes on: they must not hold up the clients' retries.
TEST_P(Guard, AClaimThatWasCarriedOutUnansweredEndsWithItsAttempt) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->down = true;
  store->carries_out = true;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    co_await attempt(process.window, GetParam(), End::refused);
    store->down = false;
    bool settled = co_await written_back(process);
    EXPECT_TRUE(settled);
    Process other(io, store);
    auto again = request("mail", GetParam());
    auto retry = co_await other.window.claim(std::move(again));
    EXPECT_TRUE(retry && retry->claim);
    if (retry && retry->claim) co_await retry->claim->release();
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
    auto again = request("mail", StoreDownPolicy::local);
    auto repeat = co_await process.window.claim(std::move(again));
    EXPECT_TRUE(repeat && repeat->verdicts.at(0).verdict == Verdict::duplicate);
    EXPECT_EQ(repeat->source, Source::local);
  });
}

// Claimed in the store, the outage begins, a repeat arrives: it meets the attempt's shadow.
TEST(GuardInAnOutage, AnAttemptFromBeforeItStillBlocksItsRepeat) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    auto asked = request("mail", StoreDownPolicy::local);
    auto first = co_await process.window.claim(std::move(asked));
    EXPECT_TRUE(first && first->claim && first->source == Source::store);
    store->down = true;
    auto again = request("mail", StoreDownPolicy::local);
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

TEST(GuardInAnOutage, ARecordOfAnotherVersionIsNotAnOutage) {
  auto store = std::make_shared<ScriptedStore>(system_clock);
  store->fail_at = 0;
  store->with = Errc::malformed_record;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    Process process(io, store);
    auto asked = request("mail", StoreDownPolicy::local);
    auto answer = co_await process.window.claim(std::move(asked));
    EXPECT_TRUE(answer && answer->source == Source::local);
    EXPECT_FALSE(process.outage.down());
    co_await answer->claim->release();
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
}  // namespace mailonce::window
