#include "mailonce/redis/error.h"

#include <array>
#include <string>
#include <utility>

namespace mailonce::redis {
namespace {

class Category final : public boost::system::error_category {
 public:
  const char* name() const noexcept override { return "redis"; }
  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::closed:
        return "Redis closed the connection";
      case Errc::timed_out:
        return "Redis did not answer in time";
      case Errc::protocol:
        return "the answer is not Redis's protocol (or TLS is spoken on one side only)";
      case Errc::auth_failed:
        return "Redis refused user, password or database number";
      case Errc::no_permission:
        return "the Redis user lacks a permission (docs/claim-protocol.md has the ACL)";
      case Errc::no_script:
        return "Redis does not hold the script";
      case Errc::loading:
        return "Redis is still loading or busy";
      case Errc::read_only:
        return "Redis is a read-only replica";
      case Errc::out_of_memory:
        return "Redis is out of memory";
      case Errc::not_persisting:
        return "Redis can not save and refuses writes";
      case Errc::refused:
        return "Redis refused the command";
      case Errc::not_master:
        return "the Redis server that the Sentinels name is no master";
      case Errc::no_sentinel:
        return "no Sentinel answers";
      case Errc::unknown_service:
        return "the Sentinels know no master of this name";
      case Errc::clustered:
        return "Redis is a node of a Cluster; the store is redis+cluster://";
      case Errc::not_clustered:
        return "Redis is no node of a Cluster; the store is redis://";
      case Errc::cluster_down:
        return "the Redis Cluster is down, or nobody serves the slot";
      case Errc::slot_moving:
        return "the slot is moving to another node of the Redis Cluster and the message's records are in two "
               "places";
      case Errc::malformed_slots:
        return "the answer to CLUSTER SLOTS is malformed";
      case Errc::malformed_redirection:
        return "a node of the Redis Cluster redirects to nowhere";
      case Errc::too_many_redirections:
        return "the nodes of the Redis Cluster send the command around (or the user may not call ASKING)";
      case Errc::few_replicas:
        return "Redis has too few replicas and refuses writes";
      case Errc::bad_url_scheme:
        return "the URL does not begin with redis://, rediss://, redis+sentinel:// or redis+cluster://";
      case Errc::bad_url_host:
        return "the URL has no valid host";
      case Errc::bad_url_port:
        return "the URL's port is not a number from 1 to 65535";
      case Errc::bad_url_database:
        return "the URL's database is not a number";
      case Errc::bad_url_escape:
        return "the URL has a broken percent-encoding, or a '/' or '@' that must be written %2F or %40";
      case Errc::bad_url_service:
        return "the URL does not name the master as the Sentinels do";
      case Errc::bad_url_servers:
        return "the URL names several servers, which only a Cluster or Sentinels are";
    }
    return "unknown Redis error";
  }
};

constexpr std::array<std::pair<std::string_view, Errc>, 16> meanings{{
    {"NOSCRIPT", Errc::no_script},
    {"WRONGPASS", Errc::auth_failed},
    {"NOAUTH", Errc::auth_failed},
    {"NOPERM", Errc::no_permission},
    {"LOADING", Errc::loading},
    {"BUSY", Errc::loading},
    {"READONLY", Errc::read_only},
    {"OOM", Errc::out_of_memory},
    {"MISCONF", Errc::not_persisting},
    {"MOVED", Errc::clustered},
    {"ASK", Errc::clustered},
    {"CROSSSLOT", Errc::clustered},
    {"CLUSTERDOWN", Errc::cluster_down},
    {"MASTERDOWN", Errc::cluster_down},
    {"TRYAGAIN", Errc::slot_moving},
    {"NOREPLICAS", Errc::few_replicas},
}};

}  // namespace

const boost::system::error_category& category() noexcept {
  static const Category instance;
  return instance;
}

error_code make_error_code(Errc errc) noexcept {
  return {static_cast<int>(errc), category()};
}

Errc meaning_of(std::string_view error_reply) noexcept {
  if (error_reply == "ERR This instance has cluster support disabled") return Errc::not_clustered;
  const auto word = error_reply.substr(0, error_reply.find(' '));
  for (const auto& [prefix, errc] : meanings) {
    if (word == prefix) return errc;
  }
  return Errc::refused;
}

}  // namespace mailonce::redis
