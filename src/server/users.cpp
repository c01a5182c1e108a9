#include "mailonce/server/users.h"

#include <crypt.h>
#include <openssl/crypto.h>

#include <fstream>
#include <memory>
#include <stdexcept>

#include "mailonce/base/random.h"

namespace mailonce::server {
namespace {

constexpr seconds remember{300};
constexpr std::size_t most_remembered = 10'000;

bool matches(const std::string& password, const std::string& hash) {
  const auto scratch = std::make_unique<crypt_data>();
  const char* made = crypt_r(password.c_str(), hash.c_str(), scratch.get());
  const std::string_view result = made == nullptr ? "*" : made;  // "*…" is crypt's failure
  const bool same = result.front() == '$' && result.size() == hash.size() &&
                    CRYPTO_memcmp(result.data(), hash.data(), hash.size()) == 0;
  OPENSSL_cleanse(scratch.get(), sizeof(crypt_data));
  return same;
}

}  // namespace

Users::Users(const std::string& file) : key_(random_token(32)) {
  std::ifstream in(file);
  if (!in)
    throw std::runtime_error(file + ": can not be read; name a file with a line NAME:HASH for each user");
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    const auto colon = line.find(':');
    const auto where = file + ":" + std::to_string(number) + ": ";
    if (colon == 0 || colon == std::string::npos)
      throw std::runtime_error(where + "is not NAME:HASH; make the hash with: openssl passwd -6");
    auto hash = line.substr(colon + 1);
    if (hash.empty() || hash.front() != '$' || crypt_checksalt(hash.c_str()) == CRYPT_SALT_INVALID)
      throw std::runtime_error(where + "holds no hash of a password; make it with: openssl passwd -6");
    if (!hashes_.emplace(line.substr(0, colon), std::move(hash)).second)
      throw std::runtime_error(where + "names a user a second time; keep one line");
  }
  if (in.bad()) throw std::runtime_error(file + ": can not be read to its end");
}

Digest Users::digest_of(std::string_view name, std::string_view password) const {
  Hasher hasher(key_);
  hasher.update_framed(name);
  hasher.update_framed(password);
  return hasher.finish();
}

bool Users::known(std::string_view name, std::string_view password) {
  const auto credential = digest_of(name, password);
  const std::lock_guard lock(mutex_);
  const auto found = verified_.find(credential);
  return found != verified_.end() && SteadyClock::now() < found->second;
}

bool Users::verify(std::string_view name, const std::string& password) {
  if (hashes_.empty()) return false;
  const auto user = hashes_.find(name);
  // A name that is not there takes as long as one that is.
  const bool right = matches(password, (user == hashes_.end() ? hashes_.begin() : user)->second);
  if (!right || user == hashes_.end()) return false;
  const std::lock_guard lock(mutex_);
  if (verified_.size() >= most_remembered) verified_.clear();
  verified_[digest_of(name, password)] = SteadyClock::now() + remember;
  return true;
}

}  // namespace mailonce::server
