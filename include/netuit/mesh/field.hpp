#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <netuit/file/numpy_format.hpp>
#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/node.hpp>
#include <uit/codec/codec.hpp>
#include <uit/support/assert.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/type_hash.hpp>

namespace netuit {

namespace detail {

/// The values of a field in one process, by slot.
template <typename T>
struct FieldValues {
  using Value = T;
  explicit FieldValues(std::size_t count) : own(std::make_unique<T[]>(count)) {}
  T* First() const { return own.get(); }
  std::unique_ptr<T[]> own;  // as nodes wrote them; an array, because elements of std::vector<bool> have no address
};

/// The values of a published field, and a type-free view of their memory.
template <typename T>
struct PublishedValues : FieldValues<T> {
  /// `count` slots, and so many if a run shows values of the previous update.
  PublishedValues(std::size_t count, std::size_t num_by_update)
      : FieldValues<T>(count), shown(this->own.get()), num_slots(count), num_slots_by_update(num_by_update) {
    memory.slot_bytes = sizeof(T);
    memory.pack = PackSlotsOf<T>;
    Point();
  }
  /// Chooses whether neighbours see values of the previous update, or values in place. Between runs. The first `num_own` slots
  /// belong to nodes, the others to ghosts.
  void SetByUpdate(bool is_by_update, std::size_t num_own) {
    if (memory.IsByUpdate() == is_by_update) return;
    const std::size_t num_ghosts = num_slots - num_own;
    if (is_by_update) {
      if (by_update == nullptr) by_update = std::make_unique<T[]>(num_slots_by_update);
      std::memcpy(static_cast<void*>(by_update.get()), this->own.get(), num_slots * sizeof(T));
    } else {
      std::memcpy(static_cast<void*>(this->own.get() + num_own), by_update.get() + num_own, num_ghosts * sizeof(T));
    }
    shown = is_by_update ? by_update.get() : this->own.get();
    Point();
  }

  std::unique_ptr<T[]> by_update{};  // what neighbours see if a run shows values of the previous update; made on first use
  T* shown;                          // own or by_update
  std::size_t num_slots;
  std::size_t num_slots_by_update;
  FieldMemory memory;

 private:
  void Point() {
    memory.own = reinterpret_cast<std::byte*>(this->own.get());
    memory.shown = reinterpret_cast<std::byte*>(shown);
  }
};

/// The values of an edge field in one process, by input or output.
template <typename T>
struct EdgeValues {
  using Value = T;
  EdgeValues(std::size_t num_values, std::uint32_t of) : values(std::make_unique<T[]>(num_values)), network(of) {}
  T* First() const { return values.get(); }
  std::unique_ptr<T[]> values;
  std::uint32_t network;
};

/// How a field's values are stored, so that a checkpoint can save them without their type.
struct FieldStorage {
  std::optional<std::uint32_t> network{};  // if they belong to the inputs of this network; else they belong to nodes, by slot
  std::uint64_t type = 0;                  // hash of their type
  NumpyType numpy{};
  std::size_t num_bytes = 0;               // of a value; 0 if sizes vary
  bool can_be_saved = true;                // whether their bytes are known
};

/// Base class, so that a mesh can own fields of any type.
class AnyField {
 public:
  AnyField() = default;
  AnyField(const AnyField&) = delete;
  AnyField& operator=(const AnyField&) = delete;
  virtual ~AnyField() = default;
  virtual void SetByUpdate(bool is_by_update, std::size_t num_own) = 0;

  virtual FieldStorage Storage() const = 0;
  /// Returns the address of the first value.
  virtual std::byte* First() const = 0;
  /// Returns the memory of a published field; null for others.
  virtual const FieldMemory* Published() const = 0;
  /// Appends a value whose size varies.
  virtual void Encode(std::size_t at, std::vector<std::byte>& to) const = 0;
  /// Reads such a value. Returns false if the bytes are none.
  [[nodiscard]] virtual bool TryDecode(std::size_t at, uit::ByteView from) = 0;

  std::string name{};       // in checkpoints; empty: by its number
  bool is_derived = false;  // from the graph, so that a checkpoint need not have it
  std::vector<std::uint32_t> along{};  // numbers of the networks along which it is published
};
template <typename V>
class OwnedField final : public AnyField, public V {
  using T = typename V::Value;
  static constexpr bool is_fixed = std::is_trivially_copyable_v<T>;
  static constexpr bool can_be_saved = is_fixed || uit::Encodable<T>;

