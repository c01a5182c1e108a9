#include "dialogue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace mailonce::smtp {

Dialogue::Dialogue(ServerMachineOptions options, Capabilities path)
    : machine(options), options_(std::move(options)), path_(std::move(path)) {
  machine.greet();
  run();
  outcome.output.clear();  // the banner has its own test
}

ServerMachineOptions Dialogue::default_options() {
  ServerMachineOptions options;
  options.hostname = "relay";
  options.max_message_octets = 1000;
  return options;
}

Capabilities Dialogue::default_path() {
  Capabilities path;
  path.eight_bit_mime = path.enhanced_status_codes = true;
  return path;
}

std::string Dialogue::say(std::string_view octets) {
  const auto before = outcome.output.size();
  if (closed || octets.empty()) return {};
  const auto block = std::make_unique<char[]>(octets.size());
  std::copy(octets.begin(), octets.end(), block.get());
  machine.receive({block.get(), octets.size()});
  run();
  std::fill_n(block.get(), octets.size(), 'Z');
  return outcome.output.substr(before);
}

void Dialogue::run() {
  waiting_ = closed;
  while (!waiting_) {
    const auto action = machine.next();
    std::visit([this](const auto& what) { on(what); }, action);
  }
  drain_output();
}

void Dialogue::drain_output() {
  outcome.output += machine.output();
  machine.output().clear();
}

Reply Dialogue::answer(const Recipient& recipient) {
  const auto name = recipient.address.local_part();
  if (name.starts_with("no")) return {550, "5.1.1 no such user"};
  if (name.starts_with("later")) return {451, "4.7.1 greylisted"};
  if (name.starts_with("gone")) return {421, "4.3.2 gone"};
  return {250, "2.1.5 Ok"};
}

void Dialogue::on(const NeedInput& action) {
  phase = action.phase;
  waiting_ = true;
}

void Dialogue::on(const AskCapabilities&) {
  machine.announce(path_);
}

void Dialogue::on(const AskRecipients& action) {
  batches.push_back(action.recipients.size());
  if (action.first) outcome.actions.push_back("sender " + action.sender->address.text());
  std::vector<Reply> replies;
  for (const auto& recipient : action.recipients) {
    outcome.actions.push_back("rcpt " + recipient.address.text());
    replies.push_back(answer(recipient));
  }
  machine.answer_recipients(replies);
}

void Dialogue::on(const DataBegins&) {
  message_.clear();
  outcome.actions.push_back("data");
}

void Dialogue::on(const DataChunk& action) {
  EXPECT_FALSE(action.octets.empty());
  message_ += action.octets;
}

void Dialogue::on(const EndOfData& action) {
  EXPECT_EQ(action.octets, message_.size());
  std::string line = "message to";
  for (const auto& recipient : machine.envelope().recipients) line += " " + recipient.address.text();
  outcome.actions.push_back(line + ": " + message_);
  machine.answer_data(data_reply);
}

void Dialogue::on(const Abandon& action) {
  constexpr const char* names[] = {"reset", "bad_data", "too_large", "refused", "close"};
  outcome.actions.push_back(std::string("abandon ") + names[static_cast<int>(action.why)] + " from " +
                            machine.envelope().sender.address.text());
}

void Dialogue::on(const Close&) {
  outcome.actions.push_back("close");
  closed = waiting_ = true;
}

void Dialogue::on(const StartHandshake&) {
  outcome.actions.push_back("tls");
  machine.tls_started();
}

void Dialogue::on(const CheckCredential& action) {
  const auto& credential = *action.credential;
  const bool password = credential.kind == Credential::Kind::password;
  outcome.actions.push_back((password ? "password " : "token ") + credential.user + " " + credential.secret);
  const bool right = !credential.user.starts_with("no");
  machine.answer_auth(right ? Reply{235, "2.7.0 welcome"} : Reply{535, "5.7.8 wrong"});
}

void Dialogue::on(const ClientNamed& action) {
  const auto& facts = *action.facts;
  outcome.actions.push_back("client " + facts.address.value + " " + facts.login.value);
  const bool known = !facts.login.value.empty();
  drain_output();
  machine = ServerMachine(options_);
  if (known) machine.trust();
  machine.greet();
}

Outcome play(std::string_view script, std::size_t piece, const ServerMachineOptions& options) {
  Dialogue dialogue(options);
  for (; !script.empty(); script.remove_prefix(std::min(piece, script.size())))
    dialogue.say(script.substr(0, piece));
  return dialogue.outcome;
}

Outcome play_anyhow(std::string_view script, const ServerMachineOptions& options) {
  const auto whole = play(script, script.size(), options);
  for (std::size_t at = 1; at < script.size(); ++at) {
    Dialogue dialogue(options);
    dialogue.say(script.substr(0, at));
    dialogue.say(script.substr(at));
    EXPECT_EQ(dialogue.outcome.output, whole.output) << "cut at " << at;
    EXPECT_EQ(dialogue.outcome.actions, whole.actions) << "cut at " << at;
  }
  EXPECT_EQ(play(script, 1, options), whole) << "octet by octet";
  return whole;
}

}  // namespace mailonce::smtp
