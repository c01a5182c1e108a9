// Where the embedded store keeps its file.
#pragma once
#include <filesystem>
#include <string_view>

#include "mailonce/config/problem.h"
#include "mailonce/window/shared.h"

namespace mailonce::config {

// "sqlite:PATH", relative to `folder`; without a path, default_store_path().
Parsed<void> set_sqlite_url(std::string_view url, const std::filesystem::path& folder,
                            window::Options& options);

// window.db in the service manager's state directory, root's or the user's (XDG Base Directory); empty when
// none is known.
std::filesystem::path default_store_path();

}  // namespace mailonce::config
