// The octets of one message while it passes through: in memory up to a limit, beyond it in an unlinked
// temporary file, so that a large message costs disk and not memory and nothing is left behind by a crash
// (DESIGN.md §3.2).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "mailonce/base/result.h"

namespace mailonce {

struct BlobOptions {
  std::size_t memory_octets = 1024 * 1024;  // more than this goes to a file
  std::string directory = "/tmp";           // where the file is made (O_TMPFILE, or mkstemp and unlink)
};

// Owned by one transaction, not shared between threads. Movable.
class Blob {
 public:
  explicit Blob(BlobOptions options = {});
  ~Blob();
  Blob(Blob&& other) noexcept;
  Blob& operator=(Blob&& other) noexcept;

  // Fails with the errno of the file system (ENOSPC, EDQUOT, EMFILE); the blob is then unusable but for
  // clear().
  Result<> append(std::string_view octets);
  std::uint64_t size() const noexcept { return size_; }
  bool in_file() const noexcept { return descriptor_ >= 0; }
  // All octets, contiguous; a file is mapped at the first call. Valid until the next append, clear or move.
  Result<std::string_view> view() const;
  void clear() noexcept;

 private:
  Result<> spill();
  Result<> write_file(std::string_view octets);
  void unmap() const noexcept;

  BlobOptions options_;
  std::string memory_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  mutable void* mapping_ = nullptr;
  mutable std::uint64_t mapped_octets_ = 0;
};

}  // namespace mailonce
