#include "admission.h"

#include <utility>

namespace mailonce::server {
namespace {

constexpr Turned not_allowed{554, "5.7.1 Relaying not allowed", "not_allowed"};
constexpr std::string_view later = "4.7.0 Too many connections, try again later";
constexpr Turned too_many{421, later, "too_many_connections"};
constexpr Turned too_many_of_address{421, later, "too_many_connections_of_address"};

}  // namespace

std::string Client::text() const {
  if (local) return "local";
  return address ? address->to_string() : "unknown";
}

bool may_relay(const Listener& listener, const Client& client) {
  return client.local || (client.address && listener.allow.contains(*client.address));
}

std::optional<Turned> Admission::enter(Place& place) {
  const std::lock_guard lock(mutex_);
  if (connections_ >= options_.max_connections) return too_many;
  ++connections_;
  place.in_ = this;
  return std::nullopt;
}

Admission::Place::Place(Place&& other) noexcept
    : in_(std::exchange(other.in_, nullptr)), address_(std::exchange(other.address_, std::nullopt)) {}

Admission::Place& Admission::Place::operator=(Place&& other) noexcept {
  std::swap(in_, other.in_);
  std::swap(address_, other.address_);
  return *this;
}

Admission::Place::~Place() {
  if (in_ == nullptr) return;
  const std::lock_guard lock(in_->mutex_);
  leave_address(lock);
  --in_->connections_;
}

void Admission::Place::leave_address(const std::lock_guard<std::mutex>&) {
  if (!address_) return;
  const auto found = in_->from_.find(*address_);
  if (--found->second == 0) in_->from_.erase(found);
  address_.reset();
}

std::optional<Turned> Admission::Place::take(const Listener& listener, const Client& client,
                                             bool speaks_for_others) {
  if (!may_relay(listener, client) && !listener.offers_login() && !speaks_for_others) return not_allowed;
  const std::lock_guard lock(in_->mutex_);
  leave_address(lock);
  if (!client.address) return std::nullopt;
  auto& here = in_->from_[*client.address];
  const auto most = in_->options_.max_connections_per_address;
  if (most != 0 && here >= most) return too_many_of_address;
  ++here;
  address_ = client.address;
  return std::nullopt;
}

}  // namespace mailonce::server
