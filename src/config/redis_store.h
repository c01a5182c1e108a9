// The keys of [window] that only Redis has: TLS files, Sentinels, replicas.
#pragma once
#include <filesystem>

#include "mailonce/redis/options.h"
#include "table.h"

namespace mailonce::config {

// After store and timeout were read. `is_store`: the store is Redis; otherwise a key of Redis is a mistake.
void read_redis_store(Table& table, const std::filesystem::path& folder, bool is_store,
                      redis::Options& options);

}  // namespace mailonce::config
