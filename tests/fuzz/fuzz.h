// What every target needs: the entry point's name, input as text, and a check that ends the run.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace mailonce::fuzz {

inline std::string_view text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

inline void check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace mailonce::fuzz
