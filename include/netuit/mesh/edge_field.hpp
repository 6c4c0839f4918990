#pragma once

#include <cstddef>
#include <memory>

#include <netuit/mesh/node.hpp>

namespace netuit {

/// A value per edge, kept where the edge ends. A handle, cheap to copy; its mesh owns the values.
///
///     auto trust = mesh.AddEdgeField<float>(0.5F);
///     … for (auto edge : node.In()) trust[edge] *= 0.99F;
template <typename T>
class EdgeField {
 public:
  using Value = T;  ///< of an edge

  /// For the mesh: the values by input of the process.
  explicit EdgeField(T* values) : values_(values) {}

  /// The edge's value. During an update of the node at which it ends, or between runs.
  T& operator[](const InEdge& edge) const { return values_[edge.Index()]; }

  /// For the mesh: the values by input of the process.
  T* Values() const { return values_; }

 private:
  T* values_;
};

/// The weights of a network's edges, as the graph has them; 1 where it has none. Both ends of an edge know it. A handle.
class EdgeWeights {
 public:
  /// For the mesh: the weights by input and by output of the process.
  EdgeWeights(const double* by_input, const double* by_output) : by_input_(by_input), by_output_(by_output) {}

  /// Of an edge that ends here.
  double operator[](const InEdge& edge) const { return by_input_[edge.Index()]; }
  /// Of an edge that begins here.
  double operator[](const OutEdge& edge) const { return by_output_[edge.Index()]; }

 private:
  const double* by_input_;
  const double* by_output_;
};

}  // namespace netuit
