// Secrets come from a file or from the environment, never from the configuration itself, which people copy,
// commit and paste into reports.
#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "mailonce/config/problem.h"
#include "table.h"

namespace mailonce::config {

// The file's content without its last line end. Refused: empty, over 64 KiB, with a NUL.
Parsed<std::string> read_secret_file(const std::filesystem::path& file);
Parsed<std::string> read_secret_variable(const std::string& name);

// The secret that `table` names by NAME_file (relative to `folder`) or NAME_env; nothing when it names none
// or names it wrongly, which is reported. A file that every user of the machine can read is warned about.
std::optional<std::string> take_secret(Table& table, const std::string& name,
                                       const std::filesystem::path& folder);

}  // namespace mailonce::config
