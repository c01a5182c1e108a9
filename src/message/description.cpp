#include "mailonce/message/description.h"

#include "mailonce/message/canonical_form.h"
#include "mailonce/message/recording_sink.h"

namespace mailonce::message {

std::vector<DescribedItem> describe(std::string_view message, const IdentityOptions& options) {
  RecordingSink sink;
  write_canonical_form(message, options, sink);
  std::vector<DescribedItem> items;
  for (auto& recorded : sink.take()) items.push_back(std::move(recorded.shown));
  return items;
}

}  // namespace mailonce::message
