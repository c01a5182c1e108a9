// Records in this process's memory, shared by all its workers: the store `memory`, and the guard's shadow of
// Redis. Bounded by a number of records, forgotten at exit. Thread-safe: one mutex, held for a few map
// operations.
#pragma once
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>

#include "mailonce/window/store.h"

namespace mailonce::window {

struct MemoryOptions {
  std::size_t max_records =
      200'000;  // some 500 octets each; beyond it the `sent` nearest to its end is forgotten
};

class MemoryStore final : public Store {
 public:
  // `clock` must outlive the store.
  MemoryStore(MemoryOptions options, const Clock& clock);

  awaitable<Result<StepResult>> step(Step step) override;
  awaitable<Result<>> visit(std::function<void(const StoredRecord&)> see) override;
  // The step without a coroutine.
  StepResult apply(const Step& step);

  std::size_t size() const;

 private:
  struct Key {
    Digest fingerprint;
    std::string recipient;
  };
  struct KeyView {
    const Digest& fingerprint;
    std::string_view recipient;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const KeyView& key) const noexcept;
    std::size_t operator()(const Key& key) const noexcept;
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Key& a, const Key& b) const noexcept;
    bool operator()(const KeyView& a, const Key& b) const noexcept;
    bool operator()(const Key& a, const KeyView& b) const noexcept;
  };
  // What ends next stands first. Attempts under way are kept apart: they are as few as there are sessions,
  // and forgetting one to make room would let a repeat pass it.
  using Order = std::multimap<TimePoint, const Key*>;
  struct Entry {
    Record record;
    Order::iterator place;
  };
  using Map = std::unordered_map<Key, Entry, Hash, Equal>;

  struct Shelf;
  void insert(Key key, Record record, TimePoint ends);
  void erase(Map::iterator entry);
  void move_to(Entry& entry, TimePoint ends);
  void sweep(Order& order, TimePoint now, std::size_t at_most);
  void make_room();
  Order& order_of(const Record& record) noexcept;

  const std::size_t max_records_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  Map records_;
  Order under_way_;  // claimed, sending
  Order settled_;    // sent
};

}  // namespace mailonce::window
