// mailonce window: what an operator sees of the records, and what he decides about them, on a live store.
#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <ostream>
#include <tuple>

#include "commands.h"
#include "mailonce/base/random.h"
#include "mailonce/cli/run.h"
#include "mailonce/window/shared.h"
#include "record_filter.h"
#include "record_text.h"

namespace mailonce::cli {
namespace {

using boost::asio::awaitable;
using window::StoredRecord;
using window::Verb;
using What = WindowCommand::What;

// Whatever concerns neither the store nor the identity (an upstream that is not named) is no reason not to
// look.
std::optional<config::Configuration> configuration_of(const WindowCommand& command, Streams streams) {
  auto loaded = config::load(command.config, command.overrides);
  bool usable = true;
  for (const auto& error : loaded.report.errors) {
    if (error.key.starts_with("upstream") || error.key.starts_with("listen") || error.key.starts_with("log"))
      continue;
    streams.err << "error: " << error.text() << '\n';
    usable = false;
  }
  if (!usable) return std::nullopt;
  if (loaded.configuration.window.kind == window::Kind::memory) {
    streams.err
        << "error: store memory: lives in the relay's process, nobody else sees it; name the store with "
           "--config or --store\n";
    return std::nullopt;
  }
  return std::move(loaded.configuration);
}

// Opening would make it, and show an empty window.
bool there(const window::Options& options, Streams streams) {
  if (options.kind != window::Kind::sqlite || std::filesystem::exists(options.sqlite.path)) return true;
  streams.err << "error: store sqlite:" << options.sqlite.path
              << ": no such file; name the relay's with --config or --store\n";
  return false;
}

struct Work {
  const WindowCommand& command;
  const RecordFilter& filter;
  window::Store& store;
  Streams streams;
  std::vector<StoredRecord> found;
  std::size_t left_alone = 0;
  error_code failure;
};

awaitable<void> find(Work& work) {
  const auto now = SystemClock().now();
  const std::function<void(const StoredRecord&)> see = [&](const StoredRecord& stored) {
    if (work.filter.matches(stored, now)) work.found.push_back(stored);
  };
  auto visited = co_await work.store.visit(see);
  if (!visited) work.failure = visited.error();
  // A store may show one twice.
  auto& found = work.found;
  const auto key = [](const StoredRecord& stored) { return std::tie(stored.fingerprint, stored.recipient); };
  std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  const auto same = [&](const auto& a, const auto& b) { return key(a) == key(b); };
  found.erase(std::unique(found.begin(), found.end(), same), found.end());
  const auto older = [](const auto& a, const auto& b) { return a.record.at < b.record.at; };
  std::stable_sort(found.begin(), found.end(), older);
}

Verb verb_of(What what) {
  switch (what) {
    case What::resolve_sent:
      return Verb::resolve_sent;
    case What::resolve_not_sent:
      return Verb::resolve_not_sent;
    default:
      return Verb::forget;
  }
}

std::string_view done_by(What what) {
  switch (what) {
    case What::resolve_sent:
      return "sent";
    case What::resolve_not_sent:
      return "not sent: the next attempt is forwarded";
    default:
      return "forgotten: the next attempt is forwarded";
  }
}

// What the store did with the record, by what it found.
std::string_view judge(What what, const window::StepResult& result) {
  const auto kind = window::classify(result.before.at(0), "-", result.now);
  if (result.blocked) return "left: an attempt is under way; its lease ends it if nobody lives";
  if (kind == window::Class::absent) return "gone";
  if (what != What::forget && kind != window::Class::doubt) return "left: it is not in doubt";
  return done_by(what);
}

void tell(Work& work, const StoredRecord& stored, TimePoint now, std::string_view done) {
  if (done.starts_with("left")) ++work.left_alone;
  work.streams.out << (work.command.json ? record_json(stored, now, done)
                                         : record_line(stored, now) + " -> " + std::string(done))
                   << '\n';
}

awaitable<void> decide(Work& work, const StoredRecord& stored) {
  // Of what content it was nobody can tell: a repeat under its key would be refused as another message.
  if (stored.record.unreadable && work.command.what == What::resolve_sent) {
    tell(work, stored, SystemClock().now(), "left: it can not be read; resolve not-sent or forget it");
    co_return;
  }
  const auto owner = random_token();
  const std::vector<std::string> recipients{stored.recipient};
  window::Step step;
  step.verb = verb_of(work.command.what);
  step.fingerprint = stored.fingerprint;
  step.recipients = recipients;
  step.particulars.owner = owner;
  step.particulars.window = stored.left;
  step.particulars.message_id = stored.record.message_id;
  step.particulars.content = stored.record.content;
  step.particulars.upstream = "operator";
  step.particulars.reply_code = 250;
  step.particulars.reply_text = "2.0.0 Sent before";
  auto result = co_await work.store.step(step);
  if (!result) work.failure = result.error();
  if (!result) co_return;
  tell(work, stored, result->now, judge(work.command.what, *result));
}

void print(const Work& work) {
  const auto now = SystemClock().now();
  auto& out = work.streams.out;
  for (const auto& stored : work.found) {
    if (work.command.json) {
      out << record_json(stored, now) << '\n';
    } else if (work.command.what == What::show) {
      out << (&stored == &work.found.front() ? "" : "\n") << record_page(stored, now);
    } else {
      out << record_line(stored, now) << '\n';
    }
  }
}

awaitable<void> carry_out(Work& work) {
  co_await find(work);
  if (work.failure) co_return;
  if (work.command.what == What::list || work.command.what == What::show) {
    print(work);
    co_return;
  }
  for (const auto& stored : work.found) {
    co_await decide(work, stored);
    if (work.failure) co_return;
  }
}

bool names_any(const RecordsWanted& wanted) {
  return wanted.doubt || !wanted.fingerprint.empty() || !wanted.message_id.empty() ||
         !wanted.recipient.empty() || !wanted.key.empty();
}

}  // namespace

int window(const WindowCommand& command, Streams streams) {
  if (command.what != What::list && !names_any(command.wanted)) {
    streams.err
        << "mailonce: say which records: --fingerprint, --message-id, --recipient, --key or --doubt\n";
    return exit_code::wrong;
  }
  auto configuration = configuration_of(command, streams);
  if (!configuration || !there(configuration->window, streams)) return exit_code::wrong;
  const auto filter = RecordFilter::make(command.wanted, configuration->relay, streams);
  if (!filter) return exit_code::wrong;

  boost::asio::io_context context(1);
  const auto store = window::open_store(context.get_executor(), configuration->window);
  Work work{command, *filter, *store, streams, {}, 0, {}};
  std::exception_ptr broken;
  boost::asio::co_spawn(
      context, [&] { return carry_out(work); },
      [&](std::exception_ptr exception) {
        broken = exception;
        context.stop();
      });
  context.run();
  if (broken) std::rethrow_exception(broken);
  if (work.failure) {
    streams.err << "error: store: " << work.failure.message() << '\n';
    return exit_code::failed;
  }
  if (work.found.empty()) {
    streams.err << "no record matches; mailonce window list shows all\n";
    return command.what == What::list ? exit_code::ok : exit_code::failed;
  }
  return work.left_alone > 0 ? exit_code::failed : exit_code::ok;
}

}  // namespace mailonce::cli
