#include "scripted_upstream.h"

#include <algorithm>

namespace mailonce::relay::test {
namespace {

using boost::asio::awaitable;

class ScriptedConnection final : public upstream::Connection {
 public:
  ScriptedConnection(ScriptedUpstream& upstream, Plan plan) : upstream_(upstream), plan_(std::move(plan)) {}

  const smtp::Capabilities& capabilities() const noexcept override { return capabilities_; }
  bool reused() const noexcept override { return plan_.reused; }

  awaitable<Result<upstream::EnvelopeReplies>> envelope(
      const smtp::Sender& sender, std::span<const smtp::Recipient> recipients) override {
    accepted_.clear();
    upstream_.commands.push_back("MAIL " + sender.address.text());
    if (plan_.broken == Break::envelope) co_return plan_.error;
    upstream::EnvelopeReplies replies{plan_.mail, {}};
    if (!plan_.mail.completed()) {
      replies.recipients.assign(recipients.size(), plan_.mail);
      co_return replies;
    }
    for (const auto& recipient : recipients) replies.recipients.push_back(answer(recipient));
    co_return replies;
  }

  awaitable<Result<std::vector<smtp::Reply>>> recipients(
      std::span<const smtp::Recipient> recipients) override {
    if (plan_.broken == Break::recipients) co_return plan_.error;
    std::vector<smtp::Reply> replies;
    for (const auto& recipient : recipients) replies.push_back(answer(recipient));
    co_return replies;
  }

  awaitable<Result<smtp::Reply>> data() override {
    upstream_.commands.push_back("DATA");
    if (plan_.broken == Break::data) co_return plan_.error;
    co_return plan_.data;
  }

  awaitable<Result<std::optional<smtp::Reply>>> content(std::span<const std::string_view> pieces) override {
    if (plan_.broken == Break::content) co_return plan_.error;
    if (plan_.broken == Break::refused_in_body) co_return std::optional(plan_.final_reply);
    content_.clear();
    for (const auto piece : pieces) content_ += piece;
    co_return std::optional<smtp::Reply>();
  }

  awaitable<upstream::SendOutcome> send() override {
    if (plan_.broken == Break::send_before_dot) co_return upstream::SendOutcome{false, plan_.error};
    if (plan_.broken == Break::refused_before_dot) co_return upstream::SendOutcome{false, plan_.final_reply};
    upstream_.commands.push_back(".");
    if (plan_.broken == Break::send_after_dot) co_return upstream::SendOutcome{true, plan_.error};
    const bool unsaid = plan_.broken == Break::accepted_unsaid;
    if (plan_.final_reply.completed()) upstream_.accepted.push_back({accepted_, content_});
    if (unsaid) co_return upstream::SendOutcome{true, plan_.error};
    co_return upstream::SendOutcome{true, plan_.final_reply};
  }

 private:
  smtp::Reply answer(const smtp::Recipient& recipient) {
    upstream_.commands.push_back("RCPT " + recipient.address.text());
    const auto found = plan_.rcpt.find(recipient.address.text());
    const smtp::Reply reply = found == plan_.rcpt.end() ? smtp::Reply{250, "2.1.5 Ok"} : found->second;
    if (reply.completed()) accepted_.push_back(recipient.address.text());
    return reply;
  }

  ScriptedUpstream& upstream_;
  Plan plan_;
  smtp::Capabilities capabilities_;
  std::vector<std::string> accepted_;
  std::string content_;
};

}  // namespace

awaitable<Result<std::unique_ptr<upstream::Connection>>> ScriptedUpstream::borrow(
    upstream::Freshness freshness) {
  ++borrowed;
  if (freshness == upstream::Freshness::fresh) ++fresh;
  Plan plan;
  if (!plans.empty()) {
    plan = plans.front();
    plans.pop_front();
  }
  if (plan.broken == Break::borrow) co_return plan.error;
  std::unique_ptr<upstream::Connection> connection =
      std::make_unique<ScriptedConnection>(*this, std::move(plan));
  co_return std::move(connection);
}

awaitable<Result<smtp::Capabilities>> ScriptedUpstream::capabilities() {
  co_return offered;
}

Result<milliseconds> ScriptedUpstream::book(std::size_t recipients) {
  booked.push_back(recipients);
  if (pace.empty()) return milliseconds(0);
  const auto answer = pace.front();
  pace.pop_front();
  return answer;
}

awaitable<void> ScriptedUpstream::wait(milliseconds time) {
  waited.push_back(time);
  if (while_waiting) while_waiting();
  co_return;
}

int ScriptedUpstream::copies(const std::string& recipient) const {
  int count = 0;
  for (const auto& message : accepted) {
    count += static_cast<int>(std::count(message.recipients.begin(), message.recipients.end(), recipient));
  }
  return count;
}

}  // namespace mailonce::relay::test
