#include "addresses.h"

#include <utility>

#include "mailonce/base/digest.h"
#include "mailonce/base/encoding.h"
#include "mailonce/base/random.h"

namespace mailonce::observe {
namespace {

bool part_of_address(char c) {
  constexpr std::string_view outside = " \t\r\n<>()[]{},;:\"'";
  return outside.find(c) == std::string_view::npos;
}

}  // namespace

AddressMask::AddressMask(Addresses mode, std::string secret) : mode_(mode), secret_(std::move(secret)) {
  if (mode_ == Addresses::hashed && secret_.empty()) secret_ = random_token(32);
}

std::string AddressMask::address(std::string_view address) const {
  if (address.empty()) return "<>";
  if (mode_ == Addresses::full) return std::string(address);
  const auto at = address.rfind('@');
  const auto local = address.substr(0, at);
  const auto domain = at == std::string_view::npos ? std::string_view() : address.substr(at);  // with its @
  if (mode_ == Addresses::domain) return "*" + std::string(domain);
  Hasher hasher(secret_);
  hasher.update(local);
  hasher.update(to_lower_ascii(domain));  // tells recipients apart as the window does (DESIGN.md §4)
  return "#" + hasher.finish().base64url(12);
}

std::string AddressMask::text(std::string_view text) const {
  std::string out;
  std::size_t done = 0;
  for (auto at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
    auto begin = at, end = at + 1;
    while (begin > done && part_of_address(text[begin - 1])) --begin;
    while (end < text.size() && part_of_address(text[end])) ++end;
    out += text.substr(done, begin - done);
    out += address(text.substr(begin, end - begin));
    done = end;
    at = end - 1;
  }
  out += text.substr(done);
  return out;
}

}  // namespace mailonce::observe
