// What of the servers' settings loses records: eviction, and fewer replicas than are asked for.
#include <algorithm>
#include <charconv>
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

// A Sentinel's service has no port.
std::string name_of(const redis::Address& server) {
  return "Redis " + (server.port == 0 ? server.host : to_string(server));
}

// Every policy but noeviction takes records: all of them have an end.
std::optional<std::string> eviction(std::string_view info, const redis::Address& server) {
  const auto limit = field(info, "maxmemory");
  const auto policy = field(info, "maxmemory_policy");
  if (limit.empty() || limit == "0" || policy.empty() || policy == "noeviction") return std::nullopt;
  auto out = name_of(server);
  out.append(" evicts records when it is full (maxmemory ");
  out.append(limit).append(" octets, maxmemory-policy ").append(policy);
  return out.append("): what is evicted may be sent twice; set maxmemory-policy noeviction");
}

std::optional<std::string> too_few_replicas(std::string_view info, const redis::Address& server,
                                            unsigned wanted) {
  const auto text = field(info, "connected_slaves");
  unsigned connected = 0;
  const auto [at, ec] = std::from_chars(text.data(), text.data() + text.size(), connected);
  if (wanted == 0 || text.empty() || ec != std::errc() || connected >= wanted) return std::nullopt;
  auto out = name_of(server);
  out.append(" has ").append(text).append(" replicas connected, and min_replicas asks for ");
  return out.append(std::to_string(wanted)).append(": until it has, store_down decides of every new message");
}

}  // namespace

awaitable<std::vector<std::string>> RedisStore::warnings() {
  std::vector<std::string> out;
  auto masters = co_await client_.masters();
  if (!masters) co_return out;
  for (const auto& master : *masters) {
    std::vector<redis::Client::Words> info;
    info.push_back({"INFO", "memory"});
    info.push_back({"INFO", "replication"});
    auto replies = co_await client_.batch(master, std::move(info));
    if (!replies) continue;
    const auto memory = (*replies)[0].value(), replication = (*replies)[1].value();
    if (memory.is_error() || replication.is_error()) continue;
    auto evicts = eviction(memory.text().value_or(""), master);
    if (evicts) out.push_back(std::move(*evicts));
    auto lacks = too_few_replicas(replication.text().value_or(""), master, min_replicas_);
    if (lacks) out.push_back(std::move(*lacks));
  }
  co_return out;
}

}  // namespace mailonce::window
