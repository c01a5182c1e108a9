#include "embedded_store.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "mailonce/config/configuration.h"
#include "mailonce/observe/escape.h"

namespace mailonce::config {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view scheme = "sqlite:";
constexpr const char* file_name = "window.db";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

// What of `path` is there already, up to the root.
fs::path existing_part(fs::path path) {
  std::error_code ignored;
  while (!fs::exists(path, ignored) && path.has_relative_path()) path = path.parent_path();
  return path;
}

std::optional<Mistake> unusable(const fs::path& path) {
  const std::string cure =
      "name a file that the user mailonce runs as can write, as in \"sqlite:/var/lib/mailonce/window.db\"";
  std::error_code ignored;
  if (path.empty()) return Mistake{"is not set, and no state directory is known", cure};
  if (fs::exists(path, ignored)) {
    if (!fs::is_regular_file(path, ignored)) return Mistake{"is not a file", cure};
    if (::access(path.c_str(), R_OK | W_OK) != 0) return Mistake{"can not be written", cure};
  }
  const auto there = existing_part(path.parent_path());
  if (!fs::is_directory(there, ignored))
    return Mistake{"is in no folder: " + there.string() + " is a file", cure};
  if (::access(there.c_str(), W_OK | X_OK) != 0)
    return Mistake{"can not be made in " + there.string() + ": no right to write there", cure};
  return std::nullopt;
}

}  // namespace

fs::path default_store_path() {
  const auto given = variable("STATE_DIRECTORY");  // systemd: absolute paths between colons
  if (!given.empty()) return fs::path(given.substr(0, given.find(':'))) / file_name;
  if (::geteuid() == 0) return fs::path("/var/lib/mailonce") / file_name;
  const auto state = variable("XDG_STATE_HOME");
  if (!state.empty()) return fs::path(state) / "mailonce" / file_name;
  const auto home = variable("HOME");
  if (!home.empty()) return fs::path(home) / ".local/state/mailonce" / file_name;
  return {};
}

Parsed<void> set_sqlite_url(std::string_view url, const fs::path& folder, window::Options& options) {
  url.remove_prefix(scheme.size());
  if (url.starts_with("///")) url.remove_prefix(2);
  if (url.starts_with("//") || url.ends_with("/"))
    return Mistake{"names no file", "write as in \"sqlite:/var/lib/mailonce/window.db\""};
  options.kind = window::Kind::sqlite;
  const fs::path path(url);
  options.sqlite.path = (url.empty()          ? default_store_path()
                         : path.is_absolute() ? path
                                              : fs::absolute(folder) / path)
                            .string();
  return {};
}

std::optional<Problem> unusable_store(const Configuration& configuration) {
  const auto& options = configuration.window;
  if (options.kind != window::Kind::sqlite) return std::nullopt;
  const auto mistake = unusable(options.sqlite.path);
  if (!mistake) return std::nullopt;
  std::string value;
  if (!options.sqlite.path.empty()) observe::append_quoted(value, std::string(scheme) + options.sqlite.path);
  return Problem{"mailonce", "window.store", value, mistake->reason, mistake->cure};
}

}  // namespace mailonce::config
