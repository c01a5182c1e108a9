#include "mailonce/window/memory_store.h"

#include <cstring>
#include <functional>

#include "perform.h"

namespace mailonce::window {
namespace {

constexpr std::size_t sweep_each_step = 4;

std::size_t hash_of(const Digest& fingerprint, std::string_view recipient) noexcept {
  std::size_t first = 0;
  std::memcpy(&first, fingerprint.bytes.data(), sizeof first);
  return first ^ std::hash<std::string_view>{}(recipient);
}

}  // namespace

std::size_t MemoryStore::Hash::operator()(const KeyView& key) const noexcept {
  return hash_of(key.fingerprint, key.recipient);
}

std::size_t MemoryStore::Hash::operator()(const Key& key) const noexcept {
  return hash_of(key.fingerprint, key.recipient);
}

bool MemoryStore::Equal::operator()(const Key& a, const Key& b) const noexcept {
  return a.fingerprint == b.fingerprint && a.recipient == b.recipient;
}

bool MemoryStore::Equal::operator()(const KeyView& a, const Key& b) const noexcept {
  return a.fingerprint == b.fingerprint && a.recipient == b.recipient;
}

bool MemoryStore::Equal::operator()(const Key& a, const KeyView& b) const noexcept {
  return (*this)(b, a);
}

MemoryStore::MemoryStore(MemoryOptions options, const Clock& clock)
    : max_records_(options.max_records), clock_(clock) {}

awaitable<Result<StepResult>> MemoryStore::step(Step step) {
  co_return apply(step);
}

// The records of one step's fingerprint, while the mutex is held.
struct MemoryStore::Shelf {
  MemoryStore& store;
  const Digest& fingerprint;
  const TimePoint now;

  Map::iterator at(const std::string& recipient) const {
    return store.records_.find(KeyView{fingerprint, recipient});
  }
  // A record lives until its end and not beyond, swept or not. As in Redis it is still there in its last
  // millisecond.
  Record find(const std::string& recipient) {
    const auto found = at(recipient);
    if (found == store.records_.end()) return {};
    if (found->second.place->first >= now) return found->second.record;
    store.erase(found);
    return {};
  }
  void put(const std::string& recipient, Record record, TimePoint ends) {
    const auto found = at(recipient);
    if (found == store.records_.end()) {
      store.insert({fingerprint, recipient}, std::move(record), ends);
      return;
    }
    auto node = store.order_of(found->second.record).extract(found->second.place);
    found->second.record = std::move(record);
    node.key() = ends;
    found->second.place = store.order_of(found->second.record).insert(std::move(node));
  }
  void prolong(const std::string& recipient, TimePoint ends) {
    auto& entry = at(recipient)->second;
    if (ends > entry.place->first) store.move_to(entry, ends);
  }
  TimePoint end_of(const std::string& recipient) const { return at(recipient)->second.place->first; }
  void erase(const std::string& recipient) { store.erase(at(recipient)); }
};

StepResult MemoryStore::apply(const Step& step) {
  const std::lock_guard lock(mutex_);
  const TimePoint now = clock_.now();
  sweep(under_way_, now, sweep_each_step);
  sweep(settled_, now, sweep_each_step);
  Shelf shelf{*this, step.fingerprint, now};
  auto result = perform(step, now, shelf);
  make_room();
  return result;
}

awaitable<Result<>> MemoryStore::visit(std::function<void(const StoredRecord&)> see) {
  const std::lock_guard lock(mutex_);
  const TimePoint now = clock_.now();
  for (const auto& [key, entry] : records_) {
    const auto left = std::chrono::duration_cast<milliseconds>(entry.place->first - now);
    if (left >= milliseconds(0)) see({key.fingerprint, key.recipient, entry.record, left});
  }
  co_return Result<>();
}

std::size_t MemoryStore::size() const {
  const std::lock_guard lock(mutex_);
  return records_.size();
}

void MemoryStore::insert(Key key, Record record, TimePoint ends) {
  const auto [entry, made] = records_.try_emplace(std::move(key));
  entry->second.record = std::move(record);
  entry->second.place = order_of(entry->second.record).emplace(ends, &entry->first);
}

void MemoryStore::erase(Map::iterator entry) {
  order_of(entry->second.record).erase(entry->second.place);
  records_.erase(entry);
}

void MemoryStore::move_to(Entry& entry, TimePoint ends) {
  auto& order = order_of(entry.record);
  auto node = order.extract(entry.place);
  node.key() = ends;
  entry.place = order.insert(std::move(node));
}

void MemoryStore::sweep(Order& order, TimePoint now, std::size_t at_most) {
  for (; at_most > 0 && !order.empty() && order.begin()->first < now; --at_most) {
    erase(records_.find(*order.begin()->second));
  }
}

void MemoryStore::make_room() {
  while (records_.size() > max_records_) {
    const auto& order = settled_.empty() ? under_way_ : settled_;
    erase(records_.find(*order.begin()->second));
  }
}

MemoryStore::Order& MemoryStore::order_of(const Record& record) noexcept {
  return record.state == State::sent ? settled_ : under_way_;
}

}  // namespace mailonce::window
