// What of the servers' settings loses records: eviction.
#include <algorithm>
#include <optional>
#include <string_view>

#include "mailonce/window/redis_store.h"

namespace mailonce::window {
namespace {

// The value of `name` in what INFO says: a field a line.
std::string_view field(std::string_view info, std::string_view name) {
  for (std::size_t at = 0; at < info.size();) {
    const auto end = std::min(info.find("\r\n", at), info.size());
    const auto line = info.substr(at, end - at);
    if (line.size() > name.size() && line.starts_with(name) && line[name.size()] == ':')
      return line.substr(name.size() + 1);
    at = end + 2;
  }
  return {};
}

// Every policy but noeviction takes records: all of them have an end.
std::optional<std::string> eviction(std::string_view info, const redis::Address& server) {
  const auto limit = field(info, "maxmemory");
  const auto policy = field(info, "maxmemory_policy");
  if (limit.empty() || limit == "0" || policy.empty() || policy == "noeviction") return std::nullopt;
  std::string out("Redis ");
  out.append(server.port == 0 ? server.host : to_string(server));  // a Sentinel's service has no port
  out.append(" evicts records when it is full (maxmemory ");
  out.append(limit).append(" octets, maxmemory-policy ").append(policy);
  return out.append("): what is evicted may be sent twice; set maxmemory-policy noeviction");
}

}  // namespace

awaitable<std::vector<std::string>> RedisStore::warnings() {
  std::vector<std::string> out;
  auto masters = co_await client_.masters();
  if (!masters) co_return out;
  for (const auto& master : *masters) {
    std::vector<redis::Client::Words> info;
    info.push_back({"INFO", "memory"});
    auto replies = co_await client_.batch(master, std::move(info));
    const auto text = replies ? replies->front().value().text() : std::nullopt;
    auto warning = text ? eviction(*text, master) : std::nullopt;
    if (warning) out.push_back(std::move(*warning));
  }
  co_return out;
}

}  // namespace mailonce::window
