#pragma once

#include <netuit/mesh/node.hpp>

namespace netuit {

/// A value per edge. The worker that updates the edge's target stores it. A handle, cheap to copy; the mesh owns the values.
///
///     auto trust = mesh.AddEdgeField<float>(0.5F);
///     … for (auto edge : node.In()) trust[edge] *= 0.99F;
template <typename T>
class EdgeField {
 public:
  using Value = T;  ///< type of an edge's value

  /// For the mesh: the values by input of the process.
  explicit EdgeField(T* values) : values_(values) {}

  /// Returns the edge's value. Call it during the update of the edge's target, or between runs.
  T& operator[](const InEdge& edge) const { return values_[edge.Index()]; }

  /// For the mesh: the values by input of the process.
  T* Values() const { return values_; }

 private:
  T* values_;
};

/// The weights of a network's edges from its graph, or 1 if the graph has none. Both ends of an edge can read its weight. A
/// handle.
class EdgeWeights {
 public:
  /// For the mesh: the weights by input and by output of the process.
  EdgeWeights(const double* by_input, const double* by_output) : by_input_(by_input), by_output_(by_output) {}

  /// Returns the weight of an edge that ends at the node.
  double operator[](const InEdge& edge) const { return by_input_[edge.Index()]; }
  /// Returns the weight of an edge that begins at the node.
  double operator[](const OutEdge& edge) const { return by_output_[edge.Index()]; }
  /// For parts: the weights by input of the process.
  const double* ByInput() const { return by_input_; }

 private:
  const double* by_input_;
  const double* by_output_;
};

}  // namespace netuit
