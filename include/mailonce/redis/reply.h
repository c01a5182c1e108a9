// An answer of Redis: owns the tree that hiredis's reader built. Views live as long as the reply.
#pragma once
#include <memory>
#include <optional>
#include <string_view>

struct redisReply;

namespace mailonce::redis {

// One value of the tree, borrowed from its Reply.
class Value {
 public:
  explicit Value(const redisReply* node) noexcept : node_(node) {}

  bool is_nil() const noexcept;
  bool is_error() const noexcept;
  bool is_array() const noexcept;
  // A bulk string, status or error text; nothing for other kinds.
  std::optional<std::string_view> text() const noexcept;
  std::optional<long long> integer() const noexcept;
  std::size_t size() const noexcept;                   // elements of an array, otherwise 0
  Value operator[](std::size_t index) const noexcept;  // index < size()

 private:
  const redisReply* node_;
};

class Reply {
 public:
  // Takes ownership of what redisReaderGetReply gave.
  explicit Reply(void* tree) noexcept : tree_(static_cast<redisReply*>(tree)) {}
  Value value() const noexcept { return Value(tree_.get()); }

 private:
  struct Free {
    void operator()(redisReply* tree) const noexcept;
  };
  std::unique_ptr<redisReply, Free> tree_;
};

}  // namespace mailonce::redis
