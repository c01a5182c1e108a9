#include "scripted_window.h"

namespace mailonce::relay::test {
namespace {

using boost::asio::awaitable;
using window::State;
using window::Verdict;

class ScriptedClaim final : public window::Claim {
 public:
  ScriptedClaim(ScriptedWindow& window, window::ClaimRequest request, std::vector<std::string> keys)
      : window_(window), request_(std::move(request)), keys_(std::move(keys)) {}

  ~ScriptedClaim() override { end(); }

  awaitable<Result<window::Begun>> begin(std::string message_id) override {
    goes_out_ = std::move(message_id);
    ++window_.begins;
    if (window_.begin_fails) co_return make_error_code(boost::system::errc::timed_out);
    bool lost = window_.lose_next_claims > 0;
    if (lost) --window_.lose_next_claims;
    if (window_.begins_before_loss >= 0 && window_.begins_before_loss-- == 0) lost = true;
    if (lost && window_.on_lost) window_.on_lost();
    co_return lost ? window::Begun::lost : window::Begun::sending;
  }

  awaitable<bool> commit(smtp::Reply reply, std::string upstream) override {
    ++window_.commits;
    for (const auto& key : keys_) {
      auto& record = window_.records[key];
      record.state = State::sent;
      record.reply = reply;
      record.upstream = upstream;
      record.message_id = goes_out_;
      record.content = request_.content;
      record.at = window_.now;
    }
    end();
    co_return true;
  }

  awaitable<void> release() override {
    ++window_.releases;
    end();
    co_return;
  }

  awaitable<void> doubt() override {
    ++window_.doubts;
    for (const auto& key : keys_) {
      auto& record = window_.records[key];
      record.state = State::sending;
      if (record.message_id.empty()) record.message_id = goes_out_;
      record.content = request_.content;
    }
    end();
    co_return;
  }

 private:
  void end() {
    for (const auto& key : keys_) window_.held.erase(key);
    keys_.clear();
  }

  ScriptedWindow& window_;
  std::string goes_out_;
  window::ClaimRequest request_;
  std::vector<std::string> keys_;
};

}  // namespace

awaitable<Result<window::ClaimAnswer>> ScriptedWindow::claim(window::ClaimRequest request) {
  if (store_down) co_return make_error_code(boost::system::errc::connection_refused);
  window::ClaimAnswer answer;
  answer.now = now;
  std::vector<std::string> mine;
  for (const auto& recipient : request.recipients) {
    const auto key = request.fingerprint.hex() + ":" + recipient;
    window::RecipientVerdict verdict;
    const auto found = records.find(key);
    if (held.contains(key)) {
      verdict.verdict = Verdict::busy;
    } else if (found == records.end()) {
      verdict.verdict = Verdict::mine;
    } else if (found->second.state == State::sent) {
      verdict = {Verdict::duplicate, false, found->second};
    } else {
      const auto policy = request.doubt;
      const auto verdict_of = policy == window::DoubtPolicy::resend     ? Verdict::mine
                              : policy == window::DoubtPolicy::suppress ? Verdict::duplicate
                                                                        : Verdict::busy;
      verdict = {verdict_of, true, found->second};
    }
    if (verdict.verdict == Verdict::busy) answer.busy = true;
    if (verdict.verdict == Verdict::mine) mine.push_back(key);
    answer.verdicts.push_back(std::move(verdict));
  }
  if (!answer.busy && !mine.empty()) {
    held.insert(mine.begin(), mine.end());
    answer.claim = std::make_unique<ScriptedClaim>(*this, std::move(request), std::move(mine));
  }
  co_return std::move(answer);
}

awaitable<void> ScriptedWindow::changed(Digest, milliseconds) {
  ++waits;
  if (on_wait) on_wait();
  co_return;
}

awaitable<Result<>> ScriptedWindow::ping() {
  co_return Result<>();
}

}  // namespace mailonce::relay::test
