// A folder that goes with its owner.
#pragma once
#include <filesystem>
#include <fstream>
#include <string>

#include "mailonce/base/random.h"

namespace mailonce::test {

struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / ("mailonce-" + random_token())) {
    std::filesystem::create_directories(path);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return (path / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
    return file(name);
  }
  const std::filesystem::path path;
};

}  // namespace mailonce::test
