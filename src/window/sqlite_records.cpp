#include "sqlite_records.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <thread>

#include "mailonce/sqlite/error.h"
#include "mailonce/window/error.h"
#include "perform.h"

namespace mailonce::window {
namespace {

constexpr std::int64_t application_id = 0x6d6c6f6e;  // "mlon"
constexpr std::int64_t schema_version = 1;

// Times in milliseconds since 1970. `ends` is the last millisecond in which the record is there.
constexpr const char* schema = R"sql(
CREATE TABLE IF NOT EXISTS record (
  fingerprint BLOB NOT NULL,
  recipient TEXT NOT NULL,
  ends INTEGER NOT NULL,
  state TEXT NOT NULL,
  doubtful INTEGER NOT NULL,
  owner TEXT NOT NULL,
  deadline INTEGER NOT NULL,
  at INTEGER NOT NULL,
  message_id BLOB NOT NULL,
  content TEXT NOT NULL,
  upstream TEXT NOT NULL,
  code INTEGER NOT NULL,
  reply BLOB NOT NULL,
  PRIMARY KEY (fingerprint, recipient)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS record_ends ON record (ends);
PRAGMA application_id = 0x6d6c6f6e;
PRAGMA user_version = 1;
)sql";

constexpr std::string_view find_sql =
    "SELECT state, doubtful, owner, deadline, at, message_id, content, upstream, code, reply FROM record "
    "WHERE fingerprint = ?1 AND recipient = ?2 AND ends >= ?3";
constexpr std::string_view put_sql =
    "INSERT OR REPLACE INTO record (fingerprint, recipient, ends, state, doubtful, owner, deadline, at, "
    "message_id, content, upstream, code, reply) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
    "?13)";
constexpr std::string_view prolong_sql =
    "UPDATE record SET ends = ?3 WHERE fingerprint = ?1 AND recipient = ?2 AND ends < ?3";
constexpr std::string_view end_sql = "SELECT ends FROM record WHERE fingerprint = ?1 AND recipient = ?2";
constexpr std::string_view erase_sql = "DELETE FROM record WHERE fingerprint = ?1 AND recipient = ?2";
constexpr std::string_view sweep_sql =
    "DELETE FROM record WHERE (fingerprint, recipient) IN "
    "(SELECT fingerprint, recipient FROM record WHERE ends < ?1 ORDER BY ends LIMIT ?2)";
// In the order of the key, from behind the last one seen: no reader holds the log for long.
constexpr std::string_view visit_sql =
    "SELECT state, doubtful, owner, deadline, at, message_id, content, upstream, code, reply, fingerprint, "
    "recipient, ends FROM record WHERE (fingerprint, recipient) > (?1, ?2) ORDER BY fingerprint, recipient "
    "LIMIT 1000";

std::int64_t count(TimePoint time) {
  return time.time_since_epoch().count();
}

TimePoint time_of(std::int64_t number) {
  return TimePoint(milliseconds(number));
}

std::string_view octets(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()};
}

Digest digest_of(std::string_view octets) {
  Digest out;
  if (octets.size() == out.bytes.size()) std::memcpy(out.bytes.data(), octets.data(), octets.size());
  return out;
}

// What a hand at the console made is doubt about which nothing is known (codec.h).
Record unreadable() {
  Record out;
  out.state = State::sending;
  out.unreadable = true;
  return out;
}

// Columns 0 to 9.
Record read(const sqlite::Statement& row) {
  const auto state = row.octets(0);
  if (state != "c" && state != "s" && state != "S") return unreadable();
  Record out;
  out.state = static_cast<State>(state[0]);
  out.doubtful = row.integer(1) != 0;
  out.owner = row.octets(2);
  out.deadline = time_of(row.integer(3));
  out.at = time_of(row.integer(4));
  out.message_id = row.octets(5);
  out.content = row.octets(6);
  out.upstream = row.octets(7);
  out.reply.code = static_cast<int>(row.integer(8));
  out.reply.text = row.octets(9);
  if (out.state == State::sent && !out.reply.completed()) return unreadable();
  return out;
}

// The version of the schema; 0 for a new file. Inside a transaction.
Result<std::int64_t> recognise(sqlite::Database& database) {
  const auto application = database.number("PRAGMA application_id");
  const auto version = database.number("PRAGMA user_version");
  const auto tables = database.number("SELECT count(*) FROM sqlite_schema");
  for (const auto* asked : {&application, &version, &tables}) {
    if (!*asked) return asked->error();
  }
  if (*application != application_id && (*application != 0 || *tables != 0))
    return make_error_code(Errc::another_application);
  if (*version > schema_version) return make_error_code(Errc::later_version);
  return *version;
}

// In one transaction: between two reads another process may make the file ours, and half of that looks like
// somebody else's.
Result<std::int64_t> recognise_at_once(sqlite::Database& database) {
  const auto begun = database.execute("BEGIN");
  if (!begun) return begun.error();
  const auto version = recognise(database);
  const auto ended = database.execute("COMMIT");
  if (version && !ended) return ended.error();
  return version;
}

// Two processes may make the file at once, and for this change SQLite asks no busy handler.
Result<> use_write_ahead_log(sqlite::Database& database, milliseconds patience) {
  const auto until = SteadyClock::now() + patience;
  for (;;) {
    auto change = database.prepare("PRAGMA journal_mode = WAL");
    if (!change) return change.error();
    const auto row = change->next();
    if (row && *row == sqlite::Row::found && change->octets(0) == "wal") return {};
    // Without an error it stayed as it was: the file system can not share memory.
    if (row) return error_code(SQLITE_IOERR_SHMOPEN, sqlite::category());
    if ((row.error().value() & 0xff) != SQLITE_BUSY || SteadyClock::now() >= until) return row.error();
    change->reset();
    std::this_thread::sleep_for(milliseconds(1));
  }
}

std::optional<std::pair<dev_t, ino_t>> file_at(const std::string& path) noexcept {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return std::pair(status.st_dev, status.st_ino);
}

}  // namespace

