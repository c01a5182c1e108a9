// Runs the command line in this process, with files in a folder of its own.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "mailonce/base/random.h"
#include "mailonce/cli/run.h"

namespace mailonce::cli {

class CommandLine : public testing::Test {
 protected:
  CommandLine() : folder_(std::filesystem::temp_directory_path() / ("mailonce-cli-" + random_token())) {
    std::filesystem::create_directory(folder_);
    ::unsetenv("MAILONCE_UPSTREAM_PASSWORD");
    ::unsetenv("MAILONCE_STORE_PASSWORD");
    ::setenv("STATE_DIRECTORY", folder_.c_str(), 1);
  }
  ~CommandLine() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const auto path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  // The exit code; what it printed is in out() and err().
  int mailonce(std::vector<std::string> arguments, const std::string& standard_input = "") {
    std::istringstream in(standard_input);
    out_.str("");
    err_.str("");
    return run(std::move(arguments), in, out_, err_);
  }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }

  std::filesystem::path folder_;

 private:
  std::ostringstream out_;
  std::ostringstream err_;
};

}  // namespace mailonce::cli
