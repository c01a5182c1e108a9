#include "mails.h"

#include <algorithm>
#include <filesystem>
#include <istream>
#include <iterator>
#include <ostream>

#include "mailonce/config/file.h"
#include "mailonce/observe/escape.h"

namespace mailonce::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_file_octets = 1U << 30;
constexpr std::string_view mbox_separator = "From ";

void complain(const std::string& path, std::string_view what, Streams streams) {
  std::string quoted;
  observe::append_quoted(quoted, path);
  streams.err << "mailonce: " << quoted.substr(1, quoted.size() - 2) << ": " << what << '\n';
}

// A message saved by a person often has LF line ends; a client would send it with CRLF. One that has both is
// taken as it is.
std::string as_sent(std::string text) {
  if (text.find("\r\n") != std::string::npos) return text;
  std::string out;
  out.reserve(text.size() + text.size() / 32);
  for (const char c : text) {
    if (c == '\n') out += '\r';
    out += c;
  }
  return out;
}

// mboxrd: a line of the message that looks like a separator has one more ">" before it.
std::string without_quoting(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
    const auto quotes = line.find_first_not_of('>');
    const bool quoted =
        quotes != 0 && quotes != std::string_view::npos && line.substr(quotes).starts_with(mbox_separator);
    out += line.substr(quoted ? 1 : 0);
    text.remove_prefix(line.size());
  }
  return out;
}

// Where the separator line of the next message begins: at the start or behind an empty line.
std::size_t next_separator(std::string_view text, std::size_t from) {
  for (auto at = text.find("\nFrom ", from); at != std::string_view::npos;
       at = text.find("\nFrom ", at + 1)) {
    const auto before = text.substr(0, at + 1);
    if (before.ends_with("\n\n") || before.ends_with("\n\r\n")) return at + 1;
  }
  return text.size();
}

std::vector<Mail> split_mbox(const std::string& path, std::string_view text) {
  std::vector<Mail> mails;
  while (!text.empty()) {
    const auto size = next_separator(text, 0);
    auto message = text.substr(0, size);
    text.remove_prefix(size);
    message.remove_prefix(std::min(message.find('\n'), message.size() - 1) + 1);
    // The empty line before the next separator is the mailbox's.
    if (message.ends_with("\r\n\r\n")) {
      message.remove_suffix(2);
    } else if (message.ends_with("\n\n")) {
      message.remove_suffix(1);
    }
    mails.push_back({path + "#" + std::to_string(mails.size() + 1), as_sent(without_quoting(message))});
  }
  return mails;
}

// Regular files of `folder`, by name; hidden ones are none of the messages.
void list_files(const fs::path& folder, const std::string& extension, std::vector<fs::path>& into) {
  std::error_code ended;
  std::vector<fs::path> found;
  for (fs::directory_iterator entry(folder, ended), last; !ended && entry != last; entry.increment(ended)) {
    const auto& path = entry->path();
    std::error_code unknown;
    if (!entry->is_regular_file(unknown) || path.filename().string().starts_with(".")) continue;
    if (extension.empty() || path.extension() == extension) found.push_back(path);
  }
  std::sort(found.begin(), found.end());
  into.insert(into.end(), found.begin(), found.end());
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files;
  const bool maildir = fs::is_directory(folder / "cur") || fs::is_directory(folder / "new");
  if (maildir) {
    list_files(folder / "cur", "", files);
    list_files(folder / "new", "", files);
  } else {
    list_files(folder, ".eml", files);
  }
  return files;
}

bool read_file(const std::string& path, Streams streams, std::vector<Mail>& mails) {
  auto text = config::read_file(path, max_file_octets);
  if (!text) {
    complain(path, "can not be read: " + text.error().message(), streams);
    return false;
  }
  if (text->empty()) {
    complain(path, "is empty", streams);
    return false;
  }
  if (text->starts_with(mbox_separator)) {
    auto split = split_mbox(path, *text);
    std::move(split.begin(), split.end(), std::back_inserter(mails));
  } else {
    mails.push_back({path, as_sent(std::move(*text))});
  }
  return true;
}

}  // namespace

std::optional<std::vector<Mail>> read_mails(const std::string& path, Streams streams) {
  std::vector<Mail> mails;
  if (path == "-") {
    mails.push_back({"-", as_sent({std::istreambuf_iterator<char>(streams.in), {}})});
    if (!mails.front().octets.empty()) return mails;
    complain("standard input", "is empty", streams);
    return {};
  }
  if (!fs::is_directory(path)) {
    if (!read_file(path, streams, mails)) return {};
    return mails;
  }
  for (const auto& file : files_of(path)) {
    if (!read_file(file.string(), streams, mails)) return {};
  }
  if (!mails.empty()) return mails;
  complain(path, "holds no message: it is neither a maildir (cur, new) nor a folder of *.eml files", streams);
  return {};
}

}  // namespace mailonce::cli
