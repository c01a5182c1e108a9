// Criteria of rules and routes.
#pragma once
#include <string_view>
#include <vector>

#include "mailonce/message/pattern.h"
#include "table.h"

namespace mailonce::config {

using Patterns = std::vector<message::Pattern>;

// Globs, or regular expressions between slashes; one, or a list of them.
void read_patterns(Table& table, std::string_view key, Patterns& into);

}  // namespace mailonce::config
