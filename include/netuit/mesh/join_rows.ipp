#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <netuit/graph/csr_rows.hpp>
#include <netuit/graph/reciprocal_matcher.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/exchange_items.hpp>
#include <netuit/mesh/join_rows.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/placement/blocks.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/error.hpp>

namespace netuit::detail {

/// Joins the rows of all processes. Its steps are those of Topology::Join: inputs are found, outputs and inputs put in order, and
/// edges numbered.
class RowJoiner {
 public:
  /// Collective.
  RowJoiner(const uit::World& world, const Blocks& blocks, CsrRows rows)
      : world_(world), blocks_(blocks), rows_(std::move(rows)), has_weights_(HaveWeights(world, rows_)), num_sent_to_(world.Size()) {
    std::size_t rank = 0;
    for (const EdgeId theirs : world.AllGatherValue(EdgeId{rows_.targets.size()})) {
      if (rank++ < world.Rank()) first_edge_ += theirs;
      num_edges_ += theirs;
    }
    if (!has_weights_) rows_.weights = {};
    else if (rows_.weights.empty()) rows_.weights.assign(rows_.targets.size(), 1);
    for (const NodeId target : rows_.targets) ++num_sent_to_[blocks.ProcessOf(target)];
  }

  /// Collective.
  ProcessGraph Join() {
    FindInputs();
    PutInOrder();
    CheckSizes();
    in_ids_ = ToTargets([this](EdgeId edge) { return first_edge_ + place_of_[edge]; });
    if (has_weights_) in_weights_ = ToTargets([this](EdgeId edge) { return rows_.weights[edge]; });
    ProcessGraph graph{.num_nodes = blocks_.NumNodes(),
                       .num_edges = num_edges_,
                       .num_processes = world_.Size(),
                       .num_threads = blocks_.Shape().threads,
                       .max_delay = 0,
                       .workers = {}};
    OrderOutputs();
    for (std::uint32_t thread = 0; thread < graph.num_threads; ++thread)
      graph.workers.push_back(Cut(static_cast<std::uint32_t>(world_.Rank() * graph.num_threads) + thread));
    return graph;
  }

 private:
  struct Ends {
    NodeId source = 0;
    NodeId target = 0;
  };

