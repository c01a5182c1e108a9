#include "secret.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "mailonce/config/file.h"

namespace mailonce::config {
namespace {

constexpr std::size_t max_secret_octets = 64 * 1024;

Mistake unreadable(const error_code& error) {
  if (error.value() == EFBIG) return {"is too large for a secret", "name the file that holds it alone"};
  return {"can not be read: " + error.message(),
          error.value() == ENOENT ? "create the file with the secret in it, mode 0600"
                                  : "let the user who runs mailonce read it, and nobody else"};
}

std::string without_line_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

Parsed<std::string> checked(std::string text) {
  if (text.empty()) return Mistake{"is empty", "put the secret there"};
  if (text.find('\0') != std::string::npos)
    return Mistake{"holds a NUL", "use a secret of printable characters"};
  return text;
}

bool readable_by_everybody(const std::filesystem::path& file) {
  struct stat info {};
  return ::stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) && (info.st_mode & S_IROTH) != 0;
}

}  // namespace

Parsed<std::string> read_secret_file(const std::filesystem::path& file) {
  auto text = read_file(file, max_secret_octets);
  if (!text) return unreadable(text.error());
  return checked(without_line_end(std::move(*text)));
}

Parsed<std::string> read_secret_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return Mistake{"is not set in the environment", "set it, or name a file instead"};
  return checked(value);
}

std::optional<std::string> take_secret(Table& table, const std::string& name,
                                       const std::filesystem::path& folder) {
  const auto file_key = name + "_file", variable_key = name + "_env";
  table.forbid(name,
               {"a secret does not belong into the configuration",
                "put it in a file or the environment and name that: " + file_key + " or " + variable_key});
  std::string file, variable;
  const bool named_file = table.text(file_key, file), named_variable = table.text(variable_key, variable);
  if (named_file && named_variable) {
    table.error(variable_key, {"stands beside " + file_key, "keep one of the two"});
    return {};
  }
  if (!named_file && !named_variable) return {};
  const auto path = folder / file;
  auto secret = named_file ? read_secret_file(path) : read_secret_variable(variable);
  if (!secret) {
    table.error(named_file ? file_key : variable_key, secret.error());
    return {};
  }
  if (named_file && readable_by_everybody(path)) {
    table.warning(file_key, {"every user of this machine can read it", "chmod 600 " + path.string()});
  }
  return std::move(*secret);
}

}  // namespace mailonce::config
