#include "mailonce/observe/log.h"

#include <spdlog/logger.h>

#include <utility>

#include "addresses.h"
#include "buffered_sink.h"
#include "line.h"

namespace mailonce::observe {
namespace {

spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      break;
  }
  return spdlog::level::err;
}

std::string_view word(Outcome outcome) {
  switch (outcome) {
    case Outcome::forwarded:
      return "forwarded";
    case Outcome::duplicate:
      return "duplicate";
    case Outcome::refused:
      return "refused";
    case Outcome::deferred:
      return "deferred";
    case Outcome::doubt:
      break;
  }
  return "doubt";
}

// Time in UTC; spdlog breaks the time down once a second, not once a line.
const char* pattern(Format format) {
  return format == Format::json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                                : "%Y-%m-%dT%H:%M:%S.%eZ %l %v";
}

void field_unless_empty(Line& line, std::string_view key, std::string_view value) {
  if (!value.empty()) line.field(key, value);
}

void append_steps(Line& line, const Steps& steps) {
  line.milliseconds_of("receive_ms", steps.receive);
  line.milliseconds_of("fingerprint_ms", steps.fingerprint);
  line.milliseconds_of("claim_ms", steps.claim);
  line.milliseconds_of("envelope_ms", steps.envelope);
  line.milliseconds_of("send_ms", steps.send);
  line.milliseconds_of("commit_ms", steps.commit);
  line.milliseconds_of("total_ms", steps.total);
}

void append_identity(Line& line, const Decision& decision) {
  field_unless_empty(line, "message_id", decision.message_id);
  field_unless_empty(line, "fingerprint", decision.fingerprint);
  field_unless_empty(line, "strategy", decision.strategy);
  field_unless_empty(line, "rule", decision.rule);
  field_unless_empty(line, "source", decision.source);
  if (decision.possible_duplicate) line.flag("possible_duplicate");
  if (decision.content_differs) line.flag("content_differs");
  if (decision.would_drop) line.flag("would_drop");
  if (decision.first_age) line.milliseconds_of("first_age_ms", *decision.first_age);
  field_unless_empty(line, "first_message_id", decision.first_message_id);
}

}  // namespace

struct Log::State {
  explicit State(const LogOptions& options)
      : format(options.format),
        mask(options.addresses, options.address_secret),
        sink(std::make_shared<BufferedSink>(options.file)),
        logger("mailonce", sink) {
    logger.set_level(to_spdlog(options.level));
    logger.set_pattern(pattern(options.format), spdlog::pattern_time_type::utc);
  }

  void write(Level level, const Line& line) {
    const auto text = line.view();
    logger.log(to_spdlog(level), spdlog::string_view_t(text.data(), text.size()));
  }

  Format format;
  AddressMask mask;
  std::shared_ptr<BufferedSink> sink;
  spdlog::logger logger;
};

Log::Log(LogOptions options) : state_(std::make_unique<State>(options)) {}
Log::~Log() = default;

void Log::decision(const Decision& decision) {
  const auto level = decision.outcome == Outcome::doubt ? Level::warning : Level::info;
  if (!enabled(level)) return;
  const auto& mask = state_->mask;
  std::vector<std::string> recipients;
  recipients.reserve(decision.recipients.size());
  for (const auto& recipient : decision.recipients) recipients.push_back(mask.address(recipient));
  const auto reply = decision.reply.code == 0 ? std::string() : decision.reply.summary();

  Line line(state_->format);
  line.decision(word(decision.outcome));
  line.field("reason", decision.reason);
  field_unless_empty(line, "session", decision.session);
  field_unless_empty(line, "client", decision.client);
  field_unless_empty(line, "user", mask.leaves_text_alone() ? decision.user : mask.text(decision.user));
  line.field("from", mask.address(decision.sender));
  line.list("to", recipients);
  append_identity(line, decision);
  field_unless_empty(line, "upstream", decision.upstream);
  field_unless_empty(line, "reply", mask.leaves_text_alone() ? reply : mask.text(reply));
  line.number("octets", decision.octets);
  append_steps(line, decision.steps);
  state_->write(level, line);
}

void Log::event(Level level, std::string_view event, std::string_view text,
                std::initializer_list<Field> fields) {
  if (!enabled(level)) return;
  const auto& mask = state_->mask;
  Line line(state_->format);
  line.event(event, mask.leaves_text_alone() ? std::string(text) : mask.text(text));
  for (const auto& [key, value] : fields) {
    const bool as_it_is =
        mask.leaves_text_alone() || key == "message_id";  // looks like an address and is none
    line.field(key, as_it_is ? value : mask.text(value));
  }
  state_->write(level, line);
}

void Log::flush() {
  state_->sink->drain();
}

bool Log::enabled(Level level) const noexcept {
  return state_->logger.should_log(to_spdlog(level));
}

}  // namespace mailonce::observe
