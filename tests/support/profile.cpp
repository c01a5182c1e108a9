#include "support/profile.h"

#include <toml++/toml.h>

#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace mailonce::test {
namespace {

using std::chrono::milliseconds;

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error("profile: " + what);
}

// One table, whose keys are all taken by name: what is left over is a mistake.
class Reader {
 public:
  Reader(toml::table& table, std::string path) : table_(table), path_(std::move(path)) {}

  void take(const char* key, std::string& value) { take_as<std::string>(key, value); }
  void take(const char* key, bool& value) { take_as<bool>(key, value); }
  void take(const char* key, std::uint64_t& value) {
    std::int64_t number = static_cast<std::int64_t>(value);
    take_as<std::int64_t>(key, number);
    value = static_cast<std::uint64_t>(number);
  }
  void take(const char* key, milliseconds& value) {
    double seconds = static_cast<double>(value.count()) / 1000;
    take_as<double>(key, seconds);
    value = milliseconds(static_cast<std::int64_t>(seconds * 1000));
  }
  void take(const char* key, std::vector<std::string>& value) {
    auto* array = table_[key].as_array();
    if (!array) return;
    value.clear();
    for (auto& item : *array) value.push_back(item.value<std::string>().value_or(""));
    table_.erase(key);
  }
  template <class F>
  void take_table(const char* key, F&& read) {
    auto* table = table_[key].as_table();
    if (!table) return;
    Reader reader(*table, path_ + key + ".");
    read(reader);
    reader.finish();
    table_.erase(key);
  }
  toml::table& table() { return table_; }
  void finish() const {
    for (auto&& [key, value] : table_) fail("unknown key or wrong type: " + path_ + std::string(key.str()));
  }

 private:
  template <class T, class V>
  void take_as(const char* key, V& value) {
    if (auto found = table_[key].value<T>()) {
      value = *found;
      table_.erase(key);
    }
  }
  toml::table& table_;
  std::string path_;
};

void read_auth(Reader& reader, Profile::Auth& auth) {
  reader.take("mechanisms", auth.mechanisms);
  reader.take("plain_challenge", auth.plain_challenge);
  reader.take("user_challenge", auth.user_challenge);
  reader.take("password_challenge", auth.password_challenge);
  reader.take("ok", auth.ok);
  reader.take("temp_fail", auth.temp_fail);
  reader.take("perm_fail", auth.perm_fail);
  reader.take("required", auth.required);
  reader.take("missing", auth.missing);
  reader.take_table("users", [&](Reader& users) {
    for (auto&& [user, password] : users.table())
      auth.users[std::string(user.str())] = password.value<std::string>().value_or("");
    users.table().clear();
  });
}

void read_timed(Reader& reader, const char* key, std::optional<TimedLine>& timed) {
  reader.take_table(key, [&](Reader& table) {
    timed.emplace();
    table.take("after_s", timed->after);
    table.take("line", timed->line);
  });
}

void read_counted(Reader& reader, const char* key, std::optional<CountedLine>& counted) {
  reader.take_table(key, [&](Reader& table) {
    counted.emplace();
    table.take("limit", counted->limit);
    table.take("line", counted->line);
  });
}

Profile read(toml::table& root) {
  Profile profile;
  Reader reader(root, "");
  reader.take("name", profile.name);
  reader.take("banner", profile.banner);
  reader.take("ehlo_plain", profile.ehlo_plain);
  reader.take("ehlo_tls", profile.ehlo_tls);
  reader.take("starttls_reply", profile.starttls_reply);
  reader.take_table("auth", [&](Reader& table) { read_auth(table, profile.auth); });
  reader.take("mail_ok", profile.mail_ok);
  reader.take("rcpt_ok", profile.rcpt_ok);
  reader.take("data_go", profile.data_go);
  reader.take("accept", profile.accept);
  reader.take("rset_ok", profile.rset_ok);
  reader.take("quit", profile.quit);
  reader.take("unknown", profile.unknown);
  reader.take("pipelining", profile.pipelining);
  read_timed(reader, "idle_close", profile.idle_close);
  read_timed(reader, "max_session", profile.max_session);
  read_counted(reader, "max_messages", profile.max_messages);
  read_counted(reader, "max_recipients", profile.max_recipients);
  read_counted(reader, "max_connections", profile.max_connections);
  read_counted(reader, "rate", profile.rate);
  reader.take_table("size_limit", [&](Reader& table) {
    profile.size_limit.emplace();
    table.take("octets", profile.size_limit->octets);
    table.take("line", profile.size_limit->line);
    table.take("at_mail", profile.size_limit->at_mail);
  });
  reader.finish();
  return profile;
}

void lay_over(toml::table& base, toml::table& over) {
  for (auto&& [key, value] : over) {
    auto* inner = base[key.str()].as_table();
    if (inner && value.is_table())
      lay_over(*inner, *value.as_table());
    else
      base.insert_or_assign(key, value);
  }
}

}  // namespace

Profile Profile::load(std::string_view name_or_path, std::string_view overrides) {
  std::filesystem::path path(name_or_path);
  if (!name_or_path.ends_with(".toml"))
    path = std::filesystem::path(MAILONCE_TEST_PROFILES) / (std::string(name_or_path) + ".toml");
  try {
    toml::table table = toml::parse_file(path.string());
    toml::table over = toml::parse(overrides);
    lay_over(table, over);
    return read(table);
  } catch (const toml::parse_error& error) {
    std::ostringstream text;
    text << path.string() << ": " << error;
    fail(text.str());
  }
}

}  // namespace mailonce::test
