#include "mailonce/observe/log.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "mailonce/base/random.h"

namespace mailonce::observe {
namespace {

using std::chrono::microseconds;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class LogTest : public testing::Test {
 protected:
  LogTest() : file_(std::filesystem::temp_directory_path() / ("mailonce-log-" + random_token())) {}
  ~LogTest() override { std::filesystem::remove(file_); }

  LogOptions options(Format format = Format::text) const {
    LogOptions options;
    options.format = format;
    options.file = file_;
    return options;
  }
  std::string written() const {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // The line after its time and level.
  std::string one_line(const LogOptions& options, const Decision& decision) {
    std::filesystem::remove(file_);
    Log log(options);
    log.decision(decision);
    log.flush();
    auto text = written();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
    return text;
  }

  std::filesystem::path file_;
};

Decision duplicate() {
  Decision decision;
  decision.outcome = Outcome::duplicate;
  decision.reason = "in_window";
  decision.session = "s1";
  decision.client = "127.0.0.1:4711";
  decision.sender = "app@Example.org";
  decision.recipients = {"bob@example.com", "eve@example.net"};
  decision.message_id = "<2@app>";
  decision.fingerprint = "Zm9v";
  decision.strategy = "content";
  decision.rule = "default";
  decision.source = "store";
  decision.first_age = milliseconds(1500);
  decision.first_message_id = "<1@app>";
  decision.upstream = "ses";
  decision.reply = {250, "2.0.0 Ok 0100"};
  decision.octets = 4096;
  decision.steps.claim = microseconds(250);
  decision.steps.total = microseconds(1'002'003);
  return decision;
}

TEST_F(LogTest, ADecisionInTextSaysWhatAndWhyOnOneLine) {
  EXPECT_THAT(
      one_line(options(), duplicate()),
      HasSubstr("Z info duplicate reason=in_window session=s1 client=127.0.0.1:4711 from=app@Example.org "
                "to=bob@example.com to=eve@example.net message_id=<2@app> fingerprint=Zm9v strategy=content "
                "rule=default source=store first_age_ms=1500.000 first_message_id=<1@app> upstream=ses "
                "reply=\"250 2.0.0 Ok 0100\" octets=4096 claim_ms=0.250 total_ms=1002.003\n"));
}

TEST_F(LogTest, ADecisionInJsonIsOneObjectWithTypedValues) {
  const auto line = one_line(options(Format::json), duplicate());
  EXPECT_THAT(line, StartsWith("{\"time\":\"2"));
  EXPECT_THAT(
      line, HasSubstr(R"(Z","level":"info","event":"decision","outcome":"duplicate","reason":"in_window",)"));
  EXPECT_THAT(line, HasSubstr(R"("to":["bob@example.com","eve@example.net"])"));
  EXPECT_THAT(line, HasSubstr(R"("first_age_ms":1500.000)"));
  EXPECT_THAT(line, HasSubstr(R"("octets":4096,"claim_ms":0.250,"total_ms":1002.003})"));
}

// Python's parser is the judge: whatever octets come in, each line is one object.
TEST_F(LogTest, EveryJsonLineParsesWhateverTheClientSaid) {
  std::string all_octets;
  for (int octet = 0; octet < 256; ++octet) all_octets += static_cast<char>(octet);
  {
    Log log(options(Format::json));
    auto decision = duplicate();
    decision.reason = decision.message_id = decision.first_message_id = all_octets;
    decision.sender = decision.recipients[0] = all_octets;
    decision.reply = {550, all_octets};
    decision.possible_duplicate = decision.content_differs = decision.would_drop = true;
    log.decision(decision);
    log.event(Level::error, "store_down", all_octets, {{"store", all_octets}});
    log.event(Level::info, "nothing", "");
  }
  const auto command =
      "python3 -c 'import json,sys\n"
      "lines=open(sys.argv[1],\"rb\").read().decode(\"utf-8\").split(\"\\n\")\n"
      "assert len(lines)==4 and lines[3]==\"\", len(lines)\n"
      "d=json.loads(lines[0]); e=json.loads(lines[1]); json.loads(lines[2])\n"
      "assert d[\"outcome\"]==\"duplicate\" and d[\"possible_duplicate\"] is True\n"
      "assert e[\"level\"]==\"error\" and e[\"store\"].startswith(\"\\0\\1\\2\")' " +
      file_.string();
  EXPECT_EQ(std::system(command.c_str()), 0) << written();
}

TEST_F(LogTest, AClientCanNotForgeALineOrAField) {
  auto decision = duplicate();
  decision.message_id = "<x>\n2026-01-01T00:00:00.000Z info forwarded reason=new";
  decision.recipients = {"\"a outcome=forwarded\"@example.com"};
  decision.reply = {250, "ok\r\n2026 info forwarded\x1b[2K"};
  const auto line = one_line(options(), decision);
  EXPECT_THAT(line, HasSubstr(R"(message_id="<x>\n2026-01-01T00:00:00.000Z info forwarded reason=new" )"));
  EXPECT_THAT(line, HasSubstr(R"(to="\"a outcome=forwarded\"@example.com")"));
  EXPECT_THAT(line, Not(HasSubstr("\x1b")));
}

TEST_F(LogTest, AddressesCanBeCutToTheirDomain) {
  auto domain = options();
  domain.addresses = Addresses::domain;
  auto decision = duplicate();
  decision.reply = {550, "5.1.1 <bob@example.com>: no such user"};
  const auto line = one_line(domain, decision);
  EXPECT_THAT(line, HasSubstr("from=*@Example.org to=*@example.com to=*@example.net"));
  EXPECT_THAT(line, HasSubstr("<*@example.com>: no such user"));
  EXPECT_THAT(line, Not(HasSubstr("bob")));
}

TEST_F(LogTest, HashedAddressesTellRecipientsApartAndShowNone) {
  auto hashed = options();
  hashed.addresses = Addresses::hashed;
  hashed.address_secret = "a secret of the operator";
  auto decision = duplicate();
  decision.sender.clear();
  decision.recipients = {"bob@example.com", "bob@EXAMPLE.com", "Bob@example.com"};
  decision.reply = {450, "4.2.1 bob@example.com is busy"};
  std::istringstream words(one_line(hashed, decision));
  std::vector<std::string> to;
  for (std::string word; words >> word;) {
    if (word.starts_with("to=")) to.push_back(word);
    EXPECT_THAT(word, Not(HasSubstr("example")));
  }
  ASSERT_EQ(to.size(), 3U);
  EXPECT_EQ(to[0], to[1]);  // domains compare without case, local parts with it
  EXPECT_NE(to[0], to[2]);
  EXPECT_EQ(to[0].size(), std::string("to=#").size() + 16);

  EXPECT_THAT(one_line(hashed, decision), HasSubstr(to[0]));
  hashed.address_secret = "another";
  EXPECT_THAT(one_line(hashed, decision), Not(HasSubstr(to[0])));
  hashed.address_secret.clear();  // a random one: the same address differs between two processes
  EXPECT_NE(one_line(hashed, decision).substr(24), one_line(hashed, decision).substr(24));
}

TEST_F(LogTest, TheNullSenderIsShownAsBrackets) {
  auto decision = duplicate();
  decision.sender.clear();
  EXPECT_THAT(one_line(options(), decision), HasSubstr("from=<> "));
}

TEST_F(LogTest, EventsCarryTheirFieldsAndBelowTheLevelCostNothing) {
  auto warning = options();
  warning.level = Level::warning;
  {
    Log log(warning);
    EXPECT_FALSE(log.enabled(Level::info));
    log.decision(duplicate());
    log.event(Level::info, "session_opened", "hello");
    log.event(Level::warning, "store_down", "the store does not answer",
              {{"store", "redis://h"}, {"error", "a b"}});
    auto doubt = duplicate();
    doubt.outcome = Outcome::doubt;
    log.decision(doubt);
  }
  const auto text = written();
  EXPECT_THAT(
      text, HasSubstr("Z warning store_down \"the store does not answer\" store=redis://h error=\"a b\"\n"));
  EXPECT_THAT(text, HasSubstr("Z warning doubt reason="));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
}

// A warning is what somebody waits for; the limit is far above the writer's own interval.
TEST_F(LogTest, LinesReachTheFileWithoutAFlush) {
  Log log(options());
  log.event(Level::info, "one", "");
  log.event(Level::warning, "two", "");
  const auto limit = SteadyClock::now() + seconds(10);
  while (written().find("two") == std::string::npos && SteadyClock::now() < limit) std::this_thread::yield();
  EXPECT_THAT(written(), HasSubstr("warning two"));
  log.event(Level::info, "three", "");
  while (written().find("three") == std::string::npos && SteadyClock::now() < limit)
    std::this_thread::yield();
  EXPECT_THAT(written(), HasSubstr("info three"));
}

TEST_F(LogTest, LinesOfManyThreadsStayWhole) {
  constexpr int threads = 4, lines = 500;
  {
    Log log(options());
    std::vector<std::jthread> pool;
    for (int t = 0; t < threads; ++t) {
      pool.emplace_back([&log] {
        for (int i = 0; i < lines; ++i) log.decision(duplicate());
      });
    }
  }
  std::istringstream text(written());
  int count = 0;
  for (std::string line; std::getline(text, line); ++count) {
    EXPECT_THAT(line, HasSubstr(" info duplicate "));
    EXPECT_TRUE(line.ends_with("total_ms=1002.003")) << line;
  }
  EXPECT_EQ(count, threads * lines);
}

// A reader that stands still must cost lines, not mail: a log on a pipe nobody reads keeps taking decisions.
TEST_F(LogTest, AReaderThatStandsStillHoldsNobodyUp) {
  ASSERT_EQ(::mkfifo(file_.c_str(), 0600), 0);
  const int reader = ::open(file_.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  {
    Log log(options());
    const auto limit = SteadyClock::now() + seconds(60);
    const std::string text(10'000, 'x');
    for (int i = 0; i < 2000; ++i) log.event(Level::warning, "noise", text);  // 20 MB: more than the buffer
    EXPECT_LT(SteadyClock::now(), limit);
    std::jthread rest([reader] {
      std::string sink(1 << 16, '\0');
      while (::read(reader, sink.data(), sink.size()) != 0) {
      }
    });
    ::fcntl(reader, F_SETFL, 0);
    log.flush();
    rest.detach();
  }
}

TEST_F(LogTest, AFileThatCanNotBeOpenedIsABadStart) {
  LogOptions options;
  options.file = "/nonexistent/mailonce.log";
  EXPECT_THROW(Log{options}, std::runtime_error);
}

TEST(LogToAFullDisk, GoesOnWithoutTheLines) {
  LogOptions options;
  options.file = "/dev/full";
  testing::internal::CaptureStderr();
  {
    Log log(options);
    for (int i = 0; i < 3; ++i) {
      log.event(Level::warning, "lost", "");
      log.flush();
    }
  }
  const auto told = testing::internal::GetCapturedStderr();
  EXPECT_THAT(told, HasSubstr("No space left on device"));
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << "said once, not for every line: " << told;
}

}  // namespace
}  // namespace mailonce::observe
