#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <netuit/file/csr_file.hpp>
#include <netuit/graph/csr_rows.hpp>
#include <netuit/graph/drawn_links.hpp>
#include <netuit/graph/kronecker.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/graph/uniform.hpp>
#include <netuit/mesh/exchange_items.hpp>
#include <netuit/mesh/graph_in_parts.hpp>
#include <netuit/mesh/join_rows.hpp>
#include <netuit/mesh/on_every_rank.hpp>
#include <netuit/mesh/on_root.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/placement/blocks.hpp>
#include <netuit/placement/placement.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/error.hpp>

namespace netuit {

namespace detail {

/// Reads rows from a CsrFile.
class FileRows final : public RowSource {
 public:
  explicit FileRows(std::filesystem::path path) : path_(std::move(path)) {}

  Blocks Divide(const uit::World& world, std::size_t num_threads) const override {
    const Workers workers{.processes = world.Size(), .threads = num_threads};
    const std::vector<NodeId> first = OnRoot(world, [&] {
      CsrFile file(path_);
      return Blocks::OfEqualWork(file.NumNodes(), workers, [&](NodeId node) { return file.FirstEdge(node) + node; }).First();
    });
    return {workers, ValuesOfRoot(world, first)};
  }
  CsrRows Rows(const uit::World& world, const Blocks& blocks) const override {
    return OnEveryRank(world, [&] {
      CsrFile file(path_);
      if (file.NumNodes() != blocks.NumNodes()) throw uit::InputError(path_.string() + ": is another file than on rank 0");
      return file.Rows(blocks.FirstOfProcess(world.Rank()), blocks.FirstOfProcess(world.Rank() + 1));
    });
  }

 private:
  std::filesystem::path path_;
};

/// Draws links, and sends each edge to the process of its source.
class DrawnRows final : public RowSource {
 public:
  explicit DrawnRows(std::function<DrawnLinks()> make) : make_(std::move(make)) {}

  Blocks Divide(const uit::World& world, std::size_t num_threads) const override {
    const Workers workers{.processes = world.Size(), .threads = num_threads};
    return {workers, OnEveryRank(world, [&] { return Blocks::OfEqualSizes(make_().num_nodes, workers).First(); })};
  }
  CsrRows Rows(const uit::World& world, const Blocks& blocks) const override {
    std::vector<std::uint64_t> edges = Draw(world, blocks);
    SortOnce(edges);
    CsrRows rows{.first_node = blocks.FirstOfProcess(world.Rank())};
    rows.first_out.resize(blocks.FirstOfProcess(world.Rank() + 1) - rows.first_node + std::size_t{1});
    rows.targets.reserve(edges.size());
    for (const std::uint64_t edge : edges) {
      rows.targets.push_back(TargetOf(edge));
      rows.first_out[SourceOf(edge) - rows.first_node + 1] = rows.targets.size();
    }
    for (std::size_t row = 0; row < rows.NumNodes(); ++row)
      rows.first_out[row + 1] = std::max(rows.first_out[row + 1], rows.first_out[row]);  // a node without outputs
    return rows;
  }

 private:
  static constexpr std::uint64_t num_at_once = std::uint64_t{1} << 20U;  // links that a process draws between two exchanges

  std::vector<std::uint64_t> Draw(const uit::World& world, const Blocks& blocks) const {
    const DrawnLinks links = OnEveryRank(world, make_);
    const std::uint64_t stride = num_at_once * world.Size();
    std::vector<std::uint64_t> mine;
    for (std::uint64_t first = 0; first < links.num_drawn; first += std::min(stride, links.num_drawn - first)) {
      const std::uint64_t count = std::min(stride, links.num_drawn - first);
      const std::uint64_t share = (count + world.Size() - 1) / world.Size();
      const std::uint64_t begin = std::min(share * world.Rank(), count);
      const std::uint64_t end = std::min(begin + share, count);
      std::vector<std::vector<std::uint64_t>> outgoing =
          OnEveryRank(world, [&] { return DrawSome(links, first + begin, first + end, blocks, world.Size()); });
      const std::vector<std::uint64_t> arrived = ExchangeItems(world, std::move(outgoing));
      mine.insert(mine.end(), arrived.begin(), arrived.end());
    }
    return mine;
  }
  /// Draws some of the links. Returns their edges by the process of the source.
  static std::vector<std::vector<std::uint64_t>> DrawSome(const DrawnLinks& links, std::uint64_t begin, std::uint64_t end,
                                                          const Blocks& blocks, std::size_t num_processes) {
    std::vector<std::vector<std::uint64_t>> outgoing(num_processes);
    for (std::uint64_t i = begin; i < end; ++i) {
      const Edge link = links.draw(i);
      if (link.source >= links.num_nodes || link.target >= links.num_nodes)
        throw uit::InputError("drawn link " + std::to_string(i) + " has an end that is no node of the graph");
      if (link.source == link.target) continue;
      outgoing[blocks.ProcessOf(link.source)].push_back(PackEnds(link.source, link.target));
      outgoing[blocks.ProcessOf(link.target)].push_back(PackEnds(link.target, link.source));
    }
    return outgoing;
  }

  std::function<DrawnLinks()> make_;
};

}  // namespace detail

UIT_DEFINE GraphInParts GraphInParts::WithWeights(std::function<double(NodeId, NodeId)> weight) const {
  GraphInParts weighted = *this;
  weighted.weight_ = std::move(weight);
  return weighted;
}

UIT_DEFINE void GraphInParts::Weigh(CsrRows& rows) const {
  rows.weights.resize(rows.targets.size());
  for (std::size_t row = 0; row < rows.NumNodes(); ++row) {
    const auto source = static_cast<NodeId>(rows.first_node + row);
    for (EdgeId edge = rows.first_out[row]; edge < rows.first_out[row + 1]; ++edge) {
      const double weight = rows.weights[edge] = weight_(source, rows.targets[edge]);
      if (std::isfinite(weight) && weight >= 0) continue;
      throw uit::InputError("edge " + std::to_string(source) + " -> " + std::to_string(rows.targets[edge]) +
                            " has a weight that is negative or not finite");
    }
  }
}

UIT_DEFINE ProcessGraph GraphInParts::Distribute(const uit::World& world, std::size_t num_threads) const {
  const Blocks blocks = rows_->Divide(world, num_threads);
  CsrRows rows = rows_->Rows(world, blocks);
  if (weight_ && !detail::HaveWeights(world, rows)) {
    OnEveryRank(world, [&] {
      Weigh(rows);
      return true;
    });
  }
  return detail::JoinRows(world, blocks, std::move(rows));
}

UIT_DEFINE GraphInParts ReadInParts(const std::filesystem::path& path) {
  return GraphInParts(std::make_shared<detail::FileRows>(path));
}

UIT_DEFINE GraphInParts DrawInParts(std::function<DrawnLinks()> make) {
  return GraphInParts(std::make_shared<detail::DrawnRows>(std::move(make)));
}

UIT_DEFINE GraphInParts KroneckerInParts(unsigned scale, NodeId edge_factor, std::uint64_t seed) {
  return DrawInParts([=] { return KroneckerLinks(scale, edge_factor, seed); });
}

UIT_DEFINE GraphInParts UniformInParts(NodeId num_nodes, std::uint64_t num_links, std::uint64_t seed) {
  return DrawInParts([=] { return UniformLinks(num_nodes, num_links, seed); });
}

}  // namespace netuit
