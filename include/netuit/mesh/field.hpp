#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/node.hpp>
#include <uit/support/assert.hpp>

namespace netuit {

namespace detail {

/// The values of a field in one process, by slot.
template <typename T>
struct FieldValues {
  explicit FieldValues(std::size_t count) : own(std::make_unique<T[]>(count)), shown(own.get()), num_slots(count) {}

  std::unique_ptr<T[]> own;           // as nodes have written them; an array, because a vector of bool has no addresses
  std::unique_ptr<T[]> by_update{};   // as neighbours see them in runs that show values update by update; made for the first one
  T* shown;                           // own or by_update
  std::size_t num_slots;
};

/// The values of a published field, and their memory as the library moves it.
template <typename T>
struct PublishedValues : FieldValues<T> {
  explicit PublishedValues(std::size_t count) : FieldValues<T>(count) {
    memory.slot_bytes = sizeof(T);
    memory.pack = PackSlotsOf<T>;
    Point();
  }
  /// Shows values update by update, or in place. Between runs. `num_own` slots are of nodes, the others of ghosts.
  void SetByUpdate(bool is_by_update, std::size_t num_own) {
    if (memory.IsByUpdate() == is_by_update) return;
    const std::size_t num_ghosts = this->num_slots - num_own;
    if (is_by_update) {
      if (this->by_update == nullptr) this->by_update = std::make_unique<T[]>(this->num_slots);
      std::memcpy(static_cast<void*>(this->by_update.get()), this->own.get(), this->num_slots * sizeof(T));
    } else {
      std::memcpy(static_cast<void*>(this->own.get() + num_own), this->by_update.get() + num_own, num_ghosts * sizeof(T));
    }
    this->shown = is_by_update ? this->by_update.get() : this->own.get();
    Point();
  }

  FieldMemory memory;

 private:
  void Point() {
    memory.own = reinterpret_cast<std::byte*>(this->own.get());
    memory.shown = reinterpret_cast<std::byte*>(this->shown);
  }
};

/// The values of a field per edge in one process, by input or output.
template <typename T>
struct EdgeValues {
  explicit EdgeValues(std::size_t num_values) : values(std::make_unique<T[]>(num_values)) {}
  std::unique_ptr<T[]> values;
};

/// Any of these, as a mesh keeps them.
class AnyField {
 public:
  AnyField() = default;
  AnyField(const AnyField&) = delete;
  AnyField& operator=(const AnyField&) = delete;
  virtual ~AnyField() = default;
  virtual void SetByUpdate(bool is_by_update, std::size_t num_own) = 0;
};
template <typename V>
class OwnedField final : public AnyField, public V {
 public:
  using V::V;
  void SetByUpdate([[maybe_unused]] bool is_by_update, [[maybe_unused]] std::size_t num_own) override {
    if constexpr (requires(V& values) { values.SetByUpdate(is_by_update, num_own); }) V::SetByUpdate(is_by_update, num_own);
  }
};

}  // namespace detail

/// A value per node, which no other node sees. A handle, cheap to copy; its mesh owns the values.
///
///     auto power = mesh.AddField<double>(1.0);
///     mesh.Run(netuit::Free{.updates = 10}, [&](netuit::Node& node) { power[node] *= 2; });
template <typename T>
class Field {
 public:
  using Value = T;  ///< of a node

  /// For the mesh: refers to the values.
  explicit Field(detail::FieldValues<T>& values) : values_(&values) {}

  /// The node's value. During its update, or between runs.
  T& operator[](const Node& node) const { return values_->own[node.Slot()]; }

  /// For the mesh: the value in a slot of a node.
  T& AtSlot(std::size_t slot) const { return values_->own[slot]; }

 private:
  detail::FieldValues<T>* values_;
};

/// A value per node that its out-neighbours see. A handle, cheap to copy; its mesh owns the values.
///
///     auto theta = mesh.AddPublishedField<double>(0.0);
///     mesh.Run(netuit::Free{.duration = 5s}, [&](netuit::Node& node) {
///       double sum = 0;
///       for (auto edge : node.In()) sum += theta[edge];           // what the neighbour has published
///       theta[node] = sum / static_cast<double>(node.In().size()); // published at the end of the node's update
///     });
///
/// What an edge shows depends on the schedule: in EveryUpdate exactly what the neighbour published in the update before, in
/// the others the newest that has arrived; a neighbour of the same worker is then seen as it is at that moment.
template <typename T>
class PublishedField {
 public:
  using Value = T;  ///< of a node

  /// For the mesh: refers to the values.
  explicit PublishedField(detail::PublishedValues<T>& values) : values_(&values) {}

  /// The node's own value: new as soon as it has been written. During its update, or between runs.
  T& operator[](const Node& node) const { return values_->own[node.Slot()]; }
  /// What the neighbour at the other end of the edge has published.
  const T& operator[](const InEdge& edge) const { return values_->shown[edge.Slot()]; }

  /// For the mesh: the value in a slot of a node.
  T& AtSlot(std::size_t slot) const { return values_->own[slot]; }

 private:
  detail::PublishedValues<T>* values_;
};

}  // namespace netuit
