#include "server.h"

#include <algorithm>

namespace mailonce::redis {
namespace {

constexpr milliseconds least_time{100};

}  // namespace

bool time_for_more(SteadyClock::time_point deadline, const Options& options) noexcept {
  return SteadyClock::now() + std::min(least_time, options.command_deadline / 4) < deadline;
}

}  // namespace mailonce::redis
