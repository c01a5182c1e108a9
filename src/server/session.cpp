#include "session.h"

#include <boost/asio/error.hpp>
#include <utility>

#include "mailonce/relay/replies.h"

namespace mailonce::server {
namespace {

using Phase = smtp::NeedInput::Phase;

// Small while a client only talks: ten thousand idle sessions are ordinary.
constexpr std::size_t command_buffer_octets = 4 * 1024;
constexpr std::size_t data_buffer_octets = 64 * 1024;

// For a client that does not take its replies when everything must end.
constexpr milliseconds last_write{1000};

}  // namespace

Session::Session(Arrival arrival, std::string id, const Options& options, Backend& backend, MessageRate& rate)
    : stream_(std::move(arrival.socket)),
      id_(std::move(id)),
      options_(options),
      door_(std::move(arrival.door)),
      backend_(backend),
      relay_(backend.relay()),
      rate_(rate),
      peer_(std::move(arrival.peer)),
      current_(peer_),
      speaks_for_others_(peer_.address && !arrival.proxy &&
                         door_->options().xclient.contains(*peer_.address)),
      place_(std::move(arrival.place)),
      proxied_(arrival.proxy),
      client_(peer_.text()),
      machine_(machine_options(peer_)),
      message_(options.blob),
      login_ends_(SteadyClock::now() + options.timeouts.login) {}

awaitable<void> Session::run() {
  if (proxied_) {
    bool met = co_await meet_client();
    if (!met) co_return;
  }
  if (door_->options().tls == ListenerTls::implicit) {
    bool made = co_await make_tls();
    if (!made) co_return;
    trust_certificate();
  }
  machine_.greet();
  if (!early_.empty()) machine_.receive(std::exchange(early_, {}));
  while (!closed_) {
    auto action = machine_.next();
    if (const auto* chunk = std::get_if<smtp::DataChunk>(&action)) {
      store(chunk->octets);
    } else if (const auto* need = std::get_if<smtp::NeedInput>(&action)) {
      co_await read_more(*need);
    } else if (const auto* asked = std::get_if<smtp::AskRecipients>(&action)) {
      co_await ask_recipients(*asked);
    } else if (std::holds_alternative<smtp::DataBegins>(action)) {
      begin_body();
    } else if (std::holds_alternative<smtp::EndOfData>(action)) {
      co_await deliver();
    } else if (const auto* given_up = std::get_if<smtp::Abandon>(&action)) {
      if (given_up->reply.code != 0) log_not_taken(*given_up);
      abandon();
    } else if (std::holds_alternative<smtp::AskCapabilities>(action)) {
      co_await ask_capabilities();
    } else if (const auto* checked = std::get_if<smtp::CheckCredential>(&action)) {
      co_await check(*checked->credential);
    } else if (const auto* named = std::get_if<smtp::ClientNamed>(&action)) {
      co_await flush();
      bool stays = false;
      if (!closed_) stays = co_await assume(*named->facts);
      if (!stays) co_return;
    } else if (std::holds_alternative<smtp::StartHandshake>(action)) {
      co_await flush();
      bool made = false;
      if (!closed_) made = co_await make_tls();
      if (!made) co_return;
      machine_.tls_started();
      trust_certificate();
    } else {
      co_await flush();
      closed_ = true;
    }
  }
  abandon();
  stream_.expires_after(seconds(5));
  co_await stream_.shut_down();
}

void Session::drain() {
  draining_ = true;
  if (reading_ && !machine_.in_transaction()) stream_.cancel_read();
}

void Session::abort() {
  draining_ = true;
  aborted_ = true;
  if (reading_) stream_.cancel_read();
  if (flushing_) stream_.expires_after(last_write);
  if (handshaking_) stream_.close();
}

// Until when the client has time for what is waited for. All are limits of the whole, so that an octet now
// and then keeps nobody: of a command line, of a body (it holds an upstream connection), of the login.
SteadyClock::time_point Session::deadline(const smtp::NeedInput& need) {
  const auto now = SteadyClock::now();
  const auto& timeouts = options_.timeouts;
  auto at = now;
  if (need.phase == Phase::data) {
    if (!in_body_) begin_body();  // of a chunk that is read and refused
    at = std::min(now + timeouts.data, body_started_ + timeouts.message);
    if (options_.min_data_rate != 0) {
      const milliseconds worth(static_cast<std::int64_t>(body_octets_ * 1000 / options_.min_data_rate));
      at = std::min(at, body_started_ + std::max(timeouts.rate_grace, worth));
    }
  } else {
    in_body_ = false;
    if (!need.same) line_started_ = now;
    at = line_started_ + timeouts.command;
  }
  return place_.stranger() ? std::min(at, login_ends_) : at;
}

void Session::timed_out() {
  if (!place_.stranger() || SteadyClock::now() < login_ends_)
    return machine_.shut_down({421, "4.4.2 " + options_.hostname + " Timeout, closing connection"});
  relay_.log.event(observe::Level::warning, "login_timed_out", "A client did not log in in time",
                   {{"session", id_}, {"client", client_}});
  machine_.shut_down({421, "4.7.0 " + options_.hostname + " No login in time, closing connection"});
}

std::span<char> Session::read_buffer(Phase phase) {
  const auto wanted = phase == Phase::data ? data_buffer_octets : command_buffer_octets;
  if (buffer_.size() < wanted) buffer_.resize(wanted);
  return buffer_;
}

awaitable<void> Session::read_more(smtp::NeedInput need) {
  // One write for all replies that are ready, before anything is waited for.
  co_await flush();
  if (closed_) co_return;
  if (aborted_ || (draining_ && !machine_.in_transaction())) {
    machine_.shut_down({421, "4.3.2 " + options_.hostname + " is shutting down, closing connection"});
    co_return;
  }
  const auto left = std::chrono::ceil<milliseconds>(deadline(need) - SteadyClock::now());
  if (left <= milliseconds(0)) {
    timed_out();
    co_return;
  }
  stream_.expires_after(left);
  const auto buffer = read_buffer(need.phase);
  reading_ = true;
  auto octets = co_await stream_.read_some(buffer);
  reading_ = false;
  if (octets) {
    body_octets_ += *octets;
    machine_.receive({buffer.data(), *octets});
  } else if (octets.error() == boost::asio::error::timed_out) {
    timed_out();
  } else if (octets.error() != boost::asio::error::operation_aborted || !draining_) {
    closed_ = true;  // the client left
  }
}

awaitable<void> Session::flush() {
  auto& output = machine_.output();
  if (output.empty()) co_return;
  stream_.expires_after(aborted_ ? last_write : options_.timeouts.write);
  flushing_ = true;
  auto written = co_await stream_.write(output);
  flushing_ = false;
  output.clear();
  if (!written) closed_ = true;
}

// Whom the client's mail may go to is not known before its sender is.
relay::Upstreams Session::path() const {
  return upstream_ ? relay::Upstreams(1, upstream_.get()) : relay_.router.all();
}

awaitable<void> Session::ask_capabilities() {
  auto asked = path();
  auto path = co_await relay::common_capabilities(std::move(asked));
  // Not known now: nothing that the path would have to honour is announced.
  auto offered = path ? *path : smtp::Capabilities{};
  bool known = path.has_value();
  if (!upstream_ && door_->options().login == LoginAt::upstream && relay_.router.all().size() > 1) {
    // A login goes to one of them.
    auto provider = co_await relay_.router.all().at(door_->options().login_upstream)->capabilities();
    known = provider.has_value();
    offered.auth = known ? provider->auth : std::vector<std::string>();
  }
  // A client takes a missing AUTH for good; one that fails with 454 it tries again.
  const bool password = !known || offered.offers_auth("PLAIN") || offered.offers_auth("LOGIN");
  const bool token = offered.offers_auth("XOAUTH2");
  const bool users = door_->options().login == LoginAt::users;
  offered.auth.clear();
  if (users || password) offered.auth = {"PLAIN", "LOGIN"};
  if (!users && token) offered.auth.emplace_back("XOAUTH2");
  machine_.announce(offered);
}

awaitable<void> Session::ask_recipients(smtp::AskRecipients asked) {
  if (asked.first) held_back_ = !rate_.take(user_.empty() ? "address " + client_ : "user " + credential_);
  if (held_back_) {
    if (asked.first)
      relay_.log.event(observe::Level::warning, "rate_limited", "A client sends more messages than it may",
                       {{"session", id_}, {"client", client_}, {"user", user_}});
    const std::vector<smtp::Reply> replies(asked.recipients.size(),
                                           {450, "4.7.1 Too many messages, try again later"});
    machine_.answer_recipients(replies);
    co_return;
  }
  if (!transaction_)
    transaction_.emplace(relay_, relay::Origin{id_, client_, [this] { return stream_.ended_now(); }, user_,
                                               credential_, upstream_.get()});
  auto replies = co_await transaction_->recipients(*asked.sender, asked.recipients);
  machine_.answer_recipients(replies);
}

void Session::begin_body() {
  message_.clear();
  body_started_ = SteadyClock::now();
  body_octets_ = 0;
  in_body_ = true;
}

void Session::store(std::string_view octets) {
  const auto stored = message_.append(octets);
  if (stored) return;
  relay_.log.event(
      observe::Level::error, "spool_failed", "A message could not be kept; the client is told 452",
      {{"session", id_}, {"directory", options_.blob.directory}, {"error", stored.error().message()}});
  message_.clear();
  machine_.refuse_data(relay::local_storage_reply());
}

awaitable<void> Session::deliver() {
  const auto receive =
      std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now() - body_started_);
  auto reply = relay::internal_error_reply();
  try {
    auto final_reply = co_await transaction_->deliver(message_, receive);
    reply = std::move(final_reply);
  } catch (const std::exception& failure) {
    // A bug or no memory. The claims that were begun stay and become doubt; nothing is said to be sent.
    relay_.log.event(observe::Level::error, "internal_error", failure.what(), {{"session", id_}});
  }
  transaction_.reset();
  message_.clear();
  in_body_ = false;
  machine_.answer_data(reply);
  co_await flush();
  if (closed_) {
    relay_.log.event(observe::Level::warning, "client_left",
                     "The client left before the reply to its message",
                     {{"session", id_}, {"reply", reply.summary()}});
  }
}

// A whole message came and was not taken: a decision like any other (P7).
void Session::log_not_taken(const smtp::Abandon& given_up) {
  using Why = smtp::Abandon::Why;
  const char* reason = "spool_failed";
  if (given_up.why == Why::bad_data) reason = "malformed_data";
  if (given_up.why == Why::too_large) reason = "too_large";
  if (transaction_) transaction_->not_taken(reason, given_up.reply);
}

void Session::abandon() noexcept {
  if (transaction_) transaction_->abandon();
  transaction_.reset();
  message_.clear();
  in_body_ = false;
}

}  // namespace mailonce::server
