#include "mailonce/upstream/options.h"

#include <unistd.h>

#include <array>

#include "mailonce/base/encoding.h"
#include "mailonce/smtp/hello_name.h"

namespace mailonce::upstream {

std::string default_ehlo_name() {
  constexpr const char* unnamed = "[127.0.0.1]";
  std::array<char, 256> buffer{};
  if (::gethostname(buffer.data(), buffer.size() - 1) != 0) return unnamed;
  const std::string name(buffer.data());
  const bool qualified = name.find('.') != std::string::npos && name.front() != '.';
  const bool local = to_lower_ascii(name).starts_with("localhost.");
  return qualified && !local && smtp::HelloName::parse(name) ? name : unnamed;
}

}  // namespace mailonce::upstream
