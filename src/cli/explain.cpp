#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "commands.h"
#include "explanation.h"
#include "mailonce/cli/run.h"
#include "mails.h"

namespace mailonce::cli {
namespace {

// The policy of the file. What concerns neither fingerprint nor verdict (a password file that only the
// relay's user can read) is no reason not to explain.
std::optional<relay::Options> policies(const std::optional<std::string>& file, Streams streams) {
  if (!file) return relay::Options{};
  auto loaded = config::load(file, {});
  bool usable = true;
  for (const auto& error : loaded.report.errors) {
    const auto& key = error.key;
    if (!key.empty() && !key.starts_with("policy") && !key.starts_with("rule") &&
        !key.starts_with("window.secret"))
      continue;
    streams.err << "error: " << error.text() << '\n';
    usable = false;
  }
  if (!usable) return {};
  return std::move(loaded.configuration.relay);
}

std::optional<Envelope> envelope_of(const ExplainCommand& command, Streams streams) {
  Envelope envelope;
  envelope.user = command.user;
  const auto refuse = [&](const char* option, const std::string& address) {
    streams.err << "mailonce: " << option << ' ' << address
                << ": is not an address; write it as in a@example.com\n";
  };
  if (command.sender) {
    auto address = smtp::Address::parse_reverse_path("<" + *command.sender + ">");
    if (!address) return refuse("--sender", *command.sender), std::nullopt;
    envelope.sender = smtp::Sender{std::move(*address), {}, smtp::BodyType::unspecified};
  }
  for (const auto& recipient : command.recipients) {
    auto address = smtp::Address::parse_forward_path("<" + recipient + ">");
    if (!address) return refuse("--recipient", recipient), std::nullopt;
    envelope.recipients.push_back({std::move(*address)});
  }
  return envelope;
}

// https://no-color.org
bool in_color(const std::string& wish, const std::ostream& out) {
  if (wish != "auto") return wish == "always";
  return &out == &std::cout && ::isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
}

int explain_one(const Explained& mail, const ExplainCommand& command, std::ostream& out) {
  if (command.json) {
    print_one_json(out, mail);
  } else {
    print_one(out, mail, in_color(command.color, out));
  }
  const auto known = [](const Judgement& judgement) { return judgement.identity.has_value(); };
  const bool any = std::any_of(mail.judgements.begin(), mail.judgements.end(), known);
  return any ? exit_code::ok : exit_code::distinct;
}

// Under the policy that decides for the second's first recipient; another rule for the first makes two of
// them.
int explain_two(const Explained& a, const Explained& b, const ExplainCommand& command, std::ostream& out) {
  const auto& policy = *b.judgements.front().policy;
  const auto comparison = message::compare(a.mail->octets, b.mail->octets, policy.scope, policy.identity);
  auto verdict = judge(comparison, policy);
  if (a.judgements.front().policy != &policy)
    verdict = {false, "distinct: different rules decide for them, and both are forwarded"};
  if (command.json) {
    print_two_json(out, a, b, comparison, verdict);
  } else {
    print_two(out, a, b, comparison, verdict, in_color(command.color, out));
  }
  return verdict.duplicate ? exit_code::ok : exit_code::distinct;
}

int explain_many(const std::vector<Explained>& all, const ExplainCommand& command, std::ostream& out) {
  if (command.json) {
    print_many_json(out, all);
  } else {
    print_many(out, all);
  }
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (first_of(all, i)) return exit_code::ok;
  }
  return exit_code::distinct;
}

}  // namespace

int explain(const ExplainCommand& command, Streams streams) {
  if (std::count(command.messages.begin(), command.messages.end(), "-") > 1) {
    streams.err << "mailonce: standard input can be read once\n";
    return exit_code::wrong;
  }
  const auto options = policies(command.config, streams);
  const auto envelope = envelope_of(command, streams);
  if (!options || !envelope) return exit_code::wrong;
  std::vector<Mail> mails;
  for (const auto& path : command.messages) {
    auto read = read_mails(path, streams);
    if (!read) return exit_code::wrong;
    std::move(read->begin(), read->end(), std::back_inserter(mails));
  }
  std::vector<Explained> all;
  all.reserve(mails.size());
  for (const auto& mail : mails) all.push_back(explain(mail, *options, *envelope));
  if (all.size() == 1) return explain_one(all[0], command, streams.out);
  if (all.size() == 2) return explain_two(all[0], all[1], command, streams.out);
  return explain_many(all, command, streams.out);
}

}  // namespace mailonce::cli
