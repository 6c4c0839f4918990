#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <utility>

#include <netuit/graph/csr_rows.hpp>
#include <netuit/graph/drawn_links.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/placement/blocks.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>

namespace netuit {

/// A way in which each process gets its own nodes of a graph with their outputs.
class RowSource {
 public:
  RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;
  virtual ~RowSource() = default;
  /// Divides the nodes among the workers: those of `num_threads` threads in each process. Returns the same on every process.
  /// Collective.
  virtual Blocks Divide(const uit::World& world, std::size_t num_threads) const = 0;
  /// Returns the nodes of this process. If it fails anywhere, every process throws. Collective.
  virtual CsrRows Rows(const uit::World& world, const Blocks& blocks) const = 0;
};

/// A graph of which each process reads or makes only its own part, so that no process needs memory for the whole.
///
///     netuit::Mesh mesh{team, netuit::ReadInParts("graph.csr")};
///     netuit::Mesh other{team, netuit::KroneckerInParts(20, 16, 1)};
///
/// Each worker gets a block of consecutive nodes, without METIS. Otherwise the mesh is the one that the same Topology with that
/// placement makes: the same edges in the same order, with the same numbers and weights. While the mesh is made, a process needs
/// about 75 bytes for each output of its nodes and the input that is its reverse, and more for weights. Nodes have no labels and
/// edges no delays. A mesh of several networks takes Graphs.
class GraphInParts {
 public:
  /// Of a source of rows, which must not be null.
  explicit GraphInParts(std::shared_ptr<const RowSource> rows) : rows_(std::move(rows)) {}

  /// Returns the same graph with the weight `weight(source, target)` for each edge, unless an edge has a weight other than 1
  /// already. `weight` must return the same on every process. A mesh throws uit::InputError if a weight is negative or not finite.
  GraphInParts WithWeights(std::function<double(NodeId source, NodeId target)> weight) const;

  /// For the mesh: returns the part of this process. Throws what the source throws. Collective.
  ProcessGraph Distribute(const uit::World& world, std::size_t num_threads) const;

 private:
  void Weigh(CsrRows& rows) const;

  std::shared_ptr<const RowSource> rows_;
  std::function<double(NodeId, NodeId)> weight_{};
};

/// Returns the graph in a CsrFile, of which each process reads its own nodes. All processes need the file, under the same path.
/// Workers get blocks with about the same number of nodes and outputs together. Nothing is read yet. A mesh throws uit::InputError,
/// with the name of the file, on the lowest rank that cannot read its part, and uit::FailedElsewhere on all others.
GraphInParts ReadInParts(const std::filesystem::path& path);

/// Returns the graph of MakeKronecker, of which each process draws an equal part of the links. It is the same for any number of
/// processes. Workers get equal numbers of nodes. A mesh throws uit::InputError if scale > 31.
GraphInParts KroneckerInParts(unsigned scale, NodeId edge_factor, std::uint64_t seed);

/// Returns the graph of MakeUniform in the same way.
GraphInParts UniformInParts(NodeId num_nodes, std::uint64_t num_links, std::uint64_t seed);

/// Returns a graph of links of your own in the same way. `make` is called when a mesh is made, on every process.
GraphInParts DrawInParts(std::function<DrawnLinks()> make);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/graph_in_parts.ipp>
#endif
