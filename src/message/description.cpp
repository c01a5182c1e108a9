#include "mailonce/message/description.h"

#include <algorithm>
#include <map>

#include "mailonce/base/encoding.h"
#include "mailonce/message/canonical_form.h"
#include "mailonce/message/header_fields.h"
#include "mailonce/message/recording_sink.h"

namespace mailonce::message {

namespace {

// The canonical form has its own order of fields; a person reads them as they stand in the message.
void put_header_in_reading_order(std::string_view message, std::vector<DescribedItem>& items) {
  using Nth = std::pair<std::string, std::size_t>;  // of that name
  std::map<Nth, std::size_t> place;
  std::map<std::string, std::size_t> seen;
  for (const auto& field : scan_fields(message, CanonicalLimits::header_fields).fields) {
    auto name = to_lower_ascii(field.name);
    const auto number = seen[name]++;
    place.emplace(Nth(std::move(name), number), place.size());
  }
  seen.clear();
  std::vector<std::pair<std::size_t, DescribedItem>> header;
  std::size_t end = 0;
  for (std::size_t last = 0; end < items.size() && items[end].where == "header"; ++end) {
    auto name = to_lower_ascii(items[end].what);
    const auto number = seen[name]++;
    const auto found = place.find({std::move(name), number});
    if (found != place.end()) last = found->second;  // what is said of a field stays with it
    header.emplace_back(last, std::move(items[end]));
  }
  std::stable_sort(header.begin(), header.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (std::size_t i = 0; i < end; ++i) items[i] = std::move(header[i].second);
}

}  // namespace

std::vector<DescribedItem> describe(std::string_view message, const IdentityOptions& options) {
  RecordingSink sink;
  write_canonical_form(message, options, sink);
  std::vector<DescribedItem> items;
  for (auto& recorded : sink.take()) items.push_back(std::move(recorded.shown));
  put_header_in_reading_order(message, items);
  return items;
}

}  // namespace mailonce::message
