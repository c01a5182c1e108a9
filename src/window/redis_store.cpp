#include "mailonce/window/redis_store.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "mailonce/base/encoding.h"
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

Result<StepResult> parse(redis::Value answer, std::size_t recipients) {
  if (answer.is_error()) return make_error_code(redis::meaning_of(*answer.text()));
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

// For MATCH: the text itself and nothing else.
std::string glob_of(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("*?[]^\\").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

// Whose record stands under "mailonce:{<fingerprint>}:<recipient digest>".
std::optional<StoredRecord> address_of(std::string_view key) {
  constexpr std::string_view begin = "mailonce:{";
  constexpr std::size_t digits = 43;
  if (!key.starts_with(begin)) return std::nullopt;
  key.remove_prefix(begin.size());
  if (key.substr(std::min(digits, key.size())).substr(0, 2) != "}:") return std::nullopt;
  std::string base64(key.substr(0, digits));
  std::replace(base64.begin(), base64.end(), '-', '+');
  std::replace(base64.begin(), base64.end(), '_', '/');
  const auto octets = from_base64(base64 + "=");
  StoredRecord out;
  if (!octets || octets->size() != out.fingerprint.bytes.size()) return std::nullopt;
  std::copy(octets->begin(), octets->end(), out.fingerprint.bytes.begin());
  out.recipient = key.substr(digits + 2);
  return out;
}

}  // namespace

RedisStore::RedisStore(boost::asio::any_io_executor executor, redis::Options options, std::string prefix)
    : client_(std::move(executor), std::move(options)), prefix_(std::move(prefix)) {}

awaitable<Result<StepResult>> RedisStore::step(Step step) {
  Call call(step, prefix_);
  bool again = true;
  for (;;) {
    auto reply = co_await client_.command(call.words);
    if (!reply) {
      const bool lost = reply.error() == redis::Errc::closed;
      if (!lost || !again) co_return reply.error();
      again = false;
      continue;
    }
    auto result = parse(reply->value(), step.recipients.size());
    if (result || result.error() != redis::Errc::no_script || call.words[0] == "EVAL") co_return result;
    call.with_source();
  }
}

awaitable<Result<>> RedisStore::visit(std::function<void(const StoredRecord&)> see) {
  const auto pattern = glob_of(prefix_) + "mailonce:{*";
  std::string cursor = "0";
  do {
    const std::array<std::string_view, 6> scan{"SCAN", cursor, "MATCH", pattern, "COUNT", "1000"};
    auto page = co_await client_.command(scan);
    if (!page) co_return page.error();
    const auto found = page->value();
    if (found.is_error()) co_return make_error_code(redis::meaning_of(*found.text()));
    const auto next = found.size() == 2 ? found[0].text() : std::nullopt;
    if (!next) co_return make_error_code(Errc::malformed_answer);
    for (std::size_t i = 0; i < found[1].size(); ++i) {
      const auto key = found[1][i].text();
      auto stored = key ? address_of(key->substr(std::min(prefix_.size(), key->size()))) : std::nullopt;
      if (!stored) continue;
      const std::array<std::string_view, 2> get{"GET", *key};
      auto value = co_await client_.command(get);
      if (!value) co_return value.error();
      const std::array<std::string_view, 2> pttl{"PTTL", *key};
      auto left = co_await client_.command(pttl);
      if (!left) co_return left.error();
      const auto text = value->value().is_error() ? std::nullopt : value->value().text();
      if (!text || left->value().integer().value_or(-2) < 0) continue;  // it ended meanwhile
      stored->record = decode(*text);
      stored->left = milliseconds(*left->value().integer());
      see(*stored);
    }
    cursor = *next;
  } while (cursor != "0");
  co_return Result<>();
}

}  // namespace mailonce::window
