#pragma once

#include <cstddef>

#include <netuit/mesh/field.hpp>
#include <netuit/mesh/node.hpp>

namespace netuit {

/// The values of a published field at a cut, for CutReduction. A handle, cheap to copy; the mesh owns the values.
template <typename T>
class CutField {
 public:
  using Value = T;  ///< type of a node's value

  /// For the mesh: refers to the copies.
  explicit CutField(const detail::FieldValues<T>& values) : values_(values.own.get()) {}

  /// Returns the node's own value at the cut. Call it in the function of a CutReduction. Between runs, the cut is the end of the run.
  const T& operator[](const Node& node) const { return values_[node.Slot()]; }
  /// Returns the value of the neighbour at the edge's other end, likewise.
  const T& operator[](const InEdge& edge) const { return values_[edge.Slot()]; }

  /// For the mesh: the value in a slot of a node.
  const T& AtSlot(std::size_t slot) const { return values_[slot]; }

 private:
  const T* values_;
};

}  // namespace netuit
