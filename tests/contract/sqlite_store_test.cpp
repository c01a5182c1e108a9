// What is SQLite's own: a file that outlives its processes, fills its disk, is damaged, removed or not ours.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "mailonce/sqlite/database.h"
#include "mailonce/window/error.h"
#include "mailonce/window/shared.h"
#include "run.h"
#include "stores.h"

namespace mailonce::window {
namespace {

using test::eventually;
using test::Folder;
using test::nap;
using test::quiet_log;
using test::run;

struct File {
  Folder folder;
  const std::string path = (folder.path / "state" / "window.db").string();

  std::shared_ptr<Store> open(boost::asio::io_context& io, Durability durability = Durability::disk) const {
    return std::make_shared<SqliteStore>(io.get_executor(), make_sqlite_writer({path, durability}));
  }
};

awaitable<Result<StepResult>> step(Store& store, Verb verb, std::string message = "mail",
                                   milliseconds window = milliseconds(7'200'000)) {
  auto attempt = test::attempt_on(std::move(message));
  attempt.window = window;
  co_return co_await store.step(attempt.step(verb));
}

awaitable<State> state_of(Store& store, std::string message = "mail") {
  auto found = co_await step(store, Verb::look, message);
  EXPECT_TRUE(found) << found.error().message();
  co_return found ? found->before[0].state : State::absent;
}

std::int64_t rows(const std::string& path) {
  auto database = sqlite::Database::open(path, milliseconds(1000));
  if (!database) return -1;
  const auto number = database->number("SELECT count(*) FROM record");
  return number ? *number : -1;
}

std::string octets_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void execute(const std::string& path, const char* sql) {
  auto database = sqlite::Database::open(path, milliseconds(1000));
  ASSERT_TRUE(database);
  const auto done = database->execute(sql);
  ASSERT_TRUE(done) << done.error().message();
}

TEST(SqliteRecords, OutliveTheProcessThatWroteThem) {
  File file;
  for (const auto durability : {Durability::disk, Durability::process}) {
    run([&](boost::asio::io_context& io) -> awaitable<void> {
      const auto store = file.open(io, durability);
      auto sent = co_await step(*store, Verb::commit, std::to_string(static_cast<int>(durability)));
      EXPECT_TRUE(sent);
    });
  }
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    const auto store = file.open(io);
    for (const auto* message : {"0", "1"}) {
      auto found = co_await step(*store, Verb::look, message);
      EXPECT_TRUE(found && found->before[0].state == State::sent) << message;
      EXPECT_EQ(found->before[0].message_id, "<me@example>");
      EXPECT_EQ(found->before[0].reply.text, "Ok 0100");
    }
  });
}

TEST(SqliteRecords, AreReadableByTheirOwnerAlone) {
  File file;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    const auto store = file.open(io);
    co_await step(*store, Verb::commit);
    for (const auto* suffix : {"", "-wal", "-shm"}) {
      const auto mode = std::filesystem::status(file.path + suffix).permissions();
      EXPECT_EQ(static_cast<unsigned>(mode), 0600U) << suffix;
    }
    const auto folder = std::filesystem::status(std::filesystem::path(file.path).parent_path()).permissions();
    EXPECT_EQ(static_cast<unsigned>(folder), 0700U);
  });
}

TEST(SqliteRecords, GoWhenTheyHaveEnded) {
  File file;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    const auto store = file.open(io);
    for (int i = 0; i < 700; ++i)
      co_await step(*store, Verb::commit, "short" + std::to_string(i), milliseconds(1));
    co_await step(*store, Verb::commit, "long");
    const auto gone = [&]() -> awaitable<bool> { co_return rows(file.path) == 1; };
    bool swept = co_await eventually(gone);
    EXPECT_TRUE(swept) << rows(file.path);
    auto kept = co_await state_of(*store, "long");
    EXPECT_EQ(kept, State::sent);
  });
}

TEST(SqliteRecords, AreVisitedOnceEachByTheThousand) {
  File file;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    const auto store = file.open(io, Durability::process);
    for (int i = 0; i < 2500; ++i) co_await step(*store, Verb::commit, std::to_string(i));
    std::set<Digest> seen;
    const std::function<void(const StoredRecord&)> see = [&](const StoredRecord& stored) {
      EXPECT_TRUE(seen.insert(stored.fingerprint).second);
      EXPECT_EQ(stored.recipient, "AAAA");
      EXPECT_GT(stored.left, milliseconds(7'000'000));
    };
    auto visited = co_await store->visit(see);
    EXPECT_TRUE(visited);
    EXPECT_EQ(seen.size(), 2500U);
  });
}

