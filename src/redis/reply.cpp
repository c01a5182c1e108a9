#include "mailonce/redis/reply.h"

#include <hiredis/hiredis.h>

namespace mailonce::redis {

bool Value::is_nil() const noexcept {
  return node_->type == REDIS_REPLY_NIL;
}

bool Value::is_error() const noexcept {
  return node_->type == REDIS_REPLY_ERROR;
}

bool Value::is_array() const noexcept {
  return node_->type == REDIS_REPLY_ARRAY;
}

std::optional<std::string_view> Value::text() const noexcept {
  switch (node_->type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
    case REDIS_REPLY_ERROR:
      return std::string_view(node_->str, static_cast<std::size_t>(node_->len));
    default:
      return std::nullopt;
  }
}

std::optional<long long> Value::integer() const noexcept {
  if (node_->type != REDIS_REPLY_INTEGER) return std::nullopt;
  return node_->integer;
}

std::size_t Value::size() const noexcept {
  return is_array() ? node_->elements : 0;
}

Value Value::operator[](std::size_t index) const noexcept {
  return Value(node_->element[index]);
}

void Reply::Free::operator()(redisReply* tree) const noexcept {
  freeReplyObject(tree);
}

}  // namespace mailonce::redis
