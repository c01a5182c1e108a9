#include "mailonce/base/digest.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <new>
#include <stdexcept>

#include "mailonce/base/encoding.h"

namespace mailonce {

std::string Digest::hex() const {
  return to_hex(bytes);
}

std::string Digest::base64url(std::size_t octets) const {
  return to_base64url(std::span(bytes).first(std::min(octets, bytes.size())));
}

// HMAC (RFC 2104) by hand over two SHA-256 contexts: the keyed and the plain hash then cost the same per
// octet, and OpenSSL 3's EVP_MAC look-ups are avoided.
struct Hasher::State {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  std::array<unsigned char, 64> outer_pad{};
  bool keyed = false;

  State() {
    if (context == nullptr) throw std::bad_alloc();
  }
  ~State() { EVP_MD_CTX_free(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void start() {
    // Fetched once: OpenSSL 3 looks the algorithm up by name at every EVP_sha256() initialisation.
    static const EVP_MD* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    if (algorithm == nullptr || EVP_DigestInit_ex(context, algorithm, nullptr) != 1) {
      throw std::runtime_error("OpenSSL has no SHA-256");
    }
  }
  void add(const void* data, std::size_t size) { EVP_DigestUpdate(context, data, size); }
  Digest end() {
    Digest digest;
    unsigned int size = 0;
    EVP_DigestFinal_ex(context, digest.bytes.data(), &size);
    return digest;
  }
};

Hasher::Hasher(std::string_view key) : state_(std::make_unique<State>()) {
  state_->start();
  if (key.empty()) return;
  state_->keyed = true;
  std::array<unsigned char, 64> pad{};
  if (key.size() > pad.size()) {
    const auto short_key = sha256(key);
    std::copy(short_key.bytes.begin(), short_key.bytes.end(), pad.begin());
  } else {
    std::copy(key.begin(), key.end(), pad.begin());
  }
  for (std::size_t i = 0; i < pad.size(); ++i) {
    state_->outer_pad[i] = pad[i] ^ 0x5c;
    pad[i] ^= 0x36;
  }
  state_->add(pad.data(), pad.size());
}

Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::update(std::string_view bytes) {
  state_->add(bytes.data(), bytes.size());
}

void Hasher::update_framed(std::string_view bytes) {
  std::array<unsigned char, 8> length{};
  std::uint64_t rest = bytes.size();
  for (std::size_t i = length.size(); i-- > 0; rest >>= 8)
    length[i] = static_cast<unsigned char>(rest & 0xff);
  state_->add(length.data(), length.size());
  update(bytes);
}

Digest Hasher::finish() {
  const auto inner = state_->end();
  if (!state_->keyed) return inner;
  state_->start();
  state_->add(state_->outer_pad.data(), state_->outer_pad.size());
  state_->add(inner.bytes.data(), inner.bytes.size());
  return state_->end();
}

Digest sha256(std::string_view bytes) {
  Hasher hasher;
  hasher.update(bytes);
  return hasher.finish();
}

}  // namespace mailonce
