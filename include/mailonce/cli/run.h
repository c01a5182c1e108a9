// The command line: serve, check, explain, window (`mailonce --help` tells it).
#pragma once
#include <iosfwd>
#include <string>
#include <vector>

namespace mailonce::cli {

// What a run of the program says to its caller.
namespace exit_code {
inline constexpr int ok = 0;        // served until asked to stop; configuration in order; duplicates
inline constexpr int failed = 1;    // could not serve, or the drain cut sessions off
inline constexpr int distinct = 1;  // explain: the second message would be forwarded
inline constexpr int wrong = 2;     // the command line, the configuration or a message can not be used
}  // namespace exit_code

// `arguments` without the program's name. Returns the exit code; throws nothing.
int run(std::vector<std::string> arguments, std::istream& in, std::ostream& out, std::ostream& err);

}  // namespace mailonce::cli
