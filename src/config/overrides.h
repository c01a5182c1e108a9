// What the command line says over the file, through the same validators.
#pragma once
#include <filesystem>

#include "mailonce/config/configuration.h"

namespace mailonce::config {

void apply(const Overrides& overrides, Loaded& loaded);

// The validators of URLs, for file and command line. A password in a URL is refused and never shown.
Parsed<void> set_upstream_url(std::string_view url, upstream::Options& options);
// A file's path is relative to `folder`.
Parsed<void> set_store_url(std::string_view url, const std::filesystem::path& folder,
                           Configuration& configuration);

// After everything is read: finds the password that a user name needs, in the environment if it is the `only`
// upstream, and refuses to send it in clear text.
std::optional<Mistake> complete_upstream(upstream::Options& options, bool only);
// The default store's file, or the store's password from the environment, if nothing said it before.
void complete_store(Configuration& configuration);

// Who could relay through this listener and should not, or should and can not.
std::optional<Mistake> exposure(const server::Listener& listener);

}  // namespace mailonce::config
