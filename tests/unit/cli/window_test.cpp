// mailonce window, over an SQLite file that a step of the protocol wrote.
#include <gmock/gmock.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "fixture.h"
#include "mailonce/message/identity.h"
#include "mailonce/sqlite/database.h"
#include "mailonce/window/shared.h"

namespace mailonce::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using window::Verb;

class WindowCommandLine : public CommandLine {
 protected:
  WindowCommandLine() { options_.sqlite.path = (folder_ / "window.db").string(); }

  std::string url() const { return "sqlite:" + options_.sqlite.path; }

  window::StepResult step(Verb verb, const Digest& fingerprint, std::string recipient = "ada@example.net") {
    const std::vector<std::string> recipients{message::recipient_digest(recipient, "")};
    window::Step out;
    out.verb = verb;
    out.fingerprint = fingerprint;
    out.recipients = recipients;
    out.particulars.owner = "someone";
    out.particulars.lease = seconds(30);
    out.particulars.window = seconds(7200);
    out.particulars.message_id = "<first@example>";
    out.particulars.content = "content";
    out.particulars.upstream = "ses";
    out.particulars.reply_code = 250;
    out.particulars.reply_text = "Ok 0100";
    window::StepResult result;
    boost::asio::io_context io;
    const auto store = window::open_store(io.get_executor(), options_);
    const auto run = [&]() -> boost::asio::awaitable<void> {
      auto done = co_await store->step(out);
      result = std::move(done.value());
    };
    boost::asio::co_spawn(io, run, [](std::exception_ptr failed) {
      if (failed) std::rethrow_exception(failed);
    });
    io.run();
    return result;
  }
  window::State state_of(const Digest& fingerprint) { return step(Verb::look, fingerprint).before[0].state; }

  int window(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "window");
    arguments.insert(arguments.end(), {"--store", url()});
    return mailonce(std::move(arguments));
  }

  window::Options options_;
  const Digest sent_ = sha256("sent");
  const Digest doubt_ = sha256("doubt");
  const Digest alive_ = sha256("alive");
  void fill() {
    step(Verb::commit, sent_);
    step(Verb::doubt, doubt_, "Bob@EXAMPLE.net");
    step(Verb::doubt, doubt_, "Bob@example.net");
    step(Verb::claim_resend, alive_);
    step(Verb::begin, alive_);
  }
};

