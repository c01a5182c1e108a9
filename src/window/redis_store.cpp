#include "mailonce/window/redis_store.h"

#include <array>
#include <vector>

#include "mailonce/window/codec.h"
#include "mailonce/window/error.h"
#include "step_script.h"

namespace mailonce::window {
namespace {

// The words of one EVALSHA and the texts behind them.
struct Call {
  Call(const Step& step, const std::string& prefix) {
    const auto& particulars = step.particulars;
    const auto fingerprint = step.fingerprint.base64url();
    keys.reserve(step.recipients.size());
    for (const auto& recipient : step.recipients) {
      std::string key;
      key.reserve(prefix.size() + fingerprint.size() + recipient.size() + 12);
      keys.push_back(std::move(
          key.append(prefix).append("mailonce:{").append(fingerprint).append("}:").append(recipient)));
    }
    const Table does = actions(step.verb, particulars);
    for (std::size_t i = 0; i < does.size(); ++i) action_characters[i] = static_cast<char>(does[i]);
    numbers = {std::to_string(keys.size()), std::to_string(particulars.lease.count()),
               std::to_string(particulars.window.count()), std::to_string(particulars.age.count()),
               std::to_string(particulars.slide_cap.count())};
    rest = encode_rest(particulars);
    words.reserve(keys.size() + 11);
    words.insert(words.end(), {"EVALSHA", step_script_sha1, numbers[0]});
    words.insert(words.end(), keys.begin(), keys.end());
    words.insert(words.end(),
                 {std::string_view(action_characters.data(), action_characters.size()), particulars.owner,
                  numbers[1], numbers[2], numbers[3], particulars.message_id, rest, numbers[4]});
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // EVAL carries the script, and the server holds it from then on.
  void with_source() {
    words[0] = "EVAL";
    words[1] = step_script;
  }

  std::vector<std::string> keys;
  std::array<char, class_count> action_characters;
  std::array<std::string, 5> numbers;
  std::string rest;
  std::vector<std::string_view> words;
};

bool must_be_replicated(Verb verb) noexcept {
  return verb == Verb::begin || verb == Verb::commit;
}

error_code failure(error_code why) noexcept {
  return why == redis::Errc::slot_moving ? make_error_code(Errc::record_moving) : why;
}

Result<StepResult> parse(redis::Value answer, std::size_t recipients) {
  if (answer.is_error()) return failure(redis::meaning_of(*answer.text()));
  if (answer.size() != recipients + 2) return make_error_code(Errc::malformed_answer);
  const auto blocked = answer[0].integer();
  const auto now = answer[1].integer();
  if (!blocked || !now) return make_error_code(Errc::malformed_answer);
  StepResult result;
  result.blocked = *blocked != 0;
  result.now = TimePoint(milliseconds(*now));
  result.before.resize(recipients);
  for (std::size_t i = 0; i < recipients; ++i) {
    const auto value = answer[i + 2];
    if (value.is_nil()) continue;
    const auto text = value.text();
    if (!text) return make_error_code(Errc::malformed_answer);
    result.before[i] = decode(*text);
  }
  return result;
}

}  // namespace

RedisStore::RedisStore(boost::asio::any_io_executor executor, redis::Options options, std::string prefix,
                       ReplicaWatch* watch, observe::Log* log)
    : min_replicas_(options.min_replicas),
      client_(std::move(executor), std::move(options)),
      prefix_(std::move(prefix)),
      watch_(watch),
      log_(log) {}

awaitable<Result<StepResult>> RedisStore::step(Step step) {
  Call call(step, prefix_);
  redis::Replication replication;
  auto* const wait = min_replicas_ > 0 && must_be_replicated(step.verb) ? &replication : nullptr;
  bool again = true;
  for (;;) {
    auto reply = co_await client_.command(call.words, call.keys.front(), wait);
    if (!reply) {
      const bool lost = reply.error() == redis::Errc::closed;
      if (!lost || !again) co_return failure(reply.error());
      again = false;
      continue;
    }
    auto result = parse(reply->value(), step.recipients.size());
    if (result && wait != nullptr) co_return judge(step, replication, std::move(*result));
    if (result || result.error() != redis::Errc::no_script || call.words[0] == "EVAL") co_return result;
    call.with_source();
  }
}

// A dot may only be written when its `sending` would survive a failover, unless store_down says otherwise.
// What was sent is a fact, replicated or not.
Result<StepResult> RedisStore::judge(const Step& step, const redis::Replication& replication,
                                     StepResult result) {
  if (result.blocked) return result;
  if (watch_ != nullptr && log_ != nullptr) watch_->heard(replication, min_replicas_, *log_);
  if (step.verb == Verb::commit) return result;
  if (replication.failure || replication.replicas < static_cast<long long>(min_replicas_))
    return make_error_code(Errc::not_replicated);
  return result;
}

}  // namespace mailonce::window
