// The guard over a store that fails on command.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>

#include "mailonce/redis/error.h"
#include "mailonce/window/error.h"
#include "mailonce/window/guarded_store.h"
#include "mailonce/window/protocol_window.h"
#include "run.h"

namespace mailonce::window::guard {

using test::eventually;
using test::run;

class ScriptedStore final : public Store {
 public:
  explicit ScriptedStore(const Clock& clock) : clock_(clock) { forget(); }

  awaitable<Result<StepResult>> step(Step step) override {
    if (on_step) on_step(step);
    const bool fails = down || (fail_at && steps == *fail_at) || refuses == step.fingerprint;
    ++steps;
    if (fails && !carries_out) co_return with;
    auto result = memory->apply(step);
    if (fails) co_return with;
    co_return result;
  }

  awaitable<Result<>> visit(std::function<void(const StoredRecord&)> see) override {
    return memory->visit(std::move(see));
  }

  void forget() { memory.emplace(MemoryOptions{}, clock_); }

  std::optional<MemoryStore> memory;
  int steps = 0;
  std::function<void(const Step&)> on_step;
  std::optional<int> fail_at;
  bool down = false;
  std::optional<Digest> refuses;  // steps on this fingerprint
  bool carries_out = false;       // a step that fails was carried out all the same
  error_code with = redis::Errc::timed_out;

 private:
  const Clock& clock_;
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

inline ClaimRequest request(const std::string& message, StoreDownPolicy policy,
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

// One recipient, under `local`.
inline awaitable<Result<ClaimAnswer>> claim_mail(Process& process) {
  auto asked = request("mail", StoreDownPolicy::local);
  auto answer = co_await process.window.claim(std::move(asked));
  co_return std::move(answer);
}

inline awaitable<void> begin_mail(const Result<ClaimAnswer>& answer) {
  std::string goes_out = "<mine@example>";
  auto begun = co_await answer->claim->begin(std::move(goes_out));
  EXPECT_TRUE(begun && *begun == Begun::sending);
}

inline State in_store(ScriptedStore& store, const std::string& message) {
  const std::vector<std::string> recipients{"AAAA"};
  Step look;
  look.fingerprint = sha256(message);
  look.recipients = recipients;
  return store.memory->apply(look).before[0].state;
}

inline awaitable<bool> commit(Claim& claim, std::string text) {
  smtp::Reply reply{250, std::move(text)};
  std::string upstream = "ses";
  co_return co_await claim.commit(std::move(reply), std::move(upstream));
}

// What the first attempt came to.
enum class End { not_claimed, lost, sent, refused, doubt };

inline awaitable<End> attempt(Window& window, StoreDownPolicy policy, End wanted) {
  auto asked = request("mail", policy);
  auto answer = co_await window.claim(std::move(asked));
  if (!answer || answer->busy || !answer->claim) co_return End::not_claimed;
  std::string goes_out = "<mine@example>";
  auto begun = co_await answer->claim->begin(std::move(goes_out));
  if (!begun || *begun == Begun::lost) {
    co_await answer->claim->release();
    co_return End::lost;
  }
  if (wanted == End::refused) co_await answer->claim->release();
  if (wanted == End::doubt) co_await answer->claim->doubt();
  if (wanted == End::sent) co_await commit(*answer->claim, "Ok first");
  co_return wanted;
}

inline awaitable<bool> written_back(Process& process) {
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

}  // namespace mailonce::window::guard
