// The master that Redis Sentinels name (redis.io, "Guidelines for Redis clients with support for Redis
// Sentinel").
#include "number.h"
#include "server.h"

namespace mailonce::redis {
namespace {

// Asks the Sentinels in turn, each time beginning with another one: the one that answered last may be cut off
// from the others and not know of a failover.
class Sentinels final : public Locator {
 public:
  Sentinels(boost::asio::any_io_executor executor, std::shared_ptr<const Options> options)
      : executor_(std::move(executor)), options_(std::move(options)) {
    auto own = std::make_shared<Options>(*options_);
    own->username = options_->sentinel_username;
    own->password = options_->sentinel_password;
    own->database = 0;
    own_options_ = std::move(own);
  }

  awaitable<Result<Address>> locate(SteadyClock::time_point until) override;

 private:
  static Result<Address> master_in(const Result<Reply>& reply);

  boost::asio::any_io_executor executor_;
  std::shared_ptr<const Options> options_;
  std::shared_ptr<const Options> own_options_;
  std::size_t next_ = 0;
};

// Of several failures the one that is told is not the last one's lack of time.
bool tells_much(const error_code& failure) noexcept {
  return failure != Errc::timed_out && failure != Errc::closed && failure != Errc::no_sentinel;
}

Result<Address> Sentinels::master_in(const Result<Reply>& reply) {
  if (!reply) return reply.error();
  const auto value = reply->value();
  if (value.is_nil()) return make_error_code(Errc::unknown_service);
  if (value.is_error()) return make_error_code(meaning_of(*value.text()));
  if (value.size() != 2) return make_error_code(Errc::protocol);
  const auto host = value[0].text(), port = value[1].text();
  if (!host || host->empty() || !port) return make_error_code(Errc::protocol);
  const auto port_number = number<std::uint16_t>(*port).value_or(0);
  if (port_number == 0) return make_error_code(Errc::protocol);
  return Address{std::string(*host), port_number};
}

// A Sentinel that hangs costs its share: half of the time is the master's.
awaitable<Result<Address>> Sentinels::locate(SteadyClock::time_point until) {
  error_code why = Errc::no_sentinel;
  const auto& sentinels = options_->servers;
  const auto first = next_++;
  const auto half = std::chrono::duration_cast<milliseconds>(until - SteadyClock::now()) / 2;
  const auto share = half / static_cast<int>(sentinels.size());
  for (std::size_t i = 0; i < sentinels.size(); ++i) {
    const auto& sentinel = sentinels[(first + i) % sentinels.size()];
    Client::Words question{"SENTINEL", "GET-MASTER-ADDR-BY-NAME", options_->service};
    auto reply = co_await inquire(executor_, own_options_, sentinel, std::move(question), share);
    auto master = master_in(reply);
    if (master) co_return master;
    // What one says that answers tells more than the silence of another.
    const bool answered = reply.has_value() || reply.error().category() == category();
    if (answered && tells_much(master.error())) why = master.error();
  }
  co_return why;
}

class Sentinel final : public Server {
 public:
  Sentinel(boost::asio::any_io_executor executor, std::shared_ptr<const Options> options)
      : options_(std::move(options)),
        master_(std::make_shared<Node>(executor, options_, Address{options_->service, 0},
                                       std::make_shared<Sentinels>(executor, options_))) {}

  awaitable<Result<Reply>> command(Call call, std::string_view) override;
  awaitable<Result<std::vector<Address>>> masters(SteadyClock::time_point) override {
    co_return std::vector<Address>{master_->address()};
  }
  std::shared_ptr<Node> node(const Address&) override { return master_; }
  void close() override { master_->close(); }

 private:
  std::shared_ptr<const Options> options_;
  std::shared_ptr<Node> master_;
};

// While a failover is under way the Sentinels still name the old master, and the new one is not yet one.
awaitable<Result<Reply>> Sentinel::command(Call call, std::string_view) {
  const auto options = options_;
  const auto master = master_;
  error_code why;
  for (;;) {
    bool sent = false;
    call.sent = &sent;
    auto reply = co_await master->command(call);
    if (!reply && (sent || master->closed())) co_return reply;
    const auto demoted = [&] {
      const auto value = reply->value();
      return value.is_error() && meaning_of(*value.text()) == Errc::read_only;
    };
    if (reply && !demoted()) co_return reply;
    if (!reply && tells_much(reply.error())) why = reply.error();
    if (!time_for_more(call.deadline, *options) || !master->worth_trying(call.deadline)) {
      if (!reply && why) co_return why;
      co_return reply;
    }
  }
}

}  // namespace

std::shared_ptr<Server> make_sentinel(boost::asio::any_io_executor executor,
                                      std::shared_ptr<const Options> options) {
  return std::make_shared<Sentinel>(std::move(executor), std::move(options));
}

}  // namespace mailonce::redis