TEST_F(WindowCommandLine, ListShowsEveryRecordInALine) {
  fill();
  EXPECT_EQ(window({"list"}), 0);
  EXPECT_THAT(out(), HasSubstr(" sent fingerprint=" + sent_.base64url()));
  EXPECT_THAT(out(), HasSubstr(" doubt fingerprint=" + doubt_.base64url()));
  EXPECT_THAT(out(), HasSubstr(" sending fingerprint=" + alive_.base64url()));
  EXPECT_THAT(out(), HasSubstr(R"(message_id=<first@example> upstream=ses reply="250 Ok 0100" ends_in=)"));
  EXPECT_EQ(window({"list", "--doubt"}), 0);
  EXPECT_THAT(out(), HasSubstr(doubt_.base64url()));
  EXPECT_THAT(out(), Not(HasSubstr(sent_.base64url())));
  EXPECT_EQ(window({"list", "--json", "--fingerprint", sent_.base64url().substr(0, 8)}), 0);
  EXPECT_THAT(out(), StartsWith(R"({"state":"sent","since":"20)"));
}

TEST_F(WindowCommandLine, RecordsAreMeantByWhatAPersonKnows) {
  fill();
  const message::Strategy key{message::Strategy::Kind::key, {}};
  const auto keyed = message::fingerprint_of_value("order-1001", "default", key, "");
  step(Verb::commit, keyed);
  const std::pair<std::vector<std::string>, Digest> rows[] = {
      {{"--recipient", "Bob@Example.NET", "--doubt"}, doubt_},
      {{"--key", "order-1001"}, keyed},
      {{"--message-id", "first@example", "--fingerprint", sent_.base64url()}, sent_},
  };
  for (const auto& [arguments, fingerprint] : rows) {
    auto all = arguments;
    all.insert(all.begin(), "show");
    EXPECT_EQ(window(all), 0) << arguments[0];
    EXPECT_THAT(out(), HasSubstr("fingerprint   " + fingerprint.base64url())) << arguments[0];
    EXPECT_EQ(out().find("state "), out().rfind("state ")) << "one record: " << out();
  }
  EXPECT_EQ(window({"show", "--recipient", "nobody@example.org"}), 1);
  EXPECT_THAT(err(), HasSubstr("no record matches"));
}

TEST_F(WindowCommandLine, ResolveDecidesAboutDoubtAlone) {
  fill();
  EXPECT_EQ(window({"resolve", "sent", "--doubt", "--recipient", "Bob@example.net"}), 0);
  EXPECT_THAT(out(), HasSubstr(" -> sent\n"));
  const auto resolved = step(Verb::claim_defer, doubt_, "Bob@example.net");
  EXPECT_EQ(resolved.before[0].state, window::State::sent);
  EXPECT_EQ(resolved.before[0].reply.code, 250);
  EXPECT_EQ(resolved.before[0].message_id, "<first@example>");

  EXPECT_EQ(window({"resolve", "not-sent", "--doubt"}), 0);
  EXPECT_THAT(out(), HasSubstr(" -> not sent"));
  EXPECT_EQ(window({"resolve", "not-sent", "--fingerprint", sent_.base64url()}), 1);
  EXPECT_THAT(out(), HasSubstr("left: it is not in doubt"));
  EXPECT_EQ(state_of(sent_), window::State::sent);
}

TEST_F(WindowCommandLine, WhatCanNotBeReadIsNotCalledSent) {
  fill();
  auto database = sqlite::Database::open(options_.sqlite.path, seconds(1));
  ASSERT_TRUE(database && database->execute("UPDATE record SET state = '?' WHERE state = 'S'"));
  EXPECT_EQ(window({"resolve", "sent", "--fingerprint", sent_.base64url()}), 1);
  EXPECT_THAT(out(), HasSubstr(" unreadable "));
  EXPECT_THAT(out(), HasSubstr("left: it can not be read"));
  EXPECT_EQ(window({"resolve", "not-sent", "--fingerprint", sent_.base64url()}), 0);
  EXPECT_EQ(state_of(sent_), window::State::absent);
}

TEST_F(WindowCommandLine, ForgetLeavesAnAttemptUnderWay) {
  fill();
  EXPECT_EQ(window({"forget", "--message-id", "<first@example>"}), 1);
  EXPECT_THAT(out(), HasSubstr("left: an attempt is under way"));
  EXPECT_EQ(state_of(sent_), window::State::absent);
  EXPECT_EQ(state_of(alive_), window::State::sending);
}

TEST_F(WindowCommandLine, MistakesAreToldBeforeAnythingIsTouched) {
  EXPECT_EQ(window({"forget"}), 2);
  EXPECT_THAT(err(), HasSubstr("say which records"));
  EXPECT_EQ(window({"list"}), 2);
  EXPECT_THAT(err(), HasSubstr("no such file"));
  EXPECT_FALSE(std::filesystem::exists(options_.sqlite.path));
  EXPECT_EQ(mailonce({"window", "list", "--store", "memory:"}), 2);
  EXPECT_THAT(err(), HasSubstr("lives in the relay's process"));
  fill();
  EXPECT_EQ(window({"list", "--recipient", "not an address"}), 2);
  EXPECT_THAT(err(), HasSubstr("write it as in"));
  EXPECT_EQ(window({"forget", "--fingerprint", sent_.base64url().substr(0, 7)}), 2);
  EXPECT_THAT(err(), HasSubstr("at least its first 8 characters"));
  EXPECT_EQ(state_of(sent_), window::State::sent);
  EXPECT_EQ(mailonce({"window"}), 2);
  EXPECT_EQ(mailonce({"window", "resolve"}), 2);
  write("junk", "this is no database, but long enough to look like one; " + std::string(4096, 'x'));
  EXPECT_EQ(mailonce({"window", "list", "--store", "sqlite:" + (folder_ / "junk").string()}), 1);
  EXPECT_THAT(err(), HasSubstr("error: store: SQLite: "));
}

}  // namespace
}  // namespace mailonce::cli
