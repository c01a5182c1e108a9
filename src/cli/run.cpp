#include "mailonce/cli/run.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <ostream>

#include "commands.h"

namespace mailonce::cli {
namespace {

constexpr const char* about =
    "mailonce: an SMTP relay that sends each message once.\n"
    "It forwards what is new to the upstream and answers a repeat with the upstream's first reply.";

constexpr const char* environment =
    "Environment:\n"
    "  MAILONCE_UPSTREAM_PASSWORD  password of the user named in the upstream's URL, if no file gives one\n"
    "  MAILONCE_STORE_PASSWORD     password of the store, if no file gives one\n"
    "\n"
    "Exit codes:\n"
    "  serve    0 stopped after a complete drain, 1 could not serve or sessions were cut off, 2 wrong "
    "configuration\n"
    "  check    0 in order, 2 not\n"
    "  explain  one message: 0 it has an identity, 1 it has none; two: 0 duplicates, 1 distinct; more: 0 "
    "some are\n"
    "           duplicates, 1 none is; 2 error\n"
    "  window   0 done, 1 the store did not answer, no record matches, or one was left as it is; 2 error";

void add_file(CLI::App& command, std::optional<std::string>& config) {
  command.add_option("--config", config, "The TOML file; conf/mailonce.toml documents every key")
      ->type_name("FILE");
}

void add_store(CLI::App& command, config::Overrides& overrides) {
  command
      .add_option(
          "--store", overrides.store,
          "Keep the window at sqlite:PATH (a file, for one machine; without PATH in the state directory: the "
          "default), redis://HOST:PORT/DATABASE, or memory: (this process alone, forgotten at its end)")
      ->type_name("URL");
}

void add_configuration(CLI::App& command, std::optional<std::string>& config, config::Overrides& overrides) {
  add_file(command, config);
  command
      .add_option(
          "--listen", overrides.listen,
          "Listen here instead of where the file says, 127.0.0.1:2525 without one; may be repeated. Who may "
          "relay stays as the file's first listener says")
      ->type_name("ADDRESS:PORT")
      ->allow_extra_args(false);
  command
      .add_option("--upstream", overrides.upstream,
                  "Forward to smtp://HOST, smtp+starttls://USER@HOST or smtps://USER@HOST, with :PORT if it "
                  "is not the "
                  "usual one")
      ->type_name("URL");
  add_store(command, overrides);
}

struct Commands {
  ServeCommand serve;
  CheckCommand check;
  ExplainCommand explain;
  WindowCommand window;
};

void add_records(CLI::App& command, WindowCommand& window) {
  auto& wanted = window.wanted;
  add_file(command, window.config);
  add_store(command, window.overrides);
  command.add_flag("--doubt", wanted.doubt, "Only those of which nobody knows whether they were sent");
  command.add_option("--fingerprint", wanted.fingerprint,
                     "Of this fingerprint, or one that begins with these 8 or more characters");
  command.add_option("--message-id", wanted.message_id, "That went out under this Message-ID");
  command.add_option("--recipient", wanted.recipient, "To this address")->type_name("ADDRESS");
  command.add_option("--key", wanted.key,
                     "Of messages with this idempotency key, or this value of header:NAME");
  command
      .add_option("--user", wanted.user,
                  "With --key: of the client that logged in as this user of users_file")
      ->type_name("NAME");
  command.add_flag("--json", window.json, "Print one JSON object a line");
}

void describe_window(CLI::App& app, WindowCommand& window) {
  using What = WindowCommand::What;
  auto& command =
      *app.add_subcommand("window", "Look at the records of a live store, and decide about doubt");
  command.require_subcommand(1);
  const auto add = [&window](CLI::App& to, const char* name, const char* text, What what) {
    auto& added = *to.add_subcommand(name, text);
    add_records(added, window);
    added.callback([&window, what] { window.what = what; });
  };
  add(command, "list", "One line a record, the oldest first", What::list);
  add(command, "show", "All that is kept of the records meant", What::show);
  add(command, "forget", "Forget the records meant: what is repeated is sent again", What::forget);
  auto& resolve = *command.add_subcommand(
      "resolve", "Say of records in doubt whether they were sent, as the provider's log tells");
  resolve.require_subcommand(1);
  add(resolve, "sent", "They were: a repeat is a duplicate", What::resolve_sent);
  add(resolve, "not-sent", "They were not: the next attempt is forwarded as the first",
      What::resolve_not_sent);
}

void describe(CLI::App& app, Commands& commands) {
  app.name("mailonce");
  app.set_version_flag("--version", "mailonce " MAILONCE_VERSION);
  app.set_help_flag("--help,-h", "Print this help and exit");
  app.set_help_all_flag("--help-all", "Print the help of every command and exit");
  app.footer(environment);
  app.require_subcommand(1);

  auto& serve = *app.add_subcommand("serve", "Relay mail until SIGTERM or SIGINT");
  add_configuration(serve, commands.serve.config, commands.serve.overrides);

  auto& check = *app.add_subcommand("check", "Say what is wrong with a configuration, or what it means");
  add_configuration(check, commands.check.config, commands.check.overrides);
  check.add_flag("--connect", commands.check.connect, "Also log in to the upstream and ask the store");

  auto& explain = *app.add_subcommand("explain",
                                      "Show what counts in a message and its fingerprint; of two, what "
                                      "differs and the verdict; of more, which "
                                      "repeat which");
  explain
      .add_option("messages", commands.explain.messages,
                  "Messages: files, mbox files, maildirs, folders of *.eml; - reads standard input")
      ->type_name("PATH")
      ->required();
  explain.add_option("--config", commands.explain.config, "Take policy and rules from this file")
      ->type_name("FILE");
  explain
      .add_option("--sender", commands.explain.sender,
                  "The envelope's sender, for rules; else Return-Path, Sender or From says it")
      ->type_name("ADDRESS");
  explain
      .add_option("--recipient", commands.explain.recipients,
                  "A recipient of the envelope, for rules; may be repeated; else To, Cc and Bcc say them")
      ->type_name("ADDRESS")
      ->allow_extra_args(false);
  explain
      .add_option(
          "--user", commands.explain.user,
          "As which user of users_file the client logged in, for rules and fingerprint; else it did not")
      ->type_name("NAME");
  explain.add_flag("--json", commands.explain.json, "Print one JSON object on one line");
  explain.add_option("--color", commands.explain.color, "auto (on a terminal), always or never")
      ->check(CLI::IsMember({"auto", "always", "never"}));

  describe_window(app, commands.window);
}

int dispatch(const CLI::App& app, const Commands& commands, Streams streams) {
  if (app.got_subcommand("serve")) return serve(commands.serve, streams);
  if (app.got_subcommand("check")) return check(commands.check, streams);
  if (app.got_subcommand("window")) return window(commands.window, streams);
  return explain(commands.explain, streams);
}

}  // namespace

int run(std::vector<std::string> arguments, std::istream& in, std::ostream& out, std::ostream& err) {
  CLI::App app(about);
  Commands commands;
  describe(app, commands);
  std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
  try {
    app.parse(std::move(arguments));
    return dispatch(app, commands, {in, out, err});
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error, out, err);  // prints help, version or what is wrong
    return code == 0 ? exit_code::ok : exit_code::wrong;
  } catch (const std::exception& error) {
    err << "mailonce: " << error.what() << '\n';
    return exit_code::failed;
  }
}

}  // namespace mailonce::cli
