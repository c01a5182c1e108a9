// Records for an operator's eye, and as JSON.
#pragma once
#include <string>

#include "mailonce/window/store.h"

namespace mailonce::cli {

// One line, without its end.
std::string record_line(const window::StoredRecord& stored, TimePoint now);
// Everything that is kept, one fact a line.
std::string record_page(const window::StoredRecord& stored, TimePoint now);
// One object. `done`: what became of it; empty when nothing was to.
std::string record_json(const window::StoredRecord& stored, TimePoint now, std::string_view done = {});

}  // namespace mailonce::cli
