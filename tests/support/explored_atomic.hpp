#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <vector>

#include <uit/support/sync.hpp>

#include "tests/support/memory_orders.hpp"
#include "tests/support/schedule_explorer.hpp"

namespace uit::testing {

/// The synchronisation whose atomics the explorer models.
struct Explored {
  static constexpr bool concurrent = true;
  static constexpr std::size_t alignment = 1;

  template <typename V>
  class Atomic {
   public:
    using Where = std::source_location;

    explicit Atomic(V value) { Append(value, std::memory_order_release, nullptr); }
    /// A word that has had this value since before the threads began.
    static Atomic FromTheBeginning(V value) { return Atomic{value, nullptr}; }
    Atomic(const Atomic&) = delete;
    Atomic& operator=(const Atomic&) = delete;
    ~Atomic() {
      Explorer* const explorer = Explorer::Current();
      if (explorer == nullptr || explorer->IsLeaving()) return;
      const Explorer::Unbroken unbroken;
      if (!explorer->IsAfter(touched_)) explorer->Fail("an atomic was destroyed while it was used");
    }

    V load(std::memory_order order, const Where& where = Where::current()) const {
      Explorer& explorer = *Explorer::Current();
      explorer.Point();
      const std::size_t oldest = OldestVisible();
      const std::size_t index = stores_.size() - 1 - explorer.Choose(stores_.size() - oldest);
      NoteSeen(index);
      if (IsAcquire(MemoryOrders::Get().At(where, OrderOf::load, order)))
        Explorer::Join(explorer.Clock(), stores_[index].released);
      return stores_[index].value;
    }

    void store(V value, std::memory_order order, const Where& where = Where::current()) {
      Explorer::Current()->Point(false);
      Append(value, MemoryOrders::Get().At(where, OrderOf::store, order), nullptr);
    }

    V exchange(V value, std::memory_order order, const Where& where = Where::current()) {
      return Modify(order, where, [&](V) { return value; });
    }
    V fetch_add(V amount, std::memory_order order, const Where& where = Where::current()) {
      return Modify(order, where, [&](V old) { return static_cast<V>(old + amount); });
    }
    /// A failed exchange reads the newest value. The ducts' failed exchanges read no other.
    bool compare_exchange_strong(V& expected, V value, std::memory_order success, std::memory_order failure,
                                 const Where& where = Where::current()) {
      Explorer& explorer = *Explorer::Current();
      explorer.Point();
      const StoreEvent before = stores_.back();
      if (before.value != expected) {
        NoteSeen(stores_.size() - 1);
        if (IsAcquire(MemoryOrders::Get().At(where, OrderOf::failure, failure)))
          Explorer::Join(explorer.Clock(), before.released);
        expected = before.value;
        return false;
      }
      const std::memory_order order = MemoryOrders::Get().At(where, OrderOf::exchange, success);
      if (IsAcquire(order)) Explorer::Join(explorer.Clock(), before.released);
      Append(value, order, &before.released);
      return true;
    }

    // For memory that is not always used atomically.

    /// Returns the last value stored.
    V Newest() const { return stores_.back().value; }
    /// Stores a value without any ordering. Not a scheduling point.
    void WritePlainly(V value) { Append(value, std::memory_order_relaxed, nullptr); }
    /// When each thread last used it.
    const Explorer::VectorClock& Touched() const { return touched_; }

   private:
    using VectorClock = Explorer::VectorClock;
    struct StoreEvent {
      V value;
      VectorClock released;  // what an acquire load of this store learns
    };
    struct Seen {
      std::uint32_t time;
      std::size_t index;
    };

    Atomic(V value, std::nullptr_t) { stores_.push_back({value, VectorClock{}}); }

    static bool IsAcquire(std::memory_order order) {
      return order == std::memory_order_acquire || order == std::memory_order_acq_rel;
    }
    static bool IsRelease(std::memory_order order) {
      return order == std::memory_order_release || order == std::memory_order_acq_rel;
    }

    template <typename F>
    V Modify(std::memory_order order, const Where& where, F&& f) {
      Explorer& explorer = *Explorer::Current();
      explorer.Point();
      order = MemoryOrders::Get().At(where, OrderOf::exchange, order);
      const StoreEvent before = stores_.back();
      if (IsAcquire(order)) Explorer::Join(explorer.Clock(), before.released);
      Append(f(before.value), order, &before.released);  // continues its release sequence
      return before.value;
    }

    void Append(V value, std::memory_order order, const VectorClock* sequence) {
      Explorer& explorer = *Explorer::Current();
      VectorClock released{};
      if (sequence != nullptr) released = *sequence;
      stores_.push_back({value, released});
      NoteSeen(stores_.size() - 1);
      if (IsRelease(order)) Explorer::Join(stores_.back().released, explorer.Clock());
    }

    /// This thread has read the store `index`. A thread ordered after it reads no earlier one.
    void NoteSeen(std::size_t index) const {
      Explorer& explorer = *Explorer::Current();
      auto& seen = seen_[explorer.Thread()];
      const std::uint32_t time = explorer.Tick();
      touched_[explorer.Thread()] = time;
      if (seen.empty() || seen.back().index < index) seen.push_back({time, index});
    }

    std::size_t OldestVisible() const {
      const VectorClock& clock = Explorer::Current()->Clock();
      std::size_t oldest = 0;
      for (std::size_t thread = 0; thread < seen_.size(); ++thread)
        for (const Seen& seen : seen_[thread])
          if (seen.time <= clock[thread]) oldest = std::max(oldest, seen.index);
      return oldest;
    }

    std::vector<StoreEvent> stores_;
    mutable std::array<std::vector<Seen>, Explorer::max_threads + 1> seen_;
    mutable VectorClock touched_{};
  };
};

static_assert(Synchronization<Explored>);

}  // namespace uit::testing
