// Unpredictable tokens from the operating system's generator (OpenSSL RAND_bytes).
#pragma once
#include <cstddef>
#include <string>

namespace mailonce {

// `octets` random octets in base64url; throws std::runtime_error when the system has no randomness.
std::string random_token(std::size_t octets = 16);

}  // namespace mailonce
