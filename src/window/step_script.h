// step.lua as a part of the program, and the name EVALSHA knows it by.
#pragma once
#include <string_view>

namespace mailonce::window {

extern const std::string_view step_script;
extern const std::string_view step_script_sha1;  // 40 hexadecimal digits

}  // namespace mailonce::window
