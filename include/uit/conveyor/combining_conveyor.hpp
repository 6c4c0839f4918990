#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <uit/codec/codec.hpp>
#include <uit/config.hpp>
#include <uit/conveyor/conveyor.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/conveyors.hpp>
#include <uit/conveyor/quiescence.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/team/member.hpp>

namespace uit {

/// A type of keys: std::hash and == must exist.
template <typename K>
concept ItemKey = TriviallyCopyable<K> && std::equality_comparable<K> && requires(const K& key) {
  { std::hash<K>{}(key) } -> std::convertible_to<std::size_t>;
};

/// An item of a CombiningConveyor.
template <ItemKey Key, TriviallyCopyable Value>
struct Keyed {
  Key key{};      ///< for example, the place of a sum
  Value value{};  ///< for example, a summand
};

/// A conveyor of values with keys, which combines values of the same key before it sends them.
///
///     uit::CombiningConveyor<std::uint32_t, double, std::plus<>> conveyor{
///         me, [&](const uit::Keyed<std::uint32_t, double>& item) { sum[item.key] += item.value; }, uit::Combine{std::plus<>{}}};
///     for (…) conveyor.Push(owner, {place, summand});
///     conveyor.Finish();
///
/// A member keeps pushed items in a table of fixed size. A push combines its value with one of the same key and member in the
/// table. Otherwise it takes the slot of the table that its key has, and what was there is sent. Flush sends the whole table. So do
/// Finish, also that of the set, and Tasks that wait for others to end: when nothing else is to be done, and now and then.
///
/// What Conveyor promises holds here, too, with one difference: only items of the same key keep their order.
///
/// It helps if the same keys come again while they are in the table; otherwise it costs some nanoseconds for each item.
template <ItemKey Key, TriviallyCopyable Value, std::copy_constructible Operation>
  requires std::is_invocable_r_v<Value, Operation&, const Value&, const Value&> && Encodable<Keyed<Key, Value>>
class CombiningConveyor final : detail::Carrier {
 public:
  /// What is pushed and handled.
  using Item = Keyed<Key, Value>;

  /// Collective over the whole team. Throws InputError if the options have no room for the table and the buffers.
  template <ItemHandler<Item> F>
  CombiningConveyor(Member& me, F handler, const Combine<Operation>& options)
      : alone_(std::in_place, me), set_(*alone_), operation_(options.operation), table_(NumSlots(options)),
        conveyor_(set_, std::move(handler), WithoutTable(options)) {
    Open();
  }
  /// One of several conveyors of a member. Collective; throws as the other.
  template <ItemHandler<Item> F>
  CombiningConveyor(Conveyors& set, F handler, const Combine<Operation>& options)
      : set_(set), operation_(options.operation), table_(NumSlots(options)),
        conveyor_(set_, std::move(handler), WithoutTable(options)) {
    Open();
  }
  CombiningConveyor(const CombiningConveyor&) = delete;             ///< Not copied: its handler may refer to it.
  CombiningConveyor& operator=(const CombiningConveyor&) = delete;  ///< Not copied.
  ~CombiningConveyor() { Leave(set_); }

  /// Sends an item to member `to`, as Conveyor::Push does, later or together with others.
  UIT_INLINE void Push(std::size_t to, const Item& item) {
    Slot& slot = SlotFor(to, item.key);
    if (TryCombine(slot, to, item)) return;
    if (slot.to != nobody) [[unlikely]] return Replace(slot, to, item);
    Occupy(slot, to, item);
  }
  /// Takes an item if it is combined, or if the table or the buffers have room at once. Otherwise returns false and counts it as
  /// refused, or throws as Conveyor::TryPush, perhaps for the member of another item of the table. Never waits, and handles nothing.
  bool TryPush(std::size_t to, const Item& item) {
    Slot& slot = SlotFor(to, item.key);
    if (TryCombine(slot, to, item)) return true;
    if (slot.to == nobody) return Occupy(slot, to, item), true;
    if (slot.to == closed) CheckWorks(set_);
    if (!conveyor_.TryPush(slot.to, slot.item)) return ++refused_, false;
    slot = {static_cast<std::uint32_t>(to), item};
    return true;
  }
  bool HandleArrived() { return conveyor_.HandleArrived(); }  ///< As Conveyor::HandleArrived. Leaves the table as it is.
  /// As Conveyor::WaitUntil: sends the table, too.
  template <std::predicate Ready>
  void WaitUntil(Ready&& ready) {
    conveyor_.WaitUntil(ready);
  }
  /// As Conveyor::Flush: sends the table, too.
  void Flush() {
    conveyor_.HandleArrived();
    while (!occupied_.empty())
      if (!TryReleaseLast()) conveyor_.MakeRoom(table_[occupied_.back()].to);
    conveyor_.Flush();
  }
  void Finish() { conveyor_.Finish(); }  ///< As Conveyor::Finish.

