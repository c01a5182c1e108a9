// Why a Redis command has no usable answer. Connecting may also fail with the system's or the resolver's
// error.
#pragma once
#include <boost/system/error_category.hpp>
#include <string_view>

#include "mailonce/base/result.h"

namespace mailonce::redis {

enum class Errc {
  closed = 1,      // the connection ended before the answer; the command may or may not have been carried out
  timed_out,       // no answer within the command's deadline; the same
  protocol,        // what came is not RESP, or nobody asked for it
  auth_failed,     // WRONGPASS, NOAUTH, or the database number was refused
  no_permission,   // NOPERM: the ACL user may not do this
  no_script,       // NOSCRIPT: EVALSHA of a script the server does not hold
  loading,         // LOADING, BUSY: it will answer later
  read_only,       // READONLY: a replica
  out_of_memory,   // OOM: maxmemory is reached and the policy evicts nothing
  not_persisting,  // MISCONF: it can not save and therefore refuses writes
  refused,         // any other error reply
  // Sentinel and Cluster.
  not_master,             // ROLE: the server is no master (any more, or yet)
  no_sentinel,            // none of the Sentinels answered
  unknown_service,        // they answered, and know no master of that name
  clustered,              // MOVED, ASK, CROSSSLOT: the server is a node of a Cluster
  not_clustered,          // the server is none
  cluster_down,           // CLUSTERDOWN, or nobody serves the slot
  slot_moving,            // TRYAGAIN: the keys of the command are in two places while their slot moves
  malformed_slots,        // what came is no answer to CLUSTER SLOTS
  malformed_redirection,  // MOVED or ASK to nowhere
  too_many_redirections,
  few_replicas,  // NOREPLICAS: the server refuses writes because it has too few replicas
  // parse_url
  bad_url_scheme,
  bad_url_host,
  bad_url_port,
  bad_url_database,
  bad_url_escape,
  bad_url_service,
  bad_url_servers,
};

const boost::system::error_category& category() noexcept;
error_code make_error_code(Errc errc) noexcept;

// The meaning of an error reply's text ("NOSCRIPT No matching script…").
Errc meaning_of(std::string_view error_reply) noexcept;

}  // namespace mailonce::redis

template <>
struct boost::system::is_error_code_enum<mailonce::redis::Errc> : std::true_type {};
