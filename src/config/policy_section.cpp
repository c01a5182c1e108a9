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

void read_identity(Table& table, message::IdentityOptions& identity) {
  const auto errors_before = table.errors();
  table.list("strategy", identity.strategies, parse_strategy);
  if (identity.strategies.empty() && table.errors() == errors_before) {
    table.error("strategy", {"names no strategy",
                             "write [\"key\", \"content\"], or mode = \"off\" to forward everything"});
  }
  table.list("key_headers", identity.key_headers, parse_field_name);
  table.list("identity_headers", identity.identity_headers, parse_field_name);
  table.flag("documents", identity.documents);
}

}  // namespace

void read_policy(Table& table, relay::Options& options) {
  const Choices<Conflict> conflicts = {
      {"reject", Conflict::reject}, {"forward", Conflict::forward}, {"duplicate", Conflict::duplicate}};
  table.choice("mode", options.mode,
               Choices<Mode>{{"enforce", Mode::enforce}, {"observe", Mode::observe}, {"off", Mode::off}});
  read_identity(table, options.identity);
  table.value("scope", options.scope, parse_scope);
  table.choice("conflict", options.key_conflict, conflicts);
  table.choice("content_differs", options.message_id_conflict, conflicts);
  table.choice("doubt", options.doubt,
               Choices<DoubtPolicy>{{"resend", DoubtPolicy::resend},
                                    {"suppress", DoubtPolicy::suppress},
                                    {"defer", DoubtPolicy::defer}});
  table.choice("store_down", options.store_down,
               Choices<StoreDownPolicy>{{"local", StoreDownPolicy::local},
                                        {"defer", StoreDownPolicy::defer},
                                        {"forward", StoreDownPolicy::forward}});
  // Clients wait ten minutes for the reply to the dot (RFC 5321 §4.5.3.2.6); many are set to less than one.
  table.duration("wait", options.wait, milliseconds(0), seconds(540));
  table.flag("resend_first_message_id", options.resend_first_message_id);
  table.flag("strip_key_header", options.strip_key_header);
  table.finish();
}

}  // namespace mailonce::config
