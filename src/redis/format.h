// Commands as RESP.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace mailonce::redis {

void append_command(std::string& out, std::span<const std::string_view> words);

}  // namespace mailonce::redis
