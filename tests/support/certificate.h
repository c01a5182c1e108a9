// Self-signed certificates for tests.
#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace mailonce::test {

struct Certificate {
  std::string certificate_pem;  // also what a client has to trust
  std::string key_pem;
};

// For these names (DNS names, or addresses such as "127.0.0.1"), valid from yesterday until `valid_for` from
// now; negative: expired. Throws std::runtime_error.
Certificate make_self_signed(const std::vector<std::string>& names = {"localhost", "127.0.0.1"},
                             std::chrono::seconds valid_for = std::chrono::hours(24 * 30));

}  // namespace mailonce::test