// The records of one step's fingerprint. After a failure nothing more is asked, and `failure` says why.
struct SqliteRecords::Shelf {
  SqliteRecords& records;
  std::string_view fingerprint;
  TimePoint now;
  error_code failure;

  Record find(std::string_view recipient) {
    if (failure) return {};
    auto& statement = records.find_;
    statement.bind_blob(1, fingerprint).bind(2, recipient).bind(3, count(now));
    const auto row = statement.next();
    if (!row) failure = row.error();
    if (!row || *row == sqlite::Row::none) return {};
    auto found = read(statement);
    statement.reset();
    return found;
  }
  void put(std::string_view recipient, Record record, TimePoint ends) {
    const char state = static_cast<char>(record.state);
    write(records.put_.bind_blob(1, fingerprint)
              .bind(2, recipient)
              .bind(3, count(ends))
              .bind(4, std::string_view(&state, 1))
              .bind(5, std::int64_t{record.doubtful})
              .bind(6, std::string_view(record.owner))
              .bind(7, count(record.deadline))
              .bind(8, count(record.at))
              .bind_blob(9, record.message_id)
              .bind(10, std::string_view(record.content))
              .bind(11, std::string_view(record.upstream))
              .bind(12, std::int64_t{record.reply.code})
              .bind_blob(13, record.reply.text));
  }
  void prolong(std::string_view recipient, TimePoint ends) {
    write(records.prolong_.bind_blob(1, fingerprint).bind(2, recipient).bind(3, count(ends)));
  }
  TimePoint end_of(std::string_view recipient) {
    if (failure) return {};
    auto& statement = records.end_;
    statement.bind_blob(1, fingerprint).bind(2, recipient);
    const auto row = statement.next();
    if (!row) failure = row.error();
    if (!row || *row == sqlite::Row::none) return {};
    const auto ends = time_of(statement.integer(0));
    statement.reset();
    return ends;
  }
  void erase(std::string_view recipient) {
    write(records.erase_.bind_blob(1, fingerprint).bind(2, recipient));
  }

 private:
  void write(sqlite::Statement& statement) {
    if (failure) return statement.reset();
    const auto written = statement.run();
    if (!written) failure = written.error();
  }
};

SqliteRecords::SqliteRecords(sqlite::Database database, std::string path)
    : path_(std::move(path)), file_(file_at(path_)), database_(std::move(database)) {}

