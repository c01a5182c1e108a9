// Every record in Redis, for an operator: SCAN of each master, the values and lifetimes of a page in one
// write.
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "mailonce/base/encoding.h"
#include "mailonce/window/codec.h"
#include "mailonce/window/error.h"
#include "mailonce/window/redis_store.h"

namespace mailonce::window {
namespace {

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

struct Found {
  std::string key;
  StoredRecord stored;
};

// MGET and not GET: every step needs the right to it anyway.
std::vector<redis::Client::Words> questions(const std::vector<Found>& page) {
  std::vector<redis::Client::Words> out;
  for (const auto& each : page) {
    out.push_back({"MGET", each.key});
    out.push_back({"PTTL", each.key});
  }
  return out;
}

// False: it ended meanwhile, or is no record of ours.
bool take(redis::Value value, redis::Value left, StoredRecord& into) {
  constexpr long long no_key = -2;
  const auto text = value.size() == 1 ? value[0].text() : std::nullopt;
  const auto lives = left.integer().value_or(no_key);
  if (!text || lives == no_key) return false;
  into.record = decode(*text);
  into.left = milliseconds(std::max(lives, 0LL));  // a hand at the console gave it no end
  return true;
}

}  // namespace

// A slot that moves meanwhile may be at neither of its masters when that one is read.
awaitable<Result<>> RedisStore::visit(std::function<void(const StoredRecord&)> see) {
  auto masters = co_await client_.masters();
  if (!masters) co_return masters.error();
  for (const auto& master : *masters) {
    std::string cursor = "0";
    do {
      auto next = co_await visit_page(master, cursor, see);
      if (!next) co_return next.error();
      cursor = *next;
    } while (cursor != "0");
  }
  co_return Result<>();
}

// Returns where the next page begins.
awaitable<Result<std::string>> RedisStore::visit_page(redis::Address master, std::string cursor,
                                                      const std::function<void(const StoredRecord&)>& see) {
  using Text = Result<std::string>;
  std::vector<redis::Client::Words> scan;
  scan.push_back({"SCAN", cursor, "MATCH", glob_of(prefix_) + "mailonce:{*", "COUNT", "1000"});
  auto scanned = co_await client_.batch(master, std::move(scan));
  if (!scanned) co_return Text(boost::system::in_place_error, scanned.error());
  const auto found = scanned->front().value();
  if (found.is_error()) co_return Text(boost::system::in_place_error, redis::meaning_of(*found.text()));
  const auto next = found.size() == 2 ? found[0].text() : std::nullopt;
  if (!next) co_return Text(boost::system::in_place_error, make_error_code(Errc::malformed_answer));
  std::vector<Found> page;
  for (std::size_t i = 0; i < found[1].size(); ++i) {
    const auto key = found[1][i].text().value_or("");
    auto stored = address_of(key.substr(std::min(prefix_.size(), key.size())));
    if (stored) page.push_back({std::string(key), std::move(*stored)});
  }
  if (page.empty()) co_return std::string(*next);
  auto replies = co_await client_.batch(master, questions(page));
  if (!replies) co_return Text(boost::system::in_place_error, replies.error());
  for (std::size_t i = 0; i < page.size(); ++i) {
    auto& value = (*replies)[2 * i];
    auto& left = (*replies)[2 * i + 1];
    if (value.value().is_error() || left.value().is_error()) {
      auto asked = co_await ask_again(page[i].key, value, left);
      if (!asked) co_return Text(boost::system::in_place_error, asked.error());
    }
    if (take(value.value(), left.value(), page[i].stored)) see(page[i].stored);
  }
  co_return std::string(*next);
}

// Its slot moved: where it is now.
awaitable<Result<>> RedisStore::ask_again(const std::string& key, redis::Reply& value, redis::Reply& left) {
  const std::array<std::string_view, 2> mget{"MGET", key};
  auto found = co_await client_.command(mget, key);
  if (!found) co_return found.error();
  const std::array<std::string_view, 2> pttl{"PTTL", key};
  auto lives = co_await client_.command(pttl, key);
  if (!lives) co_return lives.error();
  const auto refusal = found->value().is_error() ? found->value() : lives->value();
  if (refusal.is_error()) co_return make_error_code(redis::meaning_of(*refusal.text()));
  value = std::move(*found);
  left = std::move(*lives);
  co_return Result<>();
}

}  // namespace mailonce::window
