// Whole small files: configurations, secrets, messages to explain.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

#include "mailonce/base/result.h"

namespace mailonce::config {

// Errors: the system's; EFBIG beyond `at_most` octets.
Result<std::string> read_file(const std::filesystem::path& file, std::size_t at_most);

}  // namespace mailonce::config
