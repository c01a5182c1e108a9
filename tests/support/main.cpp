// scripted-upstream: the scripted upstream as a program. Prints one line of JSON when it listens, then, on
// standard error, a line for each message it accepts. Ends at SIGTERM, SIGINT, or when standard input says so
// (--until-eof).
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "support/control.h"
#include "support/scripted_upstream.h"
#include "support/text.h"

namespace {

using namespace mailonce::test;

constexpr const char* usage = R"(usage: scripted-upstream [OPTION...]
  --profile NAME|FILE    how it behaves: plain (default), ses, mailgun, sendgrid, gmail-relay, office365
  --set TOML             laid over the profile, such as 'auth.required = true'; may be repeated
  --listen ADDR:PORT     where it takes mail (127.0.0.1:0)
  --control ADDR:PORT    where it takes commands; without it, nowhere
  --tls-cert FILE --tls-key FILE   offers STARTTLS with them
  --tls-self-signed FILE offers STARTTLS with a certificate made now for localhost, and writes it there to be trusted
  --implicit-tls         TLS from the first octet
  --fault FAULT          schedules a fault; may be repeated
  --threads N            (1)
  --capture DIR          writes accepted messages there as NNNNNN.eml
  --count-only           remembers numbers only, for benchmarks
  --quiet                no line for each message
  --until-eof            ends when its standard input ends
)";

struct Settings {
  std::string profile = "plain", overrides, listen = "127.0.0.1:0", control, certificate, key, self_signed,
              capture;
  std::vector<std::string> faults;
  std::size_t threads = 1;
  bool implicit_tls = false, count_only = false, quiet = false, until_eof = false;
};

std::pair<std::string, std::uint16_t> split_endpoint(const std::string& text) {
  auto colon = text.rfind(':');
  if (colon == std::string::npos) throw std::invalid_argument("not ADDR:PORT: " + text);
  std::uint16_t port = 0;
  auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size())
    throw std::invalid_argument("not a port: " + text);
  return {text.substr(0, colon), port};
}

Settings parse(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    std::string option = argv[i];
    auto value = [&]() -> std::string {
      if (i + 1 == argc) throw std::invalid_argument(option + " needs a value");
      return argv[++i];
    };
    if (option == "--profile")
      settings.profile = value();
    else if (option == "--set")
      settings.overrides += value() + "\n";
    else if (option == "--listen")
      settings.listen = value();
    else if (option == "--control")
      settings.control = value();
    else if (option == "--tls-cert")
      settings.certificate = value();
    else if (option == "--tls-key")
      settings.key = value();
    else if (option == "--tls-self-signed")
      settings.self_signed = value();
    else if (option == "--implicit-tls")
      settings.implicit_tls = true;
    else if (option == "--fault")
      settings.faults.push_back(value());
    else if (option == "--threads")
      settings.threads = std::stoul(value());
    else if (option == "--capture")
      settings.capture = value();
    else if (option == "--count-only")
      settings.count_only = true;
    else if (option == "--quiet")
      settings.quiet = true;
    else if (option == "--until-eof")
      settings.until_eof = true;
    else
      throw std::invalid_argument("no such option: " + option);
  }
  return settings;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("can not read " + path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

std::optional<Certificate> certificate_of(const Settings& settings) {
  if (!settings.self_signed.empty()) {
    auto made = make_self_signed();
    std::ofstream(settings.self_signed) << made.certificate_pem;
    return made;
  }
  if (settings.certificate.empty()) return std::nullopt;
  return Certificate{read_file(settings.certificate), read_file(settings.key)};
}

void log_accepted(const Accepted& message) {
  std::string to;
  for (const auto& recipient : message.recipients) to += (to.empty() ? "" : ",") + recipient;
  std::fprintf(stderr, "accepted %llu from=<%s> to=<%s> octets=%llu subject=%s reply=%s\n",
               static_cast<unsigned long long>(message.serial), message.sender.c_str(), to.c_str(),
               static_cast<unsigned long long>(message.octets), json_string(message.subject).c_str(),
               json_string(message.reply).c_str());
}

Recorder::Options recording(const Settings& settings) {
  Recorder::Options record;
  record.keep = !settings.count_only;
  record.keep_content = false;
  record.keep_commands = !settings.count_only;
  if (settings.quiet && settings.capture.empty()) return record;
  if (!settings.capture.empty()) std::filesystem::create_directories(settings.capture);
  record.on_accepted = [settings](const Accepted& message, std::string_view content) {
    if (!settings.capture.empty()) {
      std::array<char, 32> name{};
      std::snprintf(name.data(), name.size(), "%06llu.eml", static_cast<unsigned long long>(message.serial));
      std::ofstream file(std::filesystem::path(settings.capture) / name.data(), std::ios::binary);
      file.write(content.data(), static_cast<std::streamsize>(content.size()));
    }
    if (!settings.quiet) log_accepted(message);
  };
  return record;
}

void wait_for_the_end(bool until_eof) {
  sigset_t ends;
  sigemptyset(&ends);
  for (int signal : {SIGTERM, SIGINT}) sigaddset(&ends, signal);
  if (until_eof)
    std::thread([] {
      std::array<char, 256> away;
      while (read(STDIN_FILENO, away.data(), away.size()) > 0) {
      }
      kill(getpid(), SIGTERM);
    }).detach();
  int signal = 0;
  sigwait(&ends, &signal);
}

void block_signals() {
  // Before any thread starts, so that only sigwait sees them.
  sigset_t ends;
  sigemptyset(&ends);
  for (int signal : {SIGTERM, SIGINT}) sigaddset(&ends, signal);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void run(const Settings& settings) {
  block_signals();
  UpstreamOptions options;
  std::tie(options.address, options.port) = split_endpoint(settings.listen);
  options.threads = settings.threads;
  options.implicit_tls = settings.implicit_tls;
  options.certificate = certificate_of(settings);
  options.record = recording(settings);
  ScriptedUpstream upstream(Profile::load(settings.profile, settings.overrides), std::move(options));
  for (const auto& fault : settings.faults) upstream.arm(fault);
  std::unique_ptr<Control> control;
  if (!settings.control.empty()) {
    auto [address, port] = split_endpoint(settings.control);
    control = std::make_unique<Control>(upstream, address, port);
  }
  std::cout << "{\"port\":" << upstream.port();
  if (control) std::cout << ",\"control\":" << control->port();
  std::cout << "}" << std::endl;
  wait_for_the_end(settings.until_eof);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::string_view(argv[1]) == "--help") {
      std::cout << usage;
      return 0;
    }
    run(parse(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "scripted-upstream: " << error.what() << "\n";
    return 2;
  }
}
