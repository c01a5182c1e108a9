// One connection to an SQLite file, and its prepared statements. Blocking; used by one thread at a time.
// Errors: sqlite::category().
#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "mailonce/base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace mailonce::sqlite {

class Database;

// (Not a bool: an error_code is one, too.)
enum class Row { found, none };

// Prepared once, run many times. Must end before its database.
class Statement {
 public:
  Statement() = default;

  // Parameters by their number, from 1. Octets are borrowed until the statement is run to its end or reset.
  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, std::string_view text);
  Statement& bind_blob(int parameter, std::string_view octets);

  // The next row; `none`: the statement may be bound anew.
  Result<Row> next();
  // Runs a statement without rows, or without interest in them.
  Result<> run();
  void reset() noexcept;

  // Columns of the row, from 0. Views live until the next row.
  std::int64_t integer(int column) const noexcept;
  std::string_view octets(int column) const noexcept;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  // Makes the file if there is none, readable by its owner alone. A lock that another process holds is waited
  // for, at most `patience` each time.
  static Result<Database> open(const std::string& path, std::chrono::milliseconds patience);

  Result<Statement> prepare(std::string_view sql);
  Result<> execute(const char* sql);
  // Of a PRAGMA or query with one row of one number.
  Result<std::int64_t> number(std::string_view sql);
  // Rows the last INSERT, UPDATE or DELETE touched.
  std::int64_t changes() const noexcept;
  bool in_transaction() const noexcept;

 private:
  struct Close {
    void operator()(sqlite3* connection) const noexcept;
  };
  std::unique_ptr<sqlite3, Close> connection_;
  std::unique_ptr<std::chrono::milliseconds> patience_;  // at a fixed address: the busy handler's
};

}  // namespace mailonce::sqlite