TEST(SqliteFile, ThatAnotherProcessHoldsIsAnErrorAndServesAgainAfterwards) {
  File file;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    const auto store = file.open(io);
    co_await step(*store, Verb::commit, "before");
    {
      // For longer than a step may take.
      auto other = sqlite::Database::open(file.path, milliseconds(1000));
      EXPECT_TRUE(other && other->execute("BEGIN IMMEDIATE"));
      auto held = co_await step(*store, Verb::commit, "meanwhile");
      EXPECT_FALSE(held);
    }
    const auto again = [&]() -> awaitable<bool> {
      auto done = co_await step(*store, Verb::commit, "after");
      co_return done.has_value();
    };
    bool served = co_await eventually(again);
    EXPECT_TRUE(served);
    auto before = co_await state_of(*store, "before");
    EXPECT_EQ(before, State::sent);
  });
}

TEST(SqliteFile, ThatIsDamagedIsAnErrorAndNeverAWrongAnswer) {
  File file;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    {
      const auto store = file.open(io);
      for (int i = 0; i < 200; ++i) co_await step(*store, Verb::commit, std::to_string(i));
    }
    std::filesystem::remove(file.path + "-wal");
    std::fstream spoilt(file.path, std::ios::in | std::ios::out | std::ios::binary);
    spoilt.seekp(100);
    spoilt << std::string(100'000, 'x');
    spoilt.close();
    const auto store = file.open(io);
    auto asked = co_await step(*store, Verb::claim_resend, "0");
    EXPECT_FALSE(asked);
    EXPECT_NE(asked.error().message().find("move it away with its -wal and -shm"), std::string::npos)
        << asked.error().message();
    std::filesystem::rename(file.path, file.path + ".damaged");
    const auto served = [&]() -> awaitable<bool> {
      auto claimed = co_await step(*store, Verb::claim_resend, "0");
      co_return claimed.has_value();
    };
    bool back = co_await eventually(served);
    EXPECT_TRUE(back);
  });
}

TEST(SqliteFile, ThatIsRemovedIsMadeAgain) {
  File file;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    const auto store = file.open(io);
    co_await step(*store, Verb::commit, "lost");
    for (const auto* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.path + suffix);
    const auto made = [&]() -> awaitable<bool> {
      co_await step(*store, Verb::commit, "new");
      co_return std::filesystem::exists(file.path);
    };
    bool there = co_await eventually(made);
    EXPECT_TRUE(there);
    const auto other = file.open(io);
    auto found = co_await state_of(*other, "new");
    EXPECT_EQ(found, State::sent);
  });
}

TEST(SqliteFile, ThatIsRemovedIsToldOnce) {
  File file;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    const auto store = file.open(io);
    co_await step(*store, Verb::commit);
    for (const auto* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(file.path + suffix);
    int told = 0;
    const auto served_anew = [&]() -> awaitable<bool> {
      auto asked = co_await step(*store, Verb::look);
      if (!asked && asked.error() == Errc::file_gone) ++told;
      co_return asked&& told > 0;
    };
    bool served = co_await eventually(served_anew);
    EXPECT_TRUE(served);
    EXPECT_EQ(told, 1);
  });
}

TEST(SqliteFile, OfAnotherApplicationOrALaterVersionIsLeftAlone) {
  const std::pair<const char*, Errc> cases[] = {
      {"CREATE TABLE theirs (x)", Errc::another_application},
      {"PRAGMA application_id = 77", Errc::another_application},
      {"PRAGMA application_id = 0x6d6c6f6e; PRAGMA user_version = 2", Errc::later_version},
  };
  for (const auto& [sql, expected] : cases) {
    File file;
    std::filesystem::create_directories(std::filesystem::path(file.path).parent_path());
    execute(file.path, sql);
    const auto before = octets_of(file.path);
    run([&, expected = expected](boost::asio::io_context& io) -> awaitable<void> {
      const auto store = file.open(io);
      auto asked = co_await step(*store, Verb::claim_resend);
      EXPECT_FALSE(asked);
      EXPECT_EQ(asked.error(), expected) << asked.error().message();
    });
    EXPECT_EQ(octets_of(file.path), before);
  }
}

TEST(SqliteFile, WithARowNobodyCanReadIsDoubtOfThatRecipientAlone) {
  File file;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    const auto store = file.open(io);
    for (const auto* spoilt : {"state = 'q'", "state = 'S', code = 550"}) {
      co_await step(*store, Verb::commit);
      execute(file.path, (std::string("UPDATE record SET ") + spoilt).c_str());
      auto found = co_await step(*store, Verb::look);
      EXPECT_TRUE(found && found->before[0].unreadable) << spoilt;
      auto claimed = co_await step(*store, Verb::claim_suppress);
      EXPECT_TRUE(claimed && !claimed->blocked);
      auto sent = co_await step(*store, Verb::commit);
      EXPECT_TRUE(sent);
      auto state = co_await state_of(*store);
      EXPECT_EQ(state, State::sent);
    }
  });
}

