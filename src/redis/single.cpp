#include "server.h"

namespace mailonce::redis {
namespace {

class Single final : public Server {
 public:
  Single(boost::asio::any_io_executor executor, std::shared_ptr<const Options> options)
      : node_(std::make_shared<Node>(std::move(executor), options, options->servers.at(0))) {}

  awaitable<Result<Reply>> command(Call call, std::string_view) override { return node_->command(call); }
  awaitable<Result<std::vector<Address>>> masters(SteadyClock::time_point) override {
    co_return std::vector<Address>{node_->address()};
  }
  std::shared_ptr<Node> node(const Address&) override { return node_; }
  void close() override { node_->close(); }

 private:
  std::shared_ptr<Node> node_;
};

}  // namespace

std::shared_ptr<Server> make_single(boost::asio::any_io_executor executor,
                                    std::shared_ptr<const Options> options) {
  return std::make_shared<Single>(std::move(executor), std::move(options));
}

}  // namespace mailonce::redis