 public:
  using V::V;
  void SetByUpdate([[maybe_unused]] bool is_by_update, [[maybe_unused]] std::size_t num_own) override {
    if constexpr (requires(V& values) { values.SetByUpdate(is_by_update, num_own); }) V::SetByUpdate(is_by_update, num_own);
  }
  FieldStorage Storage() const override {
    FieldStorage storage{.can_be_saved = can_be_saved};
    if constexpr (requires(const V& values) { values.network; }) storage.network = V::network;
    if constexpr (can_be_saved) storage.type = uit::TypeHash<T>();
    if constexpr (is_fixed) {
      storage.numpy = NumpyTypeOf<T>();
      storage.num_bytes = sizeof(T);
    }
    return storage;
  }
  std::byte* First() const override { return reinterpret_cast<std::byte*>(V::First()); }
  const FieldMemory* Published() const override {
    if constexpr (requires(const V& values) { values.memory; }) return &this->memory;
    else return nullptr;
  }
  void Encode([[maybe_unused]] std::size_t at, [[maybe_unused]] std::vector<std::byte>& to) const override {
    if constexpr (!is_fixed && can_be_saved) {
      const std::size_t begin = to.size();
      to.resize(begin + uit::codec_for<T>.Size(V::First()[at]));
      uit::codec_for<T>.Encode(V::First()[at], std::span(to).subspan(begin));
    }
  }
  bool TryDecode([[maybe_unused]] std::size_t at, [[maybe_unused]] uit::ByteView from) override {
    if constexpr (!is_fixed && can_be_saved) return uit::codec_for<T>.TryDecode(from, V::First()[at]);
    else return false;
  }
};

}  // namespace detail

/// A value per node that no other node reads. A handle, cheap to copy; the mesh owns the values.
///
///     auto power = mesh.AddField<double>(1.0);
///     mesh.Run(netuit::Free{.updates = 10}, [&](netuit::Node& node) { power[node] *= 2; });
template <typename T>
class Field {
 public:
  using Value = T;  ///< type of a node's value

  /// For the mesh: refers to the values.
  explicit Field(detail::FieldValues<T>& values) : values_(values.own.get()) {}

  /// Returns the node's value. Call it during the node's update, or between runs.
  T& operator[](const Node& node) const { return values_[node.Slot()]; }

  /// For the mesh: the value in a slot of a node.
  T& AtSlot(std::size_t slot) const { return values_[slot]; }

 private:
  T* values_;
};

/// A value per node that the node's out-neighbours read. A handle, cheap to copy; the mesh owns the values.
///
///     auto theta = mesh.AddPublishedField<double>(0.0);
///     mesh.Run(netuit::Free{.duration = 5s}, [&](netuit::Node& node) {
///       double sum = 0;
///       for (auto edge : node.In()) sum += theta[edge];           // the neighbour's published value
///       theta[node] = sum / static_cast<double>(node.In().size()); // published at the end of the node's update
///     });
///
/// The schedule decides which value an edge shows. In EveryUpdate, it is exactly the value that the neighbour published in the
/// previous update; in Dataflow too, unless the edge has another delay. In the other modes, it is the newest value that has arrived;
/// if the neighbour belongs to the same worker, it is the neighbour's present value.
template <typename T>
class PublishedField {
 public:
  using Value = T;  ///< type of a node's value

  /// For the mesh: refers to the values.
  explicit PublishedField(detail::PublishedValues<T>& values) : own_(values.own.get()), values_(&values) {}

  /// Returns the node's own value, including writes of this update. Call it during the node's update, or between runs.
  T& operator[](const Node& node) const { return own_[node.Slot()]; }
  /// Returns the published value of the neighbour at the edge's other end.
  const T& operator[](const InEdge& edge) const { return values_->shown[edge.Slot()]; }
  /// Returns all values that edges of this process show, by slot; see PartInputs::Slots. Call it during an update.
  std::span<const T> Shown() const {
    return {values_->shown, values_->memory.IsByUpdate() ? values_->num_slots_by_update : values_->num_slots};
  }

  /// For the mesh: the memory of the values.
  const FieldMemory& Memory() const { return values_->memory; }
  /// For the mesh: the value in a slot of a node.
  T& AtSlot(std::size_t slot) const { return own_[slot]; }

 private:
  T* own_;  // a copy, because it is the same in every run
  detail::PublishedValues<T>* values_;
};

}  // namespace netuit
