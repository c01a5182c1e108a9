// Overwrites a secret before its memory is used for something else.
#pragma once
#include <openssl/crypto.h>

#include <string>

namespace mailonce {

inline void wipe(std::string& secret) noexcept {
  OPENSSL_cleanse(secret.data(), secret.size());
  secret.clear();
}

}  // namespace mailonce