// Four processes' threads on one file: no step is lost, none is carried out twice.
TEST(SqliteFile, IsSharedByProcessesThatWriteAtOnce) {
  File file;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    std::vector<std::shared_ptr<Store>> stores;
    for (int i = 0; i < 4; ++i) stores.push_back(file.open(io));
    int mine = 0;
    int ended = 0;
    const auto claim_all = [&](std::size_t who) -> awaitable<void> {
      for (int i = 0; i < 50; ++i) {
        const auto attempt = test::attempt_on(std::to_string(i), "owner" + std::to_string(who));
        auto claimed = co_await stores[who]->step(attempt.step(Verb::claim_resend));
        EXPECT_TRUE(claimed) << claimed.error().message();
        if (claimed && !claimed->blocked) ++mine;
      }
      ++ended;
    };
    for (std::size_t who = 0; who < stores.size(); ++who) {
      boost::asio::co_spawn(
          io, [&claim_all, who] { return claim_all(who); }, [](std::exception_ptr) {});
    }
    const auto all = [&]() -> awaitable<bool> { co_return ended == 4; };
    bool done = co_await eventually(all);
    EXPECT_TRUE(done);
    EXPECT_EQ(mine, 50);
  });
}

// Relays that start together on a file that is not there yet: none takes another's half-made one for a
// stranger's.
TEST(SqliteFile, IsMadeByProcessesThatStartAtOnce) {
  constexpr int rounds = 100;
  constexpr std::size_t relays = 4;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    for (int round = 0; round < rounds; ++round) {
      const File file;
      std::vector<std::shared_ptr<Store>> stores;
      for (std::size_t i = 0; i < relays; ++i) stores.push_back(file.open(io));
      std::size_t mine = 0;
      std::size_t ended = 0;
      const auto claim = [&](std::size_t who) -> awaitable<void> {
        const auto attempt = test::attempt_on("mail", "owner" + std::to_string(who));
        auto claimed = co_await stores[who]->step(attempt.step(Verb::claim_resend));
        EXPECT_TRUE(claimed) << claimed.error().message();
        if (claimed && !claimed->blocked) ++mine;
        ++ended;
      };
      for (std::size_t who = 0; who < relays; ++who) {
        boost::asio::co_spawn(
            io, [&claim, who] { return claim(who); }, [](std::exception_ptr) {});
      }
      const auto all = [&]() -> awaitable<bool> { co_return ended == relays; };
      bool done = co_await eventually(all);
      EXPECT_TRUE(done);
      EXPECT_EQ(mine, 1U) << "round " << round;
    }
  });
}

TEST(SqliteFile, IsLeftToOthersNowAndThenByAProcessThatAlwaysHasWork) {
  File file;
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    const auto busy = file.open(io);
    const auto other = file.open(io);
    bool enough = false;
    int working = 8;
    const auto work = [&](int who) -> awaitable<void> {
      for (int i = 0; !enough; ++i) co_await step(*busy, Verb::commit, std::to_string(who * 100'000 + i));
      --working;
    };
    for (int who = 0; who < 8; ++who)
      boost::asio::co_spawn(
          io, [&work, who] { return work(who); }, [](std::exception_ptr) {});
    for (int i = 0; i < 20; ++i) {
      auto served = co_await step(*other, Verb::commit, "other" + std::to_string(i));
      EXPECT_TRUE(served) << served.error().message();
    }
    enough = true;
    const auto rested = [&]() -> awaitable<bool> { co_return working == 0; };
    bool ended = co_await eventually(rested);
    EXPECT_TRUE(ended);
  });
}

// The whole window of a process, as the relay opens it, while the file can not be used and after.
TEST(SqliteWindow, ThatIsLockedOutGoesOnInMemoryAndWritesBack) {
  File file;
  Options options;
  options.kind = Kind::sqlite;
  options.sqlite = {file.path, Durability::disk, milliseconds(100)};
  Shared shared(options);
  run([&](boost::asio::io_context& io) -> awaitable<void> {
    auto window = shared.open(io, quiet_log());
    auto answered = co_await window->ping();
    EXPECT_TRUE(answered);
    auto other = sqlite::Database::open(file.path, milliseconds(1000));
    EXPECT_TRUE(other && other->execute("BEGIN IMMEDIATE"));
    const auto request = test::claim_on();
    auto answer = co_await window->claim(request);
    EXPECT_TRUE(answer && answer->claim);
    EXPECT_EQ(answer->source, Source::local);
    std::string goes_out = "<first@example>";
    auto begun = co_await answer->claim->begin(std::move(goes_out));
    EXPECT_TRUE(begun && *begun == Begun::sending);
    smtp::Reply reply{250, "Ok"};
    bool stored = co_await answer->claim->commit(reply, "ses");
    EXPECT_FALSE(stored);
    EXPECT_TRUE(shared.figures().store_down);
    EXPECT_TRUE(other->execute("ROLLBACK"));
    const auto back = [&]() -> awaitable<bool> {
      const auto figures = shared.figures();
      co_return !figures.store_down && figures.to_write_back == 0;
    };
    bool settled = co_await eventually(back);
    EXPECT_TRUE(settled);
    const auto store = file.open(io);
    auto state = co_await state_of(*store);
    EXPECT_EQ(state, State::sent);
    window.reset();
  });
}

}  // namespace
}  // namespace mailonce::window
