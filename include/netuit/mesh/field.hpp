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

  std::unique_ptr<T[]> own;           // as nodes wrote them; an array, because elements of std::vector<bool> have no address
  std::unique_ptr<T[]> by_update{};   // what neighbours see if a run shows values of the previous update; made on first use
  T* shown;                           // own or by_update
  std::size_t num_slots;
};

/// The values of a published field, and a type-free view of their memory.
template <typename T>
struct PublishedValues : FieldValues<T> {
  explicit PublishedValues(std::size_t count) : FieldValues<T>(count) {
    memory.slot_bytes = sizeof(T);
    memory.pack = PackSlotsOf<T>;
    Point();
  }
  /// Chooses whether neighbours see values of the previous update, or values in place. Between runs. The first `num_own` slots
  /// belong to nodes, the others to ghosts.
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

/// The values of an edge field in one process, by input or output.
template <typename T>
struct EdgeValues {
  explicit EdgeValues(std::size_t num_values) : values(std::make_unique<T[]>(num_values)) {}
  std::unique_ptr<T[]> values;
};

/// Base class, so that a mesh can own fields of any type.
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

/// A value per node that no other node reads. A handle, cheap to copy; the mesh owns the values.
///
///     auto power = mesh.AddField<double>(1.0);
///     mesh.Run(netuit::Free{.updates = 10}, [&](netuit::Node& node) { power[node] *= 2; });
template <typename T>
class Field {
 public:
  using Value = T;  ///< type of a node's value

  /// For the mesh: refers to the values.
  explicit Field(detail::FieldValues<T>& values) : values_(&values) {}

  /// Returns the node's value. Call it during the node's update, or between runs.
  T& operator[](const Node& node) const { return values_->own[node.Slot()]; }

  /// For the mesh: the value in a slot of a node.
  T& AtSlot(std::size_t slot) const { return values_->own[slot]; }

 private:
  detail::FieldValues<T>* values_;
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
/// update before. In the other modes, it is the newest value that has arrived; if the neighbour belongs to the same worker, it
/// is the neighbour's present value.
template <typename T>
class PublishedField {
 public:
  using Value = T;  ///< type of a node's value

  /// For the mesh: refers to the values.
  explicit PublishedField(detail::PublishedValues<T>& values) : values_(&values) {}

  /// Returns the node's own value, including writes of this update. Call it during the node's update, or between runs.
  T& operator[](const Node& node) const { return values_->own[node.Slot()]; }
  /// Returns the published value of the neighbour at the edge's other end.
  const T& operator[](const InEdge& edge) const { return values_->shown[edge.Slot()]; }

  /// For the mesh: the value in a slot of a node.
  T& AtSlot(std::size_t slot) const { return values_->own[slot]; }

 private:
  detail::PublishedValues<T>* values_;
};

}  // namespace netuit
