// Configurations written to a folder of the test's own, and loaded.
#pragma once
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "mailonce/base/random.h"
#include "mailonce/config/configuration.h"

namespace mailonce::config {

namespace fs = std::filesystem;

class LoadTest : public testing::Test {
 protected:
  LoadTest() : folder_(fs::temp_directory_path() / ("mailonce-config-" + random_token())) {
    fs::create_directory(folder_);
    ::unsetenv("MAILONCE_UPSTREAM_PASSWORD");
    ::unsetenv("MAILONCE_STORE_PASSWORD");
  }
  ~LoadTest() override {
    fs::remove_all(folder_);
    ::unsetenv("MAILONCE_UPSTREAM_PASSWORD");
    ::unsetenv("MAILONCE_STORE_PASSWORD");
  }

  std::string write(const std::string& name, const std::string& text, mode_t mode = 0600) {
    const auto path = (folder_ / name).string();
    std::ofstream(path) << text;
    ::chmod(path.c_str(), mode);
    return path;
  }
  Loaded load_text(const std::string& text, const Overrides& overrides = {}) {
    return load(write("mailonce.toml", text), overrides);
  }

  fs::path folder_;
};

// The text of conf/<name>.toml.
inline std::string documented(const std::string& name = "mailonce") {
  std::ifstream in(std::string(CONF_FOLDER) + "/" + name + ".toml");
  return {std::istreambuf_iterator<char>(in), {}};
}

inline constexpr const char* upstream = "[[upstream]]\nurl = \"smtp://127.0.0.1:2526\"\n";

}  // namespace mailonce::config
