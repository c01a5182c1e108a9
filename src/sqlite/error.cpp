#include "mailonce/sqlite/error.h"

#include <sqlite3.h>

#include <string>

namespace mailonce::sqlite {
namespace {

int primary(int code) noexcept {
  return code & 0xff;
}

const char* cure(int code) noexcept {
  switch (primary(code)) {
    case SQLITE_FULL:
      return "; free space on its disk";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "; the file is damaged or no SQLite file: stop the relays and move it away with its -wal and "
             "-shm, a new one "
             "is made";
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return "; another process holds the file";
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return "; give the user mailonce runs as the right to write the file and its folder";
    case SQLITE_IOERR:
      return "; the disk failed, or the file system is full or can not lock";
    default:
      return "";
  }
}

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "sqlite"; }
  std::string message(int value) const override {
    return std::string("SQLite: ") + sqlite3_errstr(value) + cure(value);
  }
};

}  // namespace

const boost::system::error_category& category() noexcept {
  static const Category instance;
  return instance;
}

bool is_fatal(const error_code& error) noexcept {
  if (error.category() != category()) return false;
  switch (primary(error.value())) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_FULL:
      return false;
    default:
      return true;
  }
}

}  // namespace mailonce::sqlite
