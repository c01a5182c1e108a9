// The records in one SQLite file: schema, statements, the steps themselves. Blocking, for one thread.
#pragma once
#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>

#include "mailonce/sqlite/database.h"
#include "mailonce/window/sqlite_store.h"

namespace mailonce::window {

class SqliteRecords {
 public:
  // Makes folder, file and schema where they are missing.
  static Result<std::unique_ptr<SqliteRecords>> open(const SqliteOptions& options);

  // Steps between begin and commit are one transaction; any error of theirs undoes all of them (roll_back).
  // `durable`: the disk has it when commit returns.
  Result<> begin(bool durable);
  Result<StepResult> step(const Step& step, TimePoint now);
  Result<> commit();
  void roll_back() noexcept;

  // Removes records that have ended; how many it removed.
  Result<std::size_t> sweep(TimePoint now, std::size_t at_most);
  Result<> visit(TimePoint now, const std::function<void(const StoredRecord&)>& see);
  // Whether the path still leads to the open file.
  bool in_place() const noexcept;

 private:
  struct Shelf;
  SqliteRecords(sqlite::Database database, std::string path);
  Result<> make_schema();
  Result<> prepare();

  std::string path_;
  std::optional<std::pair<dev_t, ino_t>> file_;
  sqlite::Database database_;
  bool durable_ = true;
  sqlite::Statement begin_, commit_, find_, put_, prolong_, end_, erase_, sweep_;
};

}  // namespace mailonce::window
