#include "mailonce/redis/client.h"

#include "server.h"

namespace mailonce::redis {
namespace {

std::shared_ptr<Server> make_server(boost::asio::any_io_executor executor, Options options) {
  if (options.tls && !options.tls_context) options.tls_context = make_tls(options);
  const auto shared = std::make_shared<const Options>(std::move(options));
  switch (shared->topology) {
    case Topology::single:
      break;
    case Topology::sentinel:
      return make_sentinel(std::move(executor), shared);
    case Topology::cluster:
      return make_cluster(std::move(executor), shared);
  }
  return make_single(std::move(executor), shared);
}

}  // namespace

std::shared_ptr<boost::asio::ssl::context> make_tls(const Options& options) {
  if (!options.tls) return nullptr;
  return std::make_shared<boost::asio::ssl::context>(net::make_client_context(options.certificates));
}

Client::Client(boost::asio::any_io_executor executor, Options options)
    : deadline_(options.command_deadline), server_(make_server(std::move(executor), std::move(options))) {}

Client::~Client() {
  server_->close();
}

// Not a coroutine of its own: the topology's is enough.
awaitable<Result<Reply>> Client::command(std::span<const std::string_view> words, std::string_view key,
                                         Replication* replication) {
  Call call{words, SteadyClock::now() + deadline_, replication};
  return server_->command(call, key);
}

awaitable<Result<std::vector<Address>>> Client::masters() {
  return server_->masters(SteadyClock::now() + deadline_);
}

awaitable<Result<std::vector<Reply>>> Client::batch(Address master, std::vector<Words> commands) {
  return server_->node(master)->batch(std::move(commands), SteadyClock::now() + deadline_);
}

}  // namespace mailonce::redis
