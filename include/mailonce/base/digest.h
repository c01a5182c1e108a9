// SHA-256 (FIPS 180-4), plain or keyed (HMAC, RFC 2104), over OpenSSL.
#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace mailonce {

struct Digest {
  std::array<std::uint8_t, 32> bytes{};
  auto operator<=>(const Digest&) const = default;

  // 64 lower-case hexadecimal digits.
  std::string hex() const;
  // The first `octets` of it in base64url without padding; short keys for stores.
  std::string base64url(std::size_t octets = 32) const;
};

// Fed piece by piece; any split of the input gives the same digest. With a non-empty key it is HMAC-SHA-256.
class Hasher {
 public:
  explicit Hasher(std::string_view key = {});
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  void update(std::string_view bytes);
  // Unambiguous framing: the length in octets (8, big-endian), then the bytes.
  void update_framed(std::string_view bytes);
  // Ends the computation; the hasher can not be used afterwards.
  Digest finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Digest sha256(std::string_view bytes);

}  // namespace mailonce
