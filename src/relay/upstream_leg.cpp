#include "mailonce/relay/upstream_leg.h"

#include <algorithm>
#include <boost/asio/error.hpp>

#include "mailonce/relay/replies.h"

namespace mailonce::relay {
namespace {

using upstream::Errc;

// One stale connection out of the pool and one fresh one that breaks are life; a third failure is the
// upstream's state.
constexpr int max_attempts = 3;

constexpr milliseconds longest_wait_with_a_connection{500};

// The connection broke: nothing was said about the message. Refusals to connect or to log in are answers.
bool connection_broke(const error_code& error) {
  if (error.category() != upstream::category()) return true;
  return error == make_error_code(Errc::closed);
}

// RFC 5321 §3.8: 421 is said of the connection, whatever was asked.
bool closes(const smtp::Reply& reply) {
  return reply.code == 421;
}

const smtp::Reply* closing_reply(const upstream::EnvelopeReplies& replies) {
  const auto found = std::find_if(replies.recipients.begin(), replies.recipients.end(), closes);
  return found == replies.recipients.end() ? nullptr : &*found;
}

}  // namespace

bool UpstreamLeg::worth_another(const error_code& error, int attempts) const {
  if (attempts >= max_attempts) return false;
  const bool reused = connection_ && connection_->reused();
  return reused || connection_broke(error);
}

// Nothing was sent yet: another may take the message. `attempts` starts anew there. `instead`: what the
// client is told if there is none.
bool UpstreamLeg::go_on_to_next(int& attempts, const smtp::Reply& instead) {
  if (at_ + 1 >= upstreams_.size()) return false;
  ++at_;
  if (!passed_over_) passed_over_ = instead;
  attempts = 0;
  connection_.reset();
  envelope_open_ = false;
  paced_ = false;
  return true;
}

// A client gives a mail up at a 5xx. One that stands in for a preferred upstream must not make it do so: that
// the sender's domain is not verified there is no judgement of the one that is down for a minute.
smtp::Reply UpstreamLeg::as_told(smtp::Reply reply) const {
  if (!passed_over_ || !reply.permanent()) return reply;
  auto told = *passed_over_;
  told.text += " (and " + upstream_name() + ": " + reply.summary() + ")";
  return told;
}

// MAIL and RCPT, on the connection at hand or another; broken ones are replaced unseen. `attempts` counts
// over the whole transmission.
awaitable<Result<upstream::EnvelopeReplies>> UpstreamLeg::open_here(
    std::span<const smtp::Recipient> recipients, int& attempts) {
  for (;;) {
    if (!connection_) {
      const auto freshness = attempts == 0 ? upstream::Freshness::any : upstream::Freshness::fresh;
      auto borrowed = co_await upstream().borrow(freshness);
      if (!borrowed) co_return borrowed.error();
      connection_ = std::move(*borrowed);
    }
    ++attempts;
    auto replies = co_await connection_->envelope(sender_, recipients);
    if (replies) co_return replies;
    const bool again = worth_another(replies.error(), attempts);
    connection_.reset();
    if (!again) co_return replies.error();
  }
}

// The same at the first upstream that answers. A MAIL refused for now (421, 451, 454) is the state of that
// upstream; what it says to a recipient is said of the recipient, and stands.
awaitable<Result<upstream::EnvelopeReplies>> UpstreamLeg::open(std::span<const smtp::Recipient> recipients,
                                                               int& attempts) {
  for (;;) {
    auto replies = co_await open_here(recipients, attempts);
    const auto* closing = replies ? closing_reply(*replies) : nullptr;
    if (!replies || replies->mail.transient() || closing != nullptr) {
      const auto instead = !replies             ? reply_to_upstream_error(replies.error())
                           : closing != nullptr ? *closing
                                                : replies->mail;
      if (go_on_to_next(attempts, instead)) continue;
    }
    if (replies) {
      replies->mail = as_told(std::move(replies->mail));
      for (auto& reply : replies->recipients) reply = as_told(std::move(reply));
    }
    co_return replies;
  }
}

awaitable<std::vector<smtp::Reply>> UpstreamLeg::add(smtp::Sender sender,
                                                     std::span<const smtp::Recipient> recipients) {
  if (mail_refusal_) co_return std::vector<smtp::Reply>(recipients.size(), *mail_refusal_);
  sender_ = std::move(sender);

  if (connection_) {
    auto replies = co_await connection_->recipients(recipients);
    if (replies && std::none_of(replies->begin(), replies->end(), closes)) {
      for (std::size_t i = 0; i < recipients.size(); ++i) {
        if ((*replies)[i].completed()) accepted_.push_back(recipients[i]);
        (*replies)[i] = as_told(std::move((*replies)[i]));
      }
      co_return std::move(*replies);
    }
    connection_.reset();
  }

  // A first connection, or a fresh one for those accepted before and the new ones.
  std::vector<smtp::Recipient> all = accepted_;
  all.insert(all.end(), recipients.begin(), recipients.end());
  int attempts = 0;
  auto opened = co_await open(all, attempts);
  if (!opened) {
    last_error_ = opened.error();
    const auto reply = reply_to_upstream_error(opened.error());
    if (accepted_.empty()) mail_refusal_ = reply;
    co_return std::vector<smtp::Reply>(recipients.size(), reply);
  }
  if (!opened->mail.completed()) {
    connection_.reset();
    if (accepted_.empty()) mail_refusal_ = opened->mail;
    co_return std::vector<smtp::Reply>(recipients.size(), opened->mail);
  }
  envelope_open_ = true;
  const std::size_t before = accepted_.size();
  for (std::size_t i = 0; i < before; ++i) {
    if (opened->recipients[i].completed()) continue;
    // The client was told 2xx for it: the message can not go on this envelope. transmit() opens another and
    // says so.
    connection_.reset();
    break;
  }
  std::vector<smtp::Reply> replies(opened->recipients.begin() + static_cast<std::ptrdiff_t>(before),
                                   opened->recipients.end());
  for (std::size_t i = 0; i < recipients.size(); ++i) {
    if (replies[i].completed()) accepted_.push_back(recipients[i]);
  }
  co_return replies;
}

void UpstreamLeg::narrow(std::vector<smtp::Recipient> recipients) {
  envelope_open_ = false;
  accepted_ = std::move(recipients);
}

// The envelope again, for those the client was told 2xx for: any refusal now is the answer for all of them.
awaitable<std::optional<Transmission>> UpstreamLeg::reopen(int& attempts) {
  auto opened = co_await open(accepted_, attempts);
  if (!opened) {
    co_return Transmission{Transmission::End::refused, reply_to_upstream_error(opened.error()),
                           opened.error()};
  }
  if (!opened->mail.completed()) co_return Transmission{Transmission::End::refused, opened->mail, {}};
  for (const auto& reply : opened->recipients) {
    if (!reply.completed()) co_return Transmission{Transmission::End::refused, reply, {}};
  }
  envelope_open_ = true;
  co_return std::nullopt;
}

// Once an upstream and message, however many connections it takes.
awaitable<Result<>> UpstreamLeg::keep_pace() {
  if (paced_) co_return Result<>();
  const auto booked = upstream().book(accepted_.size());
  if (!booked) co_return booked.error();
  paced_ = true;
  if (*booked > longest_wait_with_a_connection) connection_.reset();  // others have use for it
  if (*booked > milliseconds(0)) co_await upstream().wait(*booked);
  co_return Result<>();
}

// One try on the open envelope. Nothing: the connection broke before the dot (last_error_).
awaitable<std::optional<Transmission>> UpstreamLeg::try_once(std::span<const std::string_view> pieces,
                                                             Gate& gate) {
  gate.start();
  auto go = co_await connection_->data();
  if (!go) {
    last_error_ = go.error();
    co_return std::nullopt;
  }
  if (go->code != 354) {
    if (go->transient() || go->permanent()) co_return Transmission{Transmission::End::refused, *go, {}};
    last_error_ =
        make_error_code(Errc::malformed_reply);  // RFC 5321 §4.3.2: DATA is answered 354, 4xx or 5xx
    co_return std::nullopt;
  }
  auto written = co_await connection_->content(pieces);
  if (!written) {
    last_error_ = written.error();
    co_return std::nullopt;
  }
  if (written->has_value()) co_return Transmission{Transmission::End::refused, **written, {}};
  auto opened = co_await gate.open();
  if (!opened) co_return Transmission{Transmission::End::barred, {}, opened.error()};
  if (*opened == window::Begun::lost) co_return Transmission{Transmission::End::barred, {}, {}};

  // The critical section (DESIGN.md §3.5, RFC 1047). If the process dies before the kernel has the dot: the
  // client has no reply and the upstream no message; the window says `sending` and, after the lease, doubt.
  // Dead after the dot: the upstream may have the message; the window says the same. Dead after the
  // upstream's 2xx and before the commit: likewise. In each the client repeats and the doubt policy decides.
  auto outcome = co_await connection_->send();
  if (outcome.reply) {
    const auto& reply = *outcome.reply;
    if (!outcome.dot_sent) co_return Transmission{Transmission::End::refused, reply, {}};
    // 1xx and 3xx say nothing about the message: not known, never a success.
    if (reply.completed() || reply.transient() || reply.permanent()) {
      co_return Transmission{Transmission::End::answered, reply, {}};
    }
    co_return Transmission{Transmission::End::unknown, {}, make_error_code(Errc::malformed_reply)};
  }
  if (outcome.dot_sent) co_return Transmission{Transmission::End::unknown, {}, outcome.reply.error()};
  last_error_ = outcome.reply.error();
  co_return std::nullopt;
}

awaitable<Transmission> UpstreamLeg::transmit(std::span<const std::string_view> pieces, Gate& gate) {
  int attempts = connection_ && envelope_open_ ? 1 : 0;
  for (;;) {
    if (!connection_ || !envelope_open_) {
      auto refused = co_await reopen(attempts);
      if (refused) {
        connection_.reset();
        co_return std::move(*refused);
      }
    }
    auto in_pace = co_await keep_pace();
    if (!in_pace) {
      connection_.reset();
      const auto told = reply_to_upstream_error(in_pace.error());
      if (go_on_to_next(attempts, told)) continue;
      co_return Transmission{Transmission::End::refused, told, in_pace.error()};
    }
    if (!connection_) {
      attempts = 0;  // it did not break
      continue;
    }
    auto done = co_await try_once(pieces, gate);
    if (done) {
      const bool not_now = done->end == Transmission::End::refused && done->reply.transient();
      if (not_now && go_on_to_next(attempts, done->reply)) continue;
      connection_.reset();
      done->reply = as_told(std::move(done->reply));
      co_return std::move(*done);
    }
    const bool again = worth_another(last_error_, attempts);
    connection_.reset();
    if (again) continue;
    const auto told = reply_to_upstream_error(last_error_);
    if (!go_on_to_next(attempts, told)) co_return Transmission{Transmission::End::refused, told, last_error_};
  }
}

}  // namespace mailonce::relay
