#include "admission.h"

#include <algorithm>
#include <utility>

namespace mailonce::server {
namespace {

constexpr Turned not_allowed{554, "5.7.1 Relaying not allowed", "not_allowed"};
constexpr std::string_view later = "4.7.0 Too many connections, try again later";
constexpr Turned too_many{421, later, "too_many_connections"};
constexpr Turned too_many_of_address{421, later, "too_many_connections_of_address"};
constexpr Turned too_many_strangers{421, later, "too_many_unauthenticated"};

}  // namespace

std::string Client::text() const {
  if (local) return "local";
  return address ? address->to_string() : "unknown";
}

Standing standing_of(const Listener& listener, const Client& client) {
  if (client.local || (client.address && listener.allow.contains(*client.address))) return Standing::known;
  return listener.offers_login() ? Standing::stranger : Standing::nobody;
}

std::size_t Admission::most_strangers() const noexcept {
  if (options_.max_unauthenticated_connections != 0) return options_.max_unauthenticated_connections;
  return std::max<std::size_t>(options_.max_connections / 2, 1);
}

std::optional<Turned> Admission::enter(Place& place) {
  const std::lock_guard lock(mutex_);
  if (connections_ >= options_.max_connections) return too_many;
  ++connections_;
  place.in_ = this;
  return std::nullopt;
}

Admission::Place::Place(Place&& other) noexcept
    : in_(std::exchange(other.in_, nullptr)),
      address_(std::exchange(other.address_, std::nullopt)),
      stranger_(std::exchange(other.stranger_, false)) {}

Admission::Place& Admission::Place::operator=(Place&& other) noexcept {
  std::swap(in_, other.in_);
  std::swap(address_, other.address_);
  std::swap(stranger_, other.stranger_);
  return *this;
}

Admission::Place::~Place() {
  if (in_ == nullptr) return;
  const std::lock_guard lock(in_->mutex_);
  leave(lock);
  --in_->connections_;
}

void Admission::Place::leave(const std::lock_guard<std::mutex>&) {
  if (std::exchange(stranger_, false)) --in_->strangers_;
  if (!address_) return;
  const auto found = in_->from_.find(*address_);
  if (--found->second == 0) in_->from_.erase(found);
  address_.reset();
}

std::optional<Turned> Admission::Place::take(const Client& client, Standing standing) {
  if (standing == Standing::nobody) return not_allowed;
  const std::lock_guard lock(in_->mutex_);
  leave(lock);
  if (standing == Standing::stranger && in_->strangers_ >= in_->most_strangers()) return too_many_strangers;
  if (client.address) {
    auto& here = in_->from_[*client.address];
    const auto most = in_->options_.max_connections_per_address;
    if (most != 0 && here >= most) return too_many_of_address;
    ++here;
    address_ = client.address;
  }
  stranger_ = standing == Standing::stranger;
  if (stranger_) ++in_->strangers_;
  return std::nullopt;
}

void Admission::Place::logged_in() {
  if (!stranger_) return;
  const std::lock_guard lock(in_->mutex_);
  --in_->strangers_;
  stranger_ = false;
}

}  // namespace mailonce::server
