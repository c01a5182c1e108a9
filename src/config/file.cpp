#include "mailonce/config/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace mailonce::config {
namespace {

struct Descriptor {
  explicit Descriptor(const char* file) : number(::open(file, O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number;
};

error_code system_error(int number) {
  return {number, boost::system::system_category()};
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& file, std::size_t at_most) {
  const Descriptor descriptor(file.c_str());
  if (descriptor.number < 0) return system_error(errno);
  std::string text;
  std::array<char, 65536> piece{};
  for (;;) {
    const auto n = ::read(descriptor.number, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return system_error(errno);
    if (n == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(n));
    if (text.size() > at_most) return system_error(EFBIG);
  }
}

}  // namespace mailonce::config