Result<std::unique_ptr<SqliteRecords>> SqliteRecords::open(const SqliteOptions& options) {
  const auto folder = std::filesystem::path(options.path).parent_path();
  std::error_code ignored;  // the file can not be opened then, and that error says so
  if (!folder.empty() && std::filesystem::create_directories(folder, ignored)) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, ignored);
  }
  auto database = sqlite::Database::open(options.path, options.deadline);
  if (!database) return database.error();
  // Nothing is changed in a file that is not ours.
  const auto ours = recognise_at_once(*database);
  if (!ours) return ours.error();
  const auto logged = use_write_ahead_log(*database, options.deadline);
  if (!logged) return logged.error();
  std::unique_ptr<SqliteRecords> records(new SqliteRecords(std::move(*database), options.path));
  const auto made = records->make_schema();
  if (!made) return made.error();
  const auto prepared = records->prepare();
  if (!prepared) return prepared.error();
  return records;
}

Result<> SqliteRecords::make_schema() {
  const auto locked = database_.execute("BEGIN IMMEDIATE");
  if (!locked) return locked;
  const auto version = recognise(database_);
  error_code failure = version ? error_code() : version.error();
  if (!failure && *version < schema_version) {
    const auto made = database_.execute(schema);
    if (!made) failure = made.error();
  }
  if (failure) {
    roll_back();
    return failure;
  }
  return database_.execute("COMMIT");
}

Result<> SqliteRecords::prepare() {
  const auto set = database_.execute("PRAGMA synchronous = FULL");
  if (!set) return set;
  const std::pair<sqlite::Statement*, std::string_view> all[] = {
      {&begin_, "BEGIN IMMEDIATE"}, {&commit_, "COMMIT"}, {&find_, find_sql},   {&put_, put_sql},
      {&prolong_, prolong_sql},     {&end_, end_sql},     {&erase_, erase_sql}, {&sweep_, sweep_sql},
  };
  for (const auto& [statement, sql] : all) {
    auto prepared = database_.prepare(sql);
    if (!prepared) return prepared.error();
    *statement = std::move(*prepared);
  }
  return {};
}

Result<> SqliteRecords::begin(bool durable) {
  if (durable != durable_) {
    const auto set = database_.execute(durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    if (!set) return set;
    durable_ = durable;
  }
  return begin_.run();
}

Result<StepResult> SqliteRecords::step(const Step& step, TimePoint now) {
  Shelf shelf{*this, octets(step.fingerprint), now, {}};
  auto result = perform(step, now, shelf);
  if (shelf.failure) return shelf.failure;
  return result;
}

Result<> SqliteRecords::commit() {
  return commit_.run();
}

void SqliteRecords::roll_back() noexcept {
  // Some errors have rolled back already.
  if (database_.in_transaction()) static_cast<void>(database_.execute("ROLLBACK"));
}

Result<std::size_t> SqliteRecords::sweep(TimePoint now, std::size_t at_most) {
  const auto swept = sweep_.bind(1, count(now)).bind(2, static_cast<std::int64_t>(at_most)).run();
  if (!swept) return swept.error();
  return static_cast<std::size_t>(database_.changes());
}

Result<> SqliteRecords::visit(TimePoint now, const std::function<void(const StoredRecord&)>& see) {
  auto statement = database_.prepare(visit_sql);
  if (!statement) return statement.error();
  std::string fingerprint, recipient;
  for (;;) {
    std::vector<StoredRecord> page;
    const std::string behind = fingerprint;
    statement->bind_blob(1, behind).bind(2, std::string_view(recipient));
    for (;;) {
      const auto row = statement->next();
      if (!row) return row.error();
      if (*row == sqlite::Row::none) break;
      fingerprint = statement->octets(10);
      page.push_back({digest_of(statement->octets(10)), std::string(statement->octets(11)), read(*statement),
                      time_of(statement->integer(12)) - now});
    }
    if (page.empty()) return {};
    recipient = page.back().recipient;
    for (const auto& record : page) {
      if (record.left >= milliseconds(0)) see(record);
    }
  }
}

bool SqliteRecords::in_place() const noexcept {
  return file_ && file_at(path_) == file_;
}

}  // namespace mailonce::window
