#include "support/recorder.h"

#include <openssl/sha.h>
#include <strings.h>

#include <algorithm>
#include <array>

namespace mailonce::test {
namespace {

std::string sha256_hex(std::string_view octets) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(octets.data()), octets.size(), digest.data());
  std::string hex;
  hex.reserve(2 * digest.size());
  for (unsigned char octet : digest) {
    hex += "0123456789abcdef"[octet >> 4];
    hex += "0123456789abcdef"[octet & 15];
  }
  return hex;
}

bool is_field(std::string_view line, std::string_view name) {
  return line.size() > name.size() && line[name.size()] == ':' &&
         strncasecmp(line.data(), name.data(), name.size()) == 0;
}

std::string value_of(std::string_view line, std::string_view name) {
  line.remove_prefix(name.size() + 1);
  auto begin = line.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string() : std::string(line.substr(begin));
}

// Unfolded only as far as the first line: enough to tell messages apart by eye.
void read_header(std::string_view content, Accepted& message) {
  while (!content.empty()) {
    auto end = std::min(content.find("\r\n"), content.size());
    auto line = content.substr(0, end);
    if (line.empty()) return;
    if (is_field(line, "Subject")) message.subject = value_of(line, "Subject");
    if (is_field(line, "Message-ID")) message.message_id = value_of(line, "Message-ID");
    if (is_field(line, "X-Test-Id")) message.test_id = value_of(line, "X-Test-Id");
    content.remove_prefix(std::min(content.size(), end + 2));
  }
}

}  // namespace

const std::vector<NamedCounter>& counters() {
  static const std::vector<NamedCounter> all = {
      {"connections", &Stats::connections},
      {"open", &Stats::open},
      {"most_open", &Stats::most_open},
      {"tls_handshakes", &Stats::tls_handshakes},
      {"tls_failures", &Stats::tls_failures},
      {"auth_ok", &Stats::auth_ok},
      {"auth_failed", &Stats::auth_failed},
      {"mail", &Stats::mail},
      {"rcpt", &Stats::rcpt},
      {"data", &Stats::data},
      {"rset", &Stats::rset},
      {"quit", &Stats::quit},
      {"dots", &Stats::dots},
      {"accepted", &Stats::accepted},
      {"deliveries", &Stats::deliveries},
      {"faults", &Stats::faults},
      {"held", &Stats::held},
      {"bare_cr", &Stats::bare_cr},
      {"bare_lf", &Stats::bare_lf},
      {"nul", &Stats::nul},
      {"unannounced_pipelining", &Stats::unannounced_pipelining},
      {"octets", &Stats::octets},
  };
  return all;
}

std::uint64_t Recorder::next(std::uint64_t Stats::*counter) {
  std::uint64_t value = 0;
  change([&](Stats& stats) { value = ++(stats.*counter); });
  return value;
}

void Recorder::command(std::uint64_t connection, std::string_view line) {
  if (!options_.keep_commands) return;
  std::lock_guard lock(mutex_);
  commands_.push_back(std::to_string(connection) + " " + std::string(line));
}

void Recorder::accept(Accepted message, std::string_view content) {
  message.octets = content.size();
  message.at = std::chrono::system_clock::now();
  if (options_.keep || options_.on_accepted) {
    message.sha256 = sha256_hex(content);
    read_header(content, message);
  }
  std::lock_guard in_order(listener_mutex_);
  message.serial = serial();
  if (options_.on_accepted) options_.on_accepted(message, content);
  if (options_.keep_content) message.content = content;
  change([&](Stats& stats) {
    ++stats.accepted;
    stats.deliveries += message.recipients.size();
    if (options_.keep) accepted_.push_back(std::move(message));
  });
}

bool Recorder::within_rate(std::uint64_t limit) {
  std::lock_guard lock(mutex_);
  auto now = std::chrono::steady_clock::now();
  std::erase_if(recent_, [&](auto at) { return now - at >= std::chrono::seconds(1); });
  if (recent_.size() >= limit) return false;
  recent_.push_back(now);
  return true;
}

Stats Recorder::stats() const {
  std::lock_guard lock(mutex_);
  return stats_;
}

std::vector<Accepted> Recorder::accepted(std::uint64_t since_serial) const {
  std::lock_guard lock(mutex_);
  std::vector<Accepted> wanted;
  for (const auto& message : accepted_)
    if (message.serial > since_serial) wanted.push_back(message);
  return wanted;
}

std::vector<std::string> Recorder::commands() const {
  std::lock_guard lock(mutex_);
  return commands_;
}

std::uint64_t Recorder::serial() const {
  std::lock_guard lock(mutex_);
  return stats_.accepted + 1;
}

bool Recorder::wait_for(const std::function<bool(const Stats&)>& condition,
                        std::chrono::milliseconds at_most) const {
  std::unique_lock lock(mutex_);
  ++waiting_;
  bool came_true = changed_.wait_for(lock, at_most, [&] { return condition(stats_); });
  --waiting_;
  return came_true;
}

void Recorder::reset() {
  change([&](Stats& stats) {
    Stats fresh;
    fresh.open = fresh.most_open = stats.open;
    fresh.held = stats.held;
    stats = fresh;
    accepted_.clear();
    commands_.clear();
    recent_.clear();
  });
}

}  // namespace mailonce::test
