#include "support/session.h"

#include <algorithm>

#include "support/text.h"

namespace mailonce::test {

using std::chrono::milliseconds;
using SteadyClock = std::chrono::steady_clock;

Session::Session(Shared& shared, Channel::Socket socket)
    : shared_(shared),
      channel_(std::move(socket)),
      began_(SteadyClock::now()),
      active_(began_),
      watch_(channel_.executor()) {
  shared_.recorder.change([&](Stats& stats) {
    number_ = ++stats.connections;
    stats.most_open = std::max(stats.most_open, ++stats.open);
  });
}

Session::~Session() {
  shared_.recorder.change([](Stats& stats) { --stats.open; });
}

boost::asio::awaitable<void> Session::run() {
  if (shared_.profile.idle_close || shared_.profile.max_session) watch();
  open_ = co_await start();
  std::string line;
  while (open_) {
    if (take_line(line)) {
      co_await command(line);
      continue;
    }
    co_await flush();
    if (open_) co_await fill();
  }
  watch_.cancel();
}

boost::asio::awaitable<bool> Session::start() {
  bool usual = co_await answer(Phase::connect, "");
  if (!usual || !open_) co_return false;
  if (shared_.implicit_tls) {
    bool secure = co_await handshake();
    if (!secure) co_return false;
  }
  const auto& limit = shared_.profile.max_connections;
  if (limit && shared_.recorder.stats().open > limit->limit) {
    say(limit->line);
    co_await flush();
    co_await channel_.close_gently();
    co_return false;
  }
  co_await answer(Phase::banner, shared_.profile.banner);
  co_return open_;
}

boost::asio::awaitable<bool> Session::handshake() {
  bool usual = co_await answer(Phase::tls, "");
  if (!usual || !open_) co_return false;
  auto error = co_await channel_.handshake(*shared_.tls);
  shared_.recorder.add(error ? &Stats::tls_failures : &Stats::tls_handshakes);
  if (error) channel_.close();
  co_return !error;
}

boost::asio::awaitable<void> Session::flush() {
  if (out_.empty()) co_return;
  auto error = co_await channel_.write(out_);
  out_.clear();
  if (error) open_ = false;
}

boost::asio::awaitable<void> Session::fill() {
  in_.erase(0, taken_);
  taken_ = 0;
  auto before = in_.size();
  // One read takes a usual message; a large one asks for more at a time.
  in_.resize(before + std::max<std::size_t>(16 * 1024, before));
  std::span<char> room(in_.data() + before, in_.size() - before);
  reading_ = true;
  auto read = co_await channel_.read_some(room);
  reading_ = false;
  in_.resize(before + read.octets);
  if (!read.error) {
    if (shared_.profile.idle_close) active_ = SteadyClock::now();
    check_octets(std::string_view(in_).substr(before));
    co_return;
  }
  open_ = false;
  if (expired_.empty()) co_return;
  say(expired_);
  co_await flush();
  co_await channel_.close_gently();
}

bool Session::take_line(std::string& line) {
  auto end = in_.find('\n', taken_);
  if (end == std::string::npos) return false;
  line.assign(in_, taken_, end - taken_);
  if (line.ends_with('\r')) line.pop_back();
  taken_ = end + 1;
  return true;
}

// Counts what a strict client never sends, over everything it sends.
void Session::check_octets(std::string_view octets) {
  std::uint64_t bare_cr = 0, bare_lf = 0, nul = 0;
  auto before = [&](std::size_t at) { return at ? octets[at - 1] == '\r' : after_cr_; };
  for (auto at = octets.find('\n'); at != octets.npos; at = octets.find('\n', at + 1))
    if (!before(at)) ++bare_lf;
  for (auto at = octets.find('\r'); at != octets.npos; at = octets.find('\r', at + 1))
    if (at + 1 < octets.size() && octets[at + 1] != '\n') ++bare_cr;
  if (after_cr_ && octets.front() != '\n') ++bare_cr;
  for (auto at = octets.find('\0'); at != octets.npos; at = octets.find('\0', at + 1)) ++nul;
  after_cr_ = octets.back() == '\r';
  shared_.recorder.change([&](Stats& stats) {
    stats.octets += octets.size();
    stats.bare_cr += bare_cr;
    stats.bare_lf += bare_lf;
    stats.nul += nul;
  });
}

void Session::watch() {
  const auto& profile = shared_.profile;
  auto due = SteadyClock::time_point::max();
  if (profile.idle_close) due = active_ + profile.idle_close->after;
  if (profile.max_session && !too_old()) due = std::min(due, began_ + profile.max_session->after);
  if (due == SteadyClock::time_point::max()) return;
  watch_.expires_at(due);
  watch_.async_wait([self = weak_from_this()](boost::system::error_code error) {
    auto session = self.lock();
    if (error || !session || !session->open_) return;
    const auto& limits = session->shared_.profile;
    bool idle = limits.idle_close && SteadyClock::now() - session->active_ >= limits.idle_close->after;
    bool ends_by_age = session->too_old() && !session->in_transaction_;
    if (session->reading_ && (idle || ends_by_age)) {
      session->expired_ = ends_by_age ? limits.max_session->line : limits.idle_close->line;
      session->channel_.cancel();
      return;
    }
    if (!session->reading_) session->active_ = SteadyClock::now();  // it is we who are busy
    session->watch();
  });
}

bool Session::too_old() const {
  const auto& limit = shared_.profile.max_session;
  return limit && SteadyClock::now() - began_ >= limit->after;
}

void Session::say(std::string_view reply) {
  if (reply.empty()) return;
  auto text = reply.find('{') == std::string_view::npos ? std::string(reply) : expand(reply, 0);
  for (char c : text) {
    if (c == '\n') out_ += '\r';
    out_ += c;
  }
  out_ += "\r\n";
}

void Session::drop() {
  open_ = false;
  channel_.reset();
}

}  // namespace mailonce::test
