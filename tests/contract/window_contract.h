// The contract of a window (DESIGN.md §4), run against every store. `one` and `two` are relay processes that
// share it.
#pragma once
#include <gtest/gtest.h>

#include "run.h"
#include "stores.h"

namespace mailonce::window::contract {

using test::eventually;
using test::nap;
using test::Process;
using test::run;
using test::Shelf;
using test::Which;

struct Ask {
  std::string message;
  std::vector<std::string> recipients = {"AAAA"};
  DoubtPolicy doubt = DoubtPolicy::resend;
  milliseconds window{7'200'000};
  std::string message_id = "<first@example>";
  std::string content = "first-content";
};

inline awaitable<Result<ClaimAnswer>> claim(Process& process, Ask ask) {
  ClaimRequest request;
  request.fingerprint = sha256(ask.message);
  request.recipients = std::move(ask.recipients);
  request.doubt = ask.doubt;
  request.window = ask.window;
  request.message_id = std::move(ask.message_id);
  request.content = std::move(ask.content);
  request.store_down = StoreDownPolicy::defer;
  co_return co_await process.window().claim(std::move(request));
}

inline awaitable<bool> begin(const Result<ClaimAnswer>& answer, std::string goes_out = "<first@example>") {
  auto begun = co_await answer->claim->begin(std::move(goes_out));
  co_return begun.has_value() && *begun == Begun::sending;
}

inline awaitable<bool> commit(const Result<ClaimAnswer>& answer, std::string text = "Ok first") {
  smtp::Reply reply{250, std::move(text)};
  std::string upstream = "ses";
  co_return co_await answer->claim->commit(std::move(reply), std::move(upstream));
}

// One verdict a recipient: m mine, d duplicate, b busy; in capitals after doubt.
inline std::string verdicts(const Result<ClaimAnswer>& answer) {
  if (!answer) return "error: " + answer.error().message();
  std::string out;
  for (const auto& each : answer->verdicts) {
    const char letter = "mdb"[static_cast<int>(each.verdict)];
    out += each.after_doubt ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  return out;
}

class Contract : public testing::TestWithParam<Which> {
 protected:
  template <class Body>
  void with_two_processes(const Body& body, milliseconds lease = milliseconds(30'000)) {
    Shelf shelf(GetParam());
    run([&](boost::asio::io_context& io) -> awaitable<void> {
      Process one(io, shelf, lease);
      Process two(io, shelf, lease);
      co_await body(one, two);
      // Releases in the background still need the processes.
      co_await nap(milliseconds(20));
      one.kill();
      two.kill();
    });
  }
};

inline std::string name_of(const testing::TestParamInfo<Which>& each) {
  switch (each.param) {
    case Which::memory:
      return "memory";
    case Which::sqlite:
      return "sqlite";
    case Which::redis:
      return "redis";
    case Which::guarded:
      return "guarded_redis";
    case Which::tls:
      return "redis_tls";
    case Which::sentinel:
      return "redis_sentinel";
    case Which::cluster:
      return "redis_cluster";
  }
  return "unknown";
}

}  // namespace mailonce::window::contract
