#include <algorithm>
#include <istream>
#include <iterator>
#include <ostream>

#include "commands.h"
#include "mailonce/cli/run.h"
#include "mailonce/config/file.h"
#include "mailonce/message/comparison.h"
#include "mailonce/message/description.h"
#include "mailonce/observe/escape.h"

namespace mailonce::cli {
namespace {

using message::Comparison;
using message::Strategy;

constexpr std::size_t max_message_octets = 1U << 30;

std::string printable(std::string_view text) {
  std::string quoted;
  observe::append_quoted(quoted, text);
  return quoted;
}

// A message saved by a person often has LF line ends; a client would send it with CRLF. One that has both is
// taken as it is.
std::string as_sent(std::string text) {
  if (text.find("\r\n") != std::string::npos) return text;
  std::string out;
  out.reserve(text.size() + text.size() / 32);
  for (const char c : text) {
    if (c == '\n') out += '\r';
    out += c;
  }
  return out;
}

std::optional<std::string> read_message(const std::string& name, Streams streams) {
  if (name == "-") return as_sent({std::istreambuf_iterator<char>(streams.in), {}});
  auto text = config::read_file(name, max_message_octets);
  if (text) return as_sent(std::move(*text));
  streams.err << "mailonce: " << name << ": can not be read: " << text.error().message() << '\n';
  return {};
}

// The policy of the file. What concerns neither fingerprint nor verdict (a password file that only the
// relay's user can read) is no reason not to explain.
std::optional<relay::Options> policy(const std::optional<std::string>& file, Streams streams) {
  if (!file) return relay::Options{};
  const auto loaded = config::load(file, {});
  bool usable = true;
  for (const auto& error : loaded.report.errors) {
    if (!error.key.empty() && !error.key.starts_with("policy") && !error.key.starts_with("window.secret"))
      continue;
    streams.err << "error: " << error.text() << '\n';
    usable = false;
  }
  if (!usable) return {};
  return loaded.configuration.relay;
}

void print_identity(std::ostream& out, const std::optional<message::Identity>& identity) {
  if (!identity) {
    out << "no identity: no strategy applies, the message is always forwarded\n";
    return;
  }
  out << "fingerprint " << identity->fingerprint.base64url() << '\n'
      << "strategy    " << identity->strategy.name() << '\n'
      << "content     " << identity->content.base64url() << '\n';
}

void print_item(std::ostream& out, const message::DescribedItem& item) {
  out << "  " << item.where << (item.where.empty() ? "" : ": ") << item.what;
  if (item.value.find('\n') == std::string::npos) {
    out << (item.value.empty() ? "" : ": ") << item.value;
    if (!item.why.empty()) out << "  (" << item.why << ')';
    out << '\n';
    return;
  }
  if (!item.why.empty()) out << "  (" << item.why << ')';
  out << '\n';
  for (std::string_view rest = item.value; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    out << "    | " << rest.substr(0, end) << '\n';
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

int explain_one(std::string_view text, const relay::Options& options, std::ostream& out) {
  const auto identity = message::identify(text, options.policy.scope, options.policy.identity);
  const auto items = message::describe(text, options.policy.identity);
  print_identity(out, identity);
  for (const bool counts : {true, false}) {
    out << (counts ? "\ncounts\n" : "\ndoes not count\n");
    for (const auto& item : items) {
      if (item.counts == counts) print_item(out, item);
    }
  }
  return identity ? exit_code::ok : exit_code::distinct;
}

struct Verdict {
  bool duplicate;
  std::string sentence;
};

Verdict on_other_content(const Comparison& comparison, const relay::Options& options) {
  const auto& strategy = comparison.a->strategy;
  const bool by_key = strategy.kind == Strategy::Kind::key;
  const auto same = "same " + strategy.name() + " with other content: ";
  const std::string setting = by_key ? "conflict" : "content_differs";
  switch (options.policy.conflict_of(strategy.kind)) {
    case relay::Conflict::reject:
      return {false, "distinct: " + same + "refused with 554 5.6.0 (" + setting + " = \"reject\")"};
    case relay::Conflict::forward:
      return {false, "distinct: " + same + "forwarded (" + setting + " = \"forward\")"};
    case relay::Conflict::duplicate:
      break;
  }
  return {true, "duplicate: " + same + "not forwarded (" + setting + " = \"duplicate\")"};
}

Verdict verdict(const Comparison& comparison, const relay::Options& options) {
  switch (comparison.verdict) {
    case Comparison::Verdict::duplicate:
      return {true, "duplicate: the second is answered with the first one's reply"};
    case Comparison::Verdict::other_content:
      return on_other_content(comparison, options);
    case Comparison::Verdict::no_identity:
      return {false, "distinct: a message without identity is always forwarded"};
    case Comparison::Verdict::distinct:
      break;
  }
  return {false, "distinct: both are forwarded"};
}

int explain_two(std::string_view a, std::string_view b, const relay::Options& options, std::ostream& out) {
  const auto comparison = message::compare(a, b, options.policy.scope, options.policy.identity);
  const auto [duplicate, sentence] = verdict(comparison, options);
  out << sentence << '\n';
  for (const auto* differences : {&comparison.differences, &comparison.ignored}) {
    if (differences->empty()) continue;
    out << (differences == &comparison.differences ? "\ndiffers and counts\n"
                                                   : "\ndiffers and does not count\n");
    for (const auto& difference : *differences) out << "  " << difference.sentence() << '\n';
  }
  out << "\nfirst\n";
  print_identity(out, comparison.a);
  out << "\nsecond\n";
  print_identity(out, comparison.b);
  return duplicate ? exit_code::ok : exit_code::distinct;
}

}  // namespace

int explain(const ExplainCommand& command, Streams streams) {
  if (std::count(command.messages.begin(), command.messages.end(), "-") > 1) {
    streams.err << "mailonce: standard input can be read once\n";
    return exit_code::wrong;
  }
  const auto options = policy(command.config, streams);
  if (!options) return exit_code::wrong;
  std::vector<std::string> texts;
  for (const auto& name : command.messages) {
    auto text = read_message(name, streams);
    if (!text) return exit_code::wrong;
    if (text->empty()) {
      streams.err << "mailonce: " << printable(name) << ": is empty\n";
      return exit_code::wrong;
    }
    texts.push_back(std::move(*text));
  }
  return texts.size() == 1 ? explain_one(texts[0], *options, streams.out)
                           : explain_two(texts[0], texts[1], *options, streams.out);
}

}  // namespace mailonce::cli
