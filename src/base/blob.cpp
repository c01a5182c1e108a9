#include "mailonce/base/blob.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

namespace mailonce {
namespace {

error_code last_error() {
  return {errno, boost::system::system_category()};
}

// O_TMPFILE never has a name; file systems without it (some overlay and network ones) get mkstemp and unlink.
int open_unnamed(const std::string& directory) {
  const int unnamed = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return unnamed;
  std::string path = directory + "/mailonce-XXXXXX";
  const int named = ::mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(path.c_str());
  return named;
}

}  // namespace

Blob::Blob(BlobOptions options) : options_(std::move(options)) {}
Blob::~Blob() {
  clear();
}

Blob::Blob(Blob&& other) noexcept {
  *this = std::move(other);
}

Blob& Blob::operator=(Blob&& other) noexcept {
  if (this == &other) return *this;
  clear();
  options_ = std::move(other.options_);
  memory_ = std::move(other.memory_);
  other.memory_.clear();
  descriptor_ = std::exchange(other.descriptor_, -1);
  size_ = std::exchange(other.size_, 0);
  mapping_ = std::exchange(other.mapping_, nullptr);
  mapped_octets_ = std::exchange(other.mapped_octets_, 0);
  return *this;
}

Result<> Blob::append(std::string_view octets) {
  if (octets.empty()) return {};
  if (!in_file() && memory_.size() + octets.size() > options_.memory_octets) {
    auto spilled = spill();
    if (!spilled) return spilled;
  }
  if (in_file()) {
    unmap();
    return write_file(octets);
  }
  memory_.append(octets);
  size_ = memory_.size();
  return {};
}

Result<> Blob::spill() {
  descriptor_ = open_unnamed(options_.directory);
  if (descriptor_ < 0) return last_error();
  size_ = 0;
  auto written = write_file(memory_);
  if (written) std::string().swap(memory_);
  return written;
}

Result<> Blob::write_file(std::string_view octets) {
  while (!octets.empty()) {
    const auto n = ::write(descriptor_, octets.data(), octets.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return last_error();
    octets.remove_prefix(static_cast<std::size_t>(n));
    size_ += static_cast<std::uint64_t>(n);
  }
  return {};
}

Result<std::string_view> Blob::view() const {
  if (!in_file()) return std::string_view(memory_);
  if (mapping_ == nullptr && size_ > 0) {
    // The file has no name and every octet was written, so nobody can truncate it under the mapping.
    void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor_, 0);
    if (mapped == MAP_FAILED) return last_error();
    mapping_ = mapped;
    mapped_octets_ = size_;
  }
  return std::string_view(static_cast<const char*>(mapping_), size_);
}

void Blob::unmap() const noexcept {
  if (mapping_ != nullptr) ::munmap(mapping_, mapped_octets_);
  mapping_ = nullptr;
  mapped_octets_ = 0;
}

void Blob::clear() noexcept {
  unmap();
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  memory_.clear();
  size_ = 0;
}

}  // namespace mailonce
