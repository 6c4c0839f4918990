#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <netuit/mesh/part.hpp>

#include "mesh.hpp"

namespace netuit::python {

/// The part that a worker updates, for Python. Valid while the update function is called; afterwards, every function throws.
class PartObject {
 public:
  /// Of a mesh, whose memory its arrays refer to.
  explicit PartObject(const MeshObject& mesh) : mesh_(mesh) {}

  /// Stands for `part` from now on, or for none if null.
  void Show(Part* part) { part_ = part; }
  /// Returns the part. Throws uit::Error if there is none.
  Part& Get() const;

  /// Returns the numbers of the nodes.
  nanobind::object Ids() const;
  /// Returns the nodes' own values, to be read and written in place.
  nanobind::object Own(std::size_t field) const;
  /// Returns an edge field's values of the edges that end at the nodes, to be read and written in place.
  nanobind::object OwnEdges(std::size_t field) const;
  /// Returns the weights of the edges that end at the nodes, by edge.
  nanobind::object EdgeWeightsByEdge() const;
  /// Returns where each node's edges begin, and where the last one's end.
  nanobind::object FirstEdges() const;
  /// Returns the node where each edge begins.
  nanobind::object Sources() const;
  /// Returns the neighbours' values by edge.
  nanobind::object Neighbors(std::size_t field) const;

  /// How to combine the values of a node's neighbours.
  enum class Fold { sum, mean, minimum, maximum };
  /// Stands for the weights of the graph's edges, in place of an edge field's number.
  static constexpr std::int64_t graph_weights = -1;
  /// Combines the neighbours' values for each node. Nodes without neighbours get 0. With weights, which an edge field of doubles or
  /// the graph has, each value is multiplied by the weight of its edge, and the mean is divided by the sum of the weights.
  nanobind::object Combine(std::size_t field, Fold fold, std::optional<std::int64_t> weights) const;
  /// Adds up numbers given by edge, for each node.
  nanobind::object SumEdges(const Given<double>& values) const;
  /// Repeats numbers given by node for each of its edges.
  nanobind::object PerEdge(const Given<double>& values) const;
  /// Returns numbers from [0, 1), one for each node, which depend on the seed, the node, the update and `draw` only.
  nanobind::object Random(std::uint32_t draw) const;
  /// Makes nodes publish nothing in this update: those where the mask is not 0.
  void StaySilent(const Given<std::uint8_t>& mask) const;
  /// Gives the nodes' numbers to a reduction. Of an extreme, that of all nodes is enough.
  void Contribute(std::size_t reduction, const Given<double>& numbers) const;

 private:
  /// Returns weights by edge; see Combine.
  const double* WeightsByEdge(std::int64_t of) const;

  const MeshObject& mesh_;
  Part* part_ = nullptr;
};

}  // namespace netuit::python