  /// What this member has done since the beginning.
  ConveyorTally Tally() const {
    ConveyorTally tally = conveyor_.Tally();
    tally.pushed += occupied_.size() + combined_;
    tally.combined = combined_;
    tally.refused = refused_;
    return tally;
  }
  /// Bytes of this member's table, buffers and spill: at most the budget in the options.
  std::size_t NumBytes() const { return table_.size() * slot_bytes + conveyor_.NumBytes(); }

 private:
  static constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t closed = nobody - 1;  // in all slots once something has failed
  struct Slot {
    std::uint32_t to = nobody;
    Item item{};
  };
  static constexpr std::size_t slot_bytes = sizeof(Slot) + sizeof(std::uint32_t);

  static std::size_t NumSlots(const Combine<Operation>& options) {
    return detail::SizeTable(options.table_bytes, options.conveyor.budget_bytes, slot_bytes);
  }
  static ConveyorOptions WithoutTable(const Combine<Operation>& options) {
    ConveyorOptions conveyor = options.conveyor;
    conveyor.budget_bytes -= NumSlots(options) * slot_bytes;
    return conveyor;
  }
  void Open() {
    occupied_.reserve(table_.size());
    shift_ = 64 - std::countr_zero(table_.size());
    Join(set_);
  }

  UIT_INLINE Slot& SlotFor(std::size_t to, const Key& key) {
    UIT_ASSERT(to < set_.GetMember().Size(), "an item is pushed to a member of the team");
    constexpr std::uint64_t golden = 0x9e37'79b9'7f4a'7c15;  // 2^64 divided by the golden ratio: spreads successive keys
    const std::uint64_t hash = (std::hash<Key>{}(key) + (std::uint64_t{to} << 40U)) * golden;
    return table_[shift_ == 64 ? 0 : hash >> shift_];
  }
  UIT_INLINE bool TryCombine(Slot& slot, std::size_t to, const Item& item) {
    if (slot.to != to || !(slot.item.key == item.key)) return false;
    slot.item.value = operation_(std::as_const(slot.item.value), item.value);
    ++combined_;
    return true;
  }
  void Occupy(Slot& slot, std::size_t to, const Item& item) {
    occupied_.push_back(static_cast<std::uint32_t>(&slot - table_.data()));
    slot = {static_cast<std::uint32_t>(to), item};
  }
  void Replace(Slot& slot, std::size_t to, const Item& item) {
    if (slot.to == closed) CheckWorks(set_);
    while (!conveyor_.MakeRoom(slot.to)) {  // handlers may then have used the slot
    }
    conveyor_.Push(slot.to, slot.item);
    slot = {static_cast<std::uint32_t>(to), item};
  }
  /// Sends the item of the slot that was occupied last, if there is room for it.
  bool TryReleaseLast() {
    Slot& slot = table_[occupied_.back()];
    if (!conveyor_.TryPush(slot.to, slot.item)) return false;
    slot.to = nobody;
    occupied_.pop_back();
    return true;
  }

  bool HandleOwn() override { return false; }
  void SendOwn(bool) override {}
  void ReleaseHeld() override {
    while (!occupied_.empty() && TryReleaseLast()) {
    }
  }
  void AddCounts(detail::QuiescenceCounts& sum) const override { sum.num_sent += occupied_.size(); }
  void Close() override {
    for (Slot& slot : table_) slot.to = closed;
  }

  std::optional<Conveyors> alone_{};  // unless it is one of several
  Conveyors& set_;
  Operation operation_;
  std::vector<Slot> table_;
  std::vector<std::uint32_t> occupied_{};  // slots with an item
  int shift_ = 0;                          // of a hash, to the number of its slot
  std::uint64_t combined_ = 0;
  std::uint64_t refused_ = 0;
  Conveyor<Item> conveyor_;
};

}  // namespace uit
