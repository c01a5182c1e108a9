// [[route]]: which upstreams a part of the mail may go to.
#include <algorithm>

#include "patterns.h"
#include "sections.h"

namespace mailonce::config {
namespace {

void read_match(Table& route, relay::Route& into) {
  auto table = route.table("match");
  if (!table) {
    if (!route.has("match"))
      route.missing("match",
                    {"is missing", "say which mail it is for, as in match = { sender = \"*@example.com\" }"});
    return;
  }
  for (const auto* later : {"recipient", "subject", "header"}) {
    table->forbid(later, {"is not known yet when the upstream is chosen", "match sender and credential"});
  }
  read_patterns(*table, "sender", into.senders);
  read_patterns(*table, "credential", into.credentials);
  table->finish();
}

}  // namespace

Parsed<std::size_t> upstream_named(std::string_view name, const std::vector<upstream::Options>& upstreams) {
  const auto found = std::find_if(upstreams.begin(), upstreams.end(),
                                  [&](const upstream::Options& each) { return each.name == name; });
  if (found != upstreams.end()) return static_cast<std::size_t>(found - upstreams.begin());
  return Mistake{"is no upstream's name", "write the name of an [[upstream]]"};
}

void read_routes(Table& root, Configuration& configuration) {
  for (auto& table : root.tables("route")) {
    auto& route = configuration.relay.routes.emplace_back();
    if (!table.has("upstream"))
      table.missing("upstream", {"is missing", "name one, or several in the order of preference"});
    for (const auto& item : table.one_or_more("upstream")) {
      const auto place = upstream_named(item.text, configuration.upstreams);
      if (!place) {
        table.error(item, place.error());
      } else if (std::find(route.upstreams.begin(), route.upstreams.end(), *place) != route.upstreams.end()) {
        table.error(item, {"is named twice", "name each once"});
      } else {
        route.upstreams.push_back(*place);
      }
    }
    if (table.has("upstream") && table.one_or_more("upstream").empty())
      table.error("upstream", {"names none, so that the mail would have nowhere to go", "name one"});
    read_match(table, route);
    table.finish();
  }
}

}  // namespace mailonce::config
