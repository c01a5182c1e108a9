#include "mailonce/sqlite/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "mailonce/sqlite/error.h"

namespace mailonce::sqlite {
namespace {

using std::chrono::milliseconds;

error_code code(int value) {
  return {value, category()};
}

Result<> checked(int value) {
  if (value != SQLITE_OK) return code(value);
  return {};
}

// Other processes hold the lock for the time of a write or two: SQLite's own handler would sleep for 100 ms.
int wait_for_lock(void* patience, int tries) {
  constexpr milliseconds pause{1};
  if (pause * tries >= *static_cast<const milliseconds*>(patience)) return 0;
  std::this_thread::sleep_for(pause);
  return 1;
}

// SQLite would make it readable for all; its -wal and -shm files get the same mode. A file that is there is
// not opened: closing it would drop the locks that this process holds on it (fcntl).
void make_private(const std::string& path) {
  const int file = ::open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (file >= 0) ::close(file);
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

Statement& Statement::bind(int parameter, std::int64_t value) {
  sqlite3_bind_int64(statement_.get(), parameter, value);
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), parameter, text.data() ? text.data() : "", text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
  return *this;
}

Statement& Statement::bind_blob(int parameter, std::string_view octets) {
  sqlite3_bind_blob64(statement_.get(), parameter, octets.data() ? octets.data() : "", octets.size(),
                      SQLITE_STATIC);
  return *this;
}

Result<Row> Statement::next() {
  const int value = sqlite3_step(statement_.get());
  if (value == SQLITE_ROW) return Row::found;
  reset();
  if (value == SQLITE_DONE) return Row::none;
  return code(value);
}

Result<> Statement::run() {
  const int value = sqlite3_step(statement_.get());
  reset();
  if (value != SQLITE_DONE && value != SQLITE_ROW) return code(value);
  return {};
}

void Statement::reset() noexcept {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

std::int64_t Statement::integer(int column) const noexcept {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::octets(int column) const noexcept {
  const auto* octets = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
  return octets ? std::string_view(octets, size) : std::string_view();
}

void Database::Close::operator()(sqlite3* connection) const noexcept {
  sqlite3_close_v2(connection);
}

Result<Database> Database::open(const std::string& path, milliseconds patience) {
  make_private(path);
  Database out;
  out.patience_ = std::make_unique<milliseconds>(patience);
  sqlite3* connection = nullptr;
  const int opened = sqlite3_open_v2(
      path.c_str(), &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  out.connection_.reset(connection);
  if (opened != SQLITE_OK) return code(opened);
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_busy_handler(connection, wait_for_lock, out.patience_.get());
  return out;
}

Result<Statement> Database::prepare(std::string_view sql) {
  Statement out;
  sqlite3_stmt* statement = nullptr;
  const int prepared = sqlite3_prepare_v3(connection_.get(), sql.data(), static_cast<int>(sql.size()),
                                          SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  out.statement_.reset(statement);
  if (prepared != SQLITE_OK) return code(prepared);
  return out;
}

Result<> Database::execute(const char* sql) {
  return checked(sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr));
}

Result<std::int64_t> Database::number(std::string_view sql) {
  auto statement = prepare(sql);
  if (!statement) return statement.error();
  auto row = statement->next();
  if (!row) return row.error();
  return *row == Row::found ? statement->integer(0) : 0;
}

std::int64_t Database::changes() const noexcept {
  return sqlite3_changes64(connection_.get());
}

bool Database::in_transaction() const noexcept {
  return sqlite3_get_autocommit(connection_.get()) == 0;
}

}  // namespace mailonce::sqlite
