#include <algorithm>

#include "mailonce/base/encoding.h"
#include "mailonce/message/identity.h"

namespace mailonce::message {

std::optional<Strategy> Strategy::parse(std::string_view name) {
  constexpr std::string_view header_prefix = "header:";
  if (name == "key") return Strategy{Kind::key, {}};
  if (name == "content") return Strategy{Kind::content, {}};
  if (name == "message-id") return Strategy{Kind::message_id, {}};
  if (!name.starts_with(header_prefix)) return std::nullopt;
  name.remove_prefix(header_prefix.size());
  const bool is_field_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return c > ' ' && c < 127 && c != ':';
  });
  if (!is_field_name) return std::nullopt;
  return Strategy{Kind::header, std::string(name)};
}

std::string Strategy::name() const {
  switch (kind) {
    case Kind::key:
      return "key";
    case Kind::content:
      return "content";
    case Kind::message_id:
      return "message-id";
    case Kind::header:
      // Field names do not differ by case (RFC 5322 §1.2.2), so neither do the fingerprints.
      return "header:" + to_lower_ascii(header);
  }
  return {};
}

}  // namespace mailonce::message
