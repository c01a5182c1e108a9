#include <string>

#include "sections.h"

namespace mailonce::config {
namespace {

using message::Strategy;
using relay::Conflict;
using relay::Mode;
using window::DoubtPolicy;
using window::StoreDownPolicy;

Parsed<Strategy> parse_strategy(std::string_view text) {
  if (const auto strategy = Strategy::parse(text)) return *strategy;
  return Mistake{"is not a strategy", "write \"key\", \"content\", \"message-id\" or \"header:NAME\""};
}

Parsed<std::string> parse_scope(std::string_view text) {
  if (text.empty() || text.size() > 64)
    return Mistake{"is not 1 to 64 octets long", "name the application, as in \"shop\""};
  return std::string(text);
}

void read_strategies(Table& table, message::IdentityOptions& identity) {
  const auto errors_before = table.errors();
  table.list("strategy", identity.strategies, parse_strategy);
  if (identity.strategies.empty() && table.errors() == errors_before) {
    table.error("strategy", {"names no strategy",
                             "write [\"key\", \"content\"], or mode = \"off\" to forward everything"});
  }
}

Parsed<message::Pattern> parse_ignored(std::string_view text) {
  auto pattern = message::Pattern::regex(text);
  if (!pattern) return Mistake{"is no regular expression: " + pattern.error(), "correct it (RE2 syntax)"};
  return std::move(*pattern);
}

void read_ignored(Table& table, std::vector<message::Pattern>& ignore) {
  table.list("ignore", ignore, parse_ignored);
  for (const auto& pattern : ignore) {
    std::string text = "An example\n\nof a text, with 2 lines.";
    pattern.remove_from(text);
    if (text.find_first_not_of(" \n") != std::string::npos) continue;
    table.warning("ignore", {"takes everything out of a text: mails that differ in their texts alone are one",
                             "describe no more than the token or time that varies"});
  }
}

}  // namespace

void read_decisions(Table& table, relay::Policy& policy) {
  const Choices<Conflict> conflicts = {
      {"reject", Conflict::reject}, {"forward", Conflict::forward}, {"duplicate", Conflict::duplicate}};
  table.choice("mode", policy.mode,
               Choices<Mode>{{"enforce", Mode::enforce}, {"observe", Mode::observe}, {"off", Mode::off}});
  read_strategies(table, policy.identity);
  table.list("identity_headers", policy.identity.identity_headers, parse_field_name);
  read_ignored(table, policy.identity.ignore);
  table.flag("documents", policy.identity.documents);
  table.choice("conflict", policy.key_conflict, conflicts);
  table.choice("content_differs", policy.message_id_conflict, conflicts);
  table.choice("doubt", policy.doubt,
               Choices<DoubtPolicy>{{"resend", DoubtPolicy::resend},
                                    {"suppress", DoubtPolicy::suppress},
                                    {"defer", DoubtPolicy::defer}});
  table.choice("store_down", policy.store_down,
               Choices<StoreDownPolicy>{{"local", StoreDownPolicy::local},
                                        {"defer", StoreDownPolicy::defer},
                                        {"forward", StoreDownPolicy::forward}});
}

void read_policy(Table& table, relay::Options& options) {
  auto& policy = options.policy;
  read_decisions(table, policy);
  table.list("key_headers", policy.identity.key_headers, parse_field_name);
  table.value("scope", policy.scope, parse_scope);
  // Clients wait ten minutes for the reply to the dot (RFC 5321 §4.5.3.2.6); many are set to less than one.
  table.duration("wait", options.wait, milliseconds(0), seconds(540));
  table.flag("resend_first_message_id", options.resend_first_message_id);
  table.flag("strip_key_header", options.strip_key_header);
  table.finish();
}

}  // namespace mailonce::config