  /// Sends `value(edge)` to the process of each edge's target. Returns what this one gets, in the given order of edges.
  template <typename F>
  std::vector<std::invoke_result_t<F, EdgeId>> ToTargets(F&& value) const {
    std::vector<std::vector<std::invoke_result_t<F, EdgeId>>> outgoing(world_.Size());
    for (std::size_t rank = 0; rank < world_.Size(); ++rank) outgoing[rank].reserve(num_sent_to_[rank]);
    for (EdgeId edge = 0; edge < rows_.targets.size(); ++edge)
      outgoing[blocks_.ProcessOf(rows_.targets[edge])].push_back(value(edge));
    return ExchangeItems(world_, std::move(outgoing));
  }
  /// Sorts the edges that end at own nodes by target. Those of one target stay in their given order.
  void FindInputs() {
    std::size_t row = 0;
    const std::vector<Ends> arrived = ToTargets([&](EdgeId edge) {
      while (edge >= rows_.first_out[row + 1]) ++row;
      return Ends{static_cast<NodeId>(rows_.first_node + row), rows_.targets[edge]};
    });
    first_in_.assign(rows_.NumNodes() + 1, 0);
    for (const Ends ends : arrived) ++first_in_[ends.target - rows_.first_node + 1];
    std::partial_sum(first_in_.begin(), first_in_.end(), first_in_.begin());
    std::vector<EdgeId> next = first_in_;
    sources_.resize(arrived.size());
    inputs_.resize(arrived.size());
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      const EdgeId at = next[arrived[i].target - rows_.first_node]++;
      sources_[at] = arrived[i].source;
      inputs_[at] = i;
    }
  }
  /// Puts reciprocal edges first.
  void PutInOrder() {
    place_of_.resize(rows_.targets.size());
    ReciprocalMatcher matcher;
    std::vector<NodeId> sources;
    std::vector<EdgeId> inputs;
    for (std::size_t row = 0; row < rows_.NumNodes(); ++row) {
      const EdgeId first_out = rows_.first_out[row];
      const EdgeId first_in = first_in_[row];
      const auto given = std::span(rows_.targets).subspan(first_out, rows_.first_out[row + 1] - first_out);
      const auto in = std::span(sources_).subspan(first_in, first_in_[row + 1] - first_in);
      sources.assign(in.begin(), in.end());
      const auto arrivals = std::span(inputs_).subspan(first_in, in.size());
      inputs.assign(arrivals.begin(), arrivals.end());
      matcher.Match(given, sources);
      EdgeId next_out = first_out;
      EdgeId next_in = first_in;
      const auto add_input = [&](std::size_t i) {
        sources_[next_in] = sources[i];
        inputs_[next_in++] = inputs[i];
      };
      const auto input_of = matcher.InputOf();
      for (std::size_t i = 0; i < given.size(); ++i) {
        if (input_of[i] == ReciprocalMatcher::unmatched) continue;
        place_of_[first_out + i] = next_out++;
        add_input(input_of[i]);
      }
      for (std::size_t i = 0; i < given.size(); ++i)
        if (input_of[i] == ReciprocalMatcher::unmatched) place_of_[first_out + i] = next_out++;
      for (std::size_t i = 0; i < sources.size(); ++i)
        if (!matcher.IsInputMatched(i)) add_input(i);
    }
  }
  void CheckSizes() const {
    std::string complaint;
    for (std::size_t thread = 0; thread < blocks_.Shape().threads; ++thread) {
      const auto [first, last] = RowsOf(world_.Rank() * blocks_.Shape().threads + thread);
      const EdgeId most = std::max(rows_.first_out[last] - rows_.first_out[first], first_in_[last] - first_in_[first]);
      if (most > std::numeric_limits<std::uint32_t>::max()) complaint = "more than 2^32 - 1 edges on one thread";
    }
    world_.Agree<uit::InputError>(complaint);
  }
  /// Puts the targets and weights of the rows, which are in the order of the input, into the order of the outputs.
  void OrderOutputs() {
    std::vector<NodeId> targets(rows_.targets.size());
    for (EdgeId edge = 0; edge < targets.size(); ++edge) targets[place_of_[edge]] = rows_.targets[edge];
    rows_.targets = std::move(targets);
    if (!has_weights_) return;
    std::vector<double> weights(rows_.weights.size());
    for (EdgeId edge = 0; edge < weights.size(); ++edge) weights[place_of_[edge]] = rows_.weights[edge];
    rows_.weights = std::move(weights);
  }
  /// Returns the first row of a worker, and the first one after its rows.
  std::pair<std::size_t, std::size_t> RowsOf(std::size_t worker) const {
    return {blocks_.First()[worker] - rows_.first_node, blocks_.First()[worker + 1] - rows_.first_node};
  }
  WorkerGraph Cut(std::uint32_t worker) const {
    WorkerGraph part;
    part.worker = worker;
    const auto [first, last] = RowsOf(worker);
    const EdgeId num_outputs = rows_.first_out[last] - rows_.first_out[first];
    const EdgeId num_inputs = first_in_[last] - first_in_[first];
    for (auto* const by_output : {&part.targets, &part.target_workers}) by_output->reserve(num_outputs);
    for (auto* const by_input : {&part.sources, &part.source_workers}) by_input->reserve(num_inputs);
    part.out_edges.reserve(num_outputs);
    part.in_edges.reserve(num_inputs);
    for (std::size_t row = first; row < last; ++row) {
      part.nodes.push_back(static_cast<NodeId>(rows_.first_node + row));
      part.first_out.push_back(static_cast<std::uint32_t>(rows_.first_out[row + 1] - rows_.first_out[first]));
      part.first_in.push_back(static_cast<std::uint32_t>(first_in_[row + 1] - first_in_[first]));
    }
    for (EdgeId edge = rows_.first_out[first]; edge < rows_.first_out[last]; ++edge) {
      part.targets.push_back(rows_.targets[edge]);
      part.target_workers.push_back(blocks_.WorkerOf(rows_.targets[edge]));
      part.out_edges.push_back(first_edge_ + edge);
      if (has_weights_) part.out_weights.push_back(rows_.weights[edge]);
    }
    for (EdgeId at = first_in_[first]; at < first_in_[last]; ++at) {
      part.sources.push_back(sources_[at]);
      part.source_workers.push_back(blocks_.WorkerOf(sources_[at]));
      part.in_edges.push_back(in_ids_[inputs_[at]]);
      if (has_weights_) part.in_weights.push_back(in_weights_[inputs_[at]]);
    }
    return part;
  }

  const uit::World& world_;
  const Blocks& blocks_;
  CsrRows rows_;
  bool has_weights_;                      // the same on all ranks
  std::vector<std::size_t> num_sent_to_;  // by rank: how many of this process's edges end there
  EdgeId num_edges_ = 0;              // of the whole graph
  EdgeId first_edge_ = 0;             // of this process
  std::vector<EdgeId> first_in_;      // by row
  std::vector<NodeId> sources_;       // by input
  std::vector<EdgeId> inputs_;        // by input: its place among the edges that have arrived
  std::vector<EdgeId> place_of_;      // by edge as given: its place among this process's outputs
  std::vector<EdgeId> in_ids_;        // by edge that has arrived: its global number
  std::vector<double> in_weights_;    // likewise
};

UIT_DEFINE bool HaveWeights(const uit::World& world, const CsrRows& rows) {
  const bool has_some = std::ranges::any_of(rows.weights, [](double weight) { return weight != 1; });
  return world.Max(has_some ? 1 : 0) != 0;
}

UIT_DEFINE ProcessGraph JoinRows(const uit::World& world, const Blocks& blocks, CsrRows rows) {
  return RowJoiner(world, blocks, std::move(rows)).Join();
}

}  // namespace netuit::detail
