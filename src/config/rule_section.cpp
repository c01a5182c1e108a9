// [[rule]]: what decides for a part of the mail (DESIGN.md §5).
#include <algorithm>

#include "patterns.h"
#include "sections.h"

namespace mailonce::config {
namespace {

void read_headers(Table& match, std::vector<relay::Match::Header>& into) {
  auto table = match.table("header");
  if (!table) return;
  for (const auto& name : table->keys()) {
    auto& header = into.emplace_back();
    if (auto field = parse_field_name(name)) {
      header.name = std::move(*field);
    } else {
      table->error(name, field.error());
    }
    read_patterns(*table, name, header.patterns);
  }
  table->finish();
}

void read_match(Table& rule, relay::Match& into) {
  auto table = rule.table("match");
  if (!table) {
    if (rule.has("match")) return;
    rule.missing("match",
                 {"is missing", "say which mail it is for, as in match = { sender = \"*@example.com\" }"});
    return;
  }
  read_patterns(*table, "sender", into.senders);
  read_patterns(*table, "recipient", into.recipients);
  read_patterns(*table, "credential", into.credentials);
  Patterns subjects;
  read_patterns(*table, "subject", subjects);
  if (!subjects.empty()) into.headers.push_back({"Subject", std::move(subjects)});
  read_headers(*table, into.headers);
  table->finish();
}

void read_window(Table& rule, relay::Policy& policy) {
  if (rule.has("window")) {
    policy.slide_cap = milliseconds(0);  // a short window of its own that slid for days would be none
    read_window_length(rule, "window", policy.content_window);
    policy.key_window = policy.message_id_window = policy.content_window;
  }
  read_window_length(rule, "sliding", policy.slide_cap);
  if (rule.has("sliding") && rule.has("window") && policy.slide_cap <= policy.content_window) {
    rule.error("sliding", {"is not longer than the rule's window, so that nothing would slide",
                           "write how long after the first a repeat may still prolong the window"});
  }
}

Parsed<std::string> parse_name(std::string_view text) {
  const auto bad = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7f; };
  if (text.empty() || text.size() > 64 || std::any_of(text.begin(), text.end(), bad))
    return Mistake{"is not 1 to 64 printable characters", "name what it is for, as in \"one-time codes\""};
  return std::string(text);
}

void read_rule(Table& table, const relay::Policy& otherwise, relay::Rule& rule) {
  rule.policy = otherwise;
  rule.policy.rule.clear();
  if (!table.has("name")) table.missing("name", {"is missing", "name what it is for: the log says it"});
  table.value("name", rule.policy.rule, parse_name);
  // Identities of two rules never meet: a message that falls under another rule is another message (§5).
  rule.policy.scope = otherwise.scope + '\n' + rule.policy.rule;
  table.forbid("scope", {"is the policy's for all rules", "leave it out: a rule is a scope of its own"});
  read_match(table, rule.match);
  read_decisions(table, rule.policy);
  read_window(table, rule.policy);
  table.finish();
}

}  // namespace

void read_rules(Table& root, relay::Options& options) {
  for (auto& table : root.tables("rule")) {
    relay::Rule rule;
    read_rule(table, options.policy, rule);
    const auto same = [&](const relay::Rule& other) { return other.policy.rule == rule.policy.rule; };
    const bool taken = rule.policy.rule == options.policy.rule ||
                       std::any_of(options.rules.begin(), options.rules.end(), same);
    if (taken && !rule.policy.rule.empty())
      table.error("name", {"is another rule's name too", "give each its own"});
    options.rules.push_back(std::move(rule));
  }
}

}  // namespace mailonce::config
