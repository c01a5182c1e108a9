#include "mailonce/base/random.h"

#include <openssl/rand.h>

#include <stdexcept>
#include <vector>

#include "mailonce/base/encoding.h"

namespace mailonce {

std::string random_token(std::size_t octets) {
  std::vector<unsigned char> raw(octets);
  if (RAND_bytes(raw.data(), static_cast<int>(raw.size())) != 1)
    throw std::runtime_error("no randomness from the system");
  return to_base64url(raw);
}

}  // namespace mailonce
