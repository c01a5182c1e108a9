#include "session.h"

#include <algorithm>

#include "mailonce/smtp/client_commands.h"

namespace mailonce::upstream {
namespace {

// So many RCPT in one flight that their replies fit into socket buffers while we still write (RFC 2920 §3.1).
constexpr std::size_t recipients_in_a_flight = 100;

// RSET in the background and QUIT are not worth a long wait.
constexpr milliseconds reset_time = seconds(10);
constexpr milliseconds quit_time = seconds(2);

// For a reply that is on its way when a body can not be written any more.
constexpr milliseconds early_reply_time = seconds(1);

constexpr std::string_view reply_in_body = "a reply, or the connection's end, before the end of data";

}  // namespace

awaitable<Result<>> Session::write_commands(std::string_view phase) {
  if (!wire_.nothing_unasked()) co_return fail(phase, Errc::malformed_reply, "a reply nobody asked for");
  auto written = co_await wire_.write(commands_, environment_->options.timeouts.command);
  if (!written) {
    const auto errc = static_cast<Errc>(written.error().value());
    co_return fail(phase, errc, written.error().message());
  }
  co_return written;
}

awaitable<Result<smtp::Reply>> Session::read_reply(std::string_view phase) {
  auto reply = co_await wire_.read_reply(environment_->options.timeouts.command);
  if (!reply) {
    const auto errc = static_cast<Errc>(reply.error().value());
    if (errc == Errc::timed_out) environment_->lost(errc);
    co_return fail(phase, errc, reply.error().message());
  }
  // An upstream that takes an envelope and hangs at DATA is no better than one that hangs at once.
  if (phase == "data") environment_->breaker->works();
  co_return judge(phase, std::move(*reply));
}

// An idle connection that timed out at the upstream was told 421 or 451 unasked, and we take that for the
// answer to what we say next (SES: "451 4.4.2 Timeout waiting for data from client.").
bool Session::is_stale_notice(const smtp::Reply& reply, bool at_recipient) const noexcept {
  return reused && (reply.code == 421 || (reply.code == 451 && !at_recipient));
}

Result<smtp::Reply> Session::judge(std::string_view phase, smtp::Reply reply) {
  const bool data = phase == "data";
  // RFC 5321 §4.3.2: DATA is answered 354 or a refusal, the others never 3xx.
  const bool proper = data ? reply.code == 354 || reply.code >= 400 : !reply.intermediate();
  if (!proper) return fail(phase, Errc::malformed_reply, reply.summary());
  if (is_stale_notice(reply, phase == "rcpt")) return fail(phase, Errc::closed, reply.summary());
  if (reply.code == 421) stage_ = Stage::broken;  // RFC 5321 §3.8: it closes now
  if (reply.code == 421 || reply.code == 454) environment_->slow_down();
  return reply;
}

// The client was told what the path offers; this connection may offer less.
std::string_view Session::lacks(const smtp::Sender& sender,
                                std::span<const smtp::Recipient> recipients) const noexcept {
  if (sender.body == smtp::BodyType::eight_bit_mime && !capabilities_.eight_bit_mime)
    return "8BITMIME is not offered";
  if (sender.smtputf8 && !capabilities_.smtputf8) return "SMTPUTF8 is not offered";
  if (sender.requiretls && !capabilities_.requiretls) return "REQUIRETLS is not offered over verified TLS";
  const bool dsn = sender.asks_for_dsn() || std::any_of(recipients.begin(), recipients.end(),
                                                        [](const auto& each) { return each.asks_for_dsn(); });
  return dsn && !capabilities_.dsn ? "DSN is not offered" : "";
}

awaitable<Result<EnvelopeReplies>> Session::envelope(const smtp::Sender& sender,
                                                     std::span<const smtp::Recipient> recipients) {
  if (stage_ == Stage::body || stage_ == Stage::broken) co_return Errc::closed;
  if (const auto lacking = lacks(sender, recipients); !lacking.empty()) {
    environment_->report("mail", Errc::lacks_extension, lacking);
    co_return Errc::lacks_extension;
  }
  if (capabilities_.pipelining) co_return co_await envelope_in_one_flight(sender, recipients);
  co_return co_await envelope_step_by_step(sender, recipients);
}

awaitable<Result<EnvelopeReplies>> Session::envelope_in_one_flight(
    const smtp::Sender& sender, std::span<const smtp::Recipient> recipients) {
  const bool another_before = stage_ == Stage::envelope;
  const auto first = recipients.first(std::min(recipients.size(), recipients_in_a_flight));
  commands_.clear();
  if (another_before) commands_.append(smtp::rset_command);
  smtp::append_mail(commands_, sender, capabilities_);
  for (const auto& recipient : first) smtp::append_rcpt(commands_, recipient, capabilities_);
  stage_ = Stage::envelope;
  auto written = co_await write_commands("mail");
  if (!written) co_return written.error();

  if (another_before) {
    auto reply = co_await read_reply("rset");
    if (!reply) co_return reply.error();
    if (!reply->completed()) co_return fail("rset", Errc::closed, reply->summary());
  }
  EnvelopeReplies replies;
  auto mail = co_await read_reply("mail");
  if (!mail) co_return mail.error();
  replies.mail = std::move(*mail);
  replies.recipients.reserve(recipients.size());
  for (std::size_t i = 0; i < first.size() && stage_ != Stage::broken; ++i) {
    auto reply = co_await read_reply("rcpt");
    if (!reply) co_return reply.error();
    replies.recipients.push_back(std::move(*reply));
  }
  if (!replies.mail.completed()) {  // the answers to RCPT then say only that there was no MAIL
    if (stage_ == Stage::envelope) stage_ = Stage::idle;
    replies.recipients.assign(recipients.size(), replies.mail);
    co_return replies;
  }
  auto others = co_await ask_recipients(recipients.subspan(replies.recipients.size()));
  if (!others) co_return others.error();
  std::move(others->begin(), others->end(), std::back_inserter(replies.recipients));
  co_return replies;
}

awaitable<Result<EnvelopeReplies>> Session::envelope_step_by_step(
    const smtp::Sender& sender, std::span<const smtp::Recipient> recipients) {
  if (stage_ == Stage::envelope) {
    co_await reset();
    if (stage_ != Stage::idle) co_return Errc::closed;
  }
  commands_.clear();
  smtp::append_mail(commands_, sender, capabilities_);
  stage_ = Stage::envelope;
  auto written = co_await write_commands("mail");
  if (!written) co_return written.error();
  auto mail = co_await read_reply("mail");
  if (!mail) co_return mail.error();
  EnvelopeReplies replies{std::move(*mail), {}};
  if (!replies.mail.completed()) {
    if (stage_ == Stage::envelope) stage_ = Stage::idle;
    replies.recipients.assign(recipients.size(), replies.mail);
    co_return replies;
  }
  auto answers = co_await ask_recipients(recipients);
  if (!answers) co_return answers.error();
  replies.recipients = std::move(*answers);
  co_return replies;
}

// A peer that gave up while the client was talking said so already: taken for the answer to what we say next,
// it would be a refusal that nobody made (SES after 10 s, on fresh connections too).
bool Session::gave_up(std::string_view phase) {
  if (wire_.quiet()) return false;
  fail(phase, Errc::closed, "a notice, or the connection's end, between two commands");
  return true;
}

awaitable<Result<std::vector<smtp::Reply>>> Session::recipients(std::span<const smtp::Recipient> recipients) {
  if (stage_ != Stage::envelope || gave_up("rcpt")) co_return Errc::closed;
  if (const auto lacking = lacks({}, recipients); !lacking.empty()) {
    environment_->report("rcpt", Errc::lacks_extension, lacking);
    co_return Errc::lacks_extension;
  }
  co_return co_await ask_recipients(recipients);
}

awaitable<Result<std::vector<smtp::Reply>>> Session::ask_recipients(
    std::span<const smtp::Recipient> recipients) {
  std::vector<smtp::Reply> replies;
  replies.reserve(recipients.size());
  const std::size_t in_a_flight = capabilities_.pipelining ? recipients_in_a_flight : 1;
  while (!recipients.empty()) {
    if (stage_ != Stage::envelope) co_return Errc::closed;
    const auto flight = recipients.first(std::min(recipients.size(), in_a_flight));
    recipients = recipients.subspan(flight.size());
    commands_.clear();
    for (const auto& recipient : flight) smtp::append_rcpt(commands_, recipient, capabilities_);
    auto written = co_await write_commands("rcpt");
    if (!written) co_return written.error();
    for (std::size_t i = 0; i < flight.size(); ++i) {
      auto reply = co_await read_reply("rcpt");
      if (!reply) co_return reply.error();
      replies.push_back(std::move(*reply));
    }
  }
  co_return replies;
}

awaitable<Result<smtp::Reply>> Session::data() {
  if (stage_ != Stage::envelope || gave_up("data")) co_return Errc::closed;
  commands_ = smtp::data_command;
  auto written = co_await write_commands("data");
  if (!written) co_return written.error();
  auto reply = co_await read_reply("data");
  if (reply && reply->code == 354) stage_ = Stage::body;
  co_return reply;
}

// Some refuse in the middle of the body (552: too large) and close. Errors: `closed` when the connection
// ended or 421 was said, which speaks of the connection and not of the message; malformed_reply for anything
// else.
awaitable<Result<smtp::Reply>> Session::early_refusal() {
  stage_ = Stage::broken;
  auto reply = co_await wire_.read_reply(early_reply_time);
  if (!reply || reply->code == 421) co_return Errc::closed;
  if (reply->code < 400) co_return Errc::malformed_reply;
  co_return reply;
}

awaitable<Result<std::optional<smtp::Reply>>> Session::content(std::span<const std::string_view> pieces) {
  if (stage_ != Stage::body) co_return Errc::closed;
  body_.begin(pieces);
  while (body_.take_slice(slice_)) {
    // Before each slice: who refuses may read no further, and the write would wait for it.
    const bool spoke = !wire_.quiet();
    Result<> written;
    if (!spoke) {
      auto done = co_await wire_.write(slice_, environment_->options.timeouts.data_block);
      if (done) continue;
      written = done.error();
    }
    auto refusal = co_await early_refusal();
    if (refusal) co_return std::optional(std::move(*refusal));
    if (spoke) co_return fail("body", static_cast<Errc>(refusal.error().value()), reply_in_body);
    co_return fail("body", static_cast<Errc>(written.error().value()), written.error().message());
  }
  co_return std::optional<smtp::Reply>();
}

// Once the kernel has the whole end of data, the upstream may have the message, whatever we learn (RFC 1047):
// all that is unclear from here on is told as dot_sent. What TLS has taken we can not count, so any failure
// there is unclear.
awaitable<SendOutcome> Session::send() {
  if (stage_ != Stage::body) co_return SendOutcome{false, Errc::closed};
  stage_ = Stage::broken;  // until an answer says otherwise
  // A reply that is already here can not be the answer to this message.
  if (!wire_.quiet()) {
    auto refusal = co_await early_refusal();
    if (refusal) co_return SendOutcome{false, std::move(*refusal)};
    const Errc errc = fail("body", static_cast<Errc>(refusal.error().value()), reply_in_body);
    co_return SendOutcome{false, errc};
  }
  const Timeouts& timeouts = environment_->options.timeouts;
  const std::size_t octets = body_.take_end(slice_);
  std::size_t taken = 0;
  auto written = co_await wire_.write(slice_, timeouts.data_block, &taken);
  if (!written) {
    const bool unclear = wire_.stream().secure() || taken >= octets;
    if (!unclear) {
      auto refusal = co_await early_refusal();
      if (refusal) co_return SendOutcome{false, std::move(*refusal)};
    }
    const Errc errc = fail("dot", static_cast<Errc>(written.error().value()), written.error().message());
    co_return SendOutcome{unclear, errc};
  }
  auto reply = co_await wire_.read_reply(timeouts.final);
  if (!reply) {
    const Errc errc = fail("dot", static_cast<Errc>(reply.error().value()), reply.error().message());
    co_return SendOutcome{true, errc};
  }
  if (reply->intermediate()) {
    const Errc errc = fail("dot", Errc::malformed_reply, reply->summary());
    co_return SendOutcome{true, errc};
  }
  ++messages_;
  environment_->breaker->works();
  if (reply->code != 421) stage_ = Stage::idle;
  if (reply->code == 421 || reply->code == 454) environment_->slow_down();  // SES: 454 Throttling failure
  co_return SendOutcome{true, std::move(*reply)};
}

awaitable<void> Session::reset() {
  if (stage_ != Stage::envelope) co_return;
  commands_ = smtp::rset_command;
  auto written = co_await write_commands("rset");
  if (!written) co_return;
  auto reply = co_await wire_.read_reply(reset_time);
  if (!reply) {
    fail("rset", static_cast<Errc>(reply.error().value()), reply.error().message());
  } else if (!reply->completed()) {
    fail("rset", Errc::closed, reply->summary());
  } else {
    stage_ = Stage::idle;
  }
}

awaitable<void> Session::quit() {
  const bool may_speak = stage_ == Stage::idle || stage_ == Stage::envelope;
  if (may_speak && wire_.quiet()) {
    auto written = co_await wire_.write(smtp::quit_command, quit_time);
    if (written) co_await wire_.read_reply(quit_time);
    co_await wire_.stream().shut_down();
  }
  wire_.stream().close();
}

}  // namespace mailonce::upstream
