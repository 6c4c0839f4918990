#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <netuit/graph/label_index.hpp>
#include <netuit/graph/reciprocal_matcher.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit {

UIT_DEFINE Topology::Topology(NodeId num_nodes, std::vector<Edge> edges, Labels labels, std::vector<double> node_weights)
    : num_nodes_{num_nodes} {
  CheckEdges(edges);
  SetLabels(std::move(labels));
  Join(edges);
  if (!node_weights.empty()) SetNodeWeights(std::move(node_weights));
}

[[noreturn]] UIT_NOINLINE UIT_DEFINE void Topology::Refuse(const char* what, std::uint64_t number) const {
  const bool is_node = std::string_view{what} == "node";
  std::string words = std::string{what} + ' ' + std::to_string(number) + " is not in this topology of " +
                      (is_node ? std::to_string(NumNodes()) + " nodes" : std::to_string(NumEdges()) + " edges");
  if (num_nodes_ == 0) words += "; a topology read by netuit::OnRoot is empty except on rank 0";
  throw uit::Error(words);
}

UIT_DEFINE std::string Topology::Label(NodeId node) const {
  CheckNode(node);
  return HasLabels() ? std::string{labels_[node]} : std::to_string(node);
}

UIT_DEFINE Topology Topology::WithNodeWeights(std::vector<double> node_weights) const& {
  return Topology{*this}.WithNodeWeights(std::move(node_weights));
}

UIT_DEFINE Topology Topology::WithNodeWeights(std::vector<double> node_weights) && {
  SetNodeWeights(std::move(node_weights));
  return std::move(*this);
}

UIT_DEFINE bool Topology::operator==(const Topology&) const = default;

UIT_DEFINE bool Topology::IsWeight(double weight) { return std::isfinite(weight) && weight >= 0; }

UIT_DEFINE void Topology::CheckEdges(const std::vector<Edge>& edges) const {
  for (const Edge& edge : edges) {
    const auto name = [&] { return "edge " + std::to_string(edge.source) + " -> " + std::to_string(edge.target); };
    if (edge.source >= num_nodes_ || edge.target >= num_nodes_) {
      throw uit::InputError(name() + " ends outside the " + std::to_string(num_nodes_) + " nodes");
    }
    if (!IsWeight(edge.weight)) throw uit::InputError(name() + " has a weight that is negative or not finite");
  }
}

UIT_DEFINE void Topology::SetLabels(Labels labels) {
  if (labels.IsEmpty()) return;
  if (labels.Size() != num_nodes_) {
    throw uit::InputError(std::to_string(labels.Size()) + " labels for " + std::to_string(num_nodes_) + " nodes");
  }
  bool are_ids = true;
  for (NodeId node = 0; node < num_nodes_ && are_ids; ++node) are_ids = WholeNumber(labels[node]) == node;
  if (are_ids) return;
  labels.ShrinkToFit();
  labels_ = std::move(labels);
}

UIT_DEFINE void Topology::SetNodeWeights(std::vector<double> node_weights) {
  if (node_weights.size() != num_nodes_) {
    throw uit::InputError(std::to_string(node_weights.size()) + " node weights for " + std::to_string(num_nodes_) +
                          " nodes");
  }
  const auto bad = std::ranges::find_if_not(node_weights, IsWeight);
  if (bad != node_weights.end()) {
    throw uit::InputError("node " + Label(static_cast<NodeId>(bad - node_weights.begin())) +
                          " has a weight that is negative or not finite");
  }
  if (std::ranges::all_of(node_weights, [](double weight) { return weight == 1; })) node_weights.clear();
  node_weights_ = std::move(node_weights);
}

UIT_DEFINE void Topology::Join(const std::vector<Edge>& edges) {
  first_out_.assign(std::size_t{num_nodes_} + 1, 0);
  first_in_.assign(std::size_t{num_nodes_} + 1, 0);
  for (const Edge& edge : edges) {
    ++first_out_[edge.source + 1];
    ++first_in_[edge.target + 1];
  }
  for (NodeId node = 0; node < num_nodes_; ++node) {
    first_out_[node + 1] += first_out_[node];
    first_in_[node + 1] += first_in_[node];
  }

  // By node: positions in `edges`, in the given order.
  std::vector<std::size_t> outs(edges.size());
  std::vector<std::size_t> ins(edges.size());
  {
    std::vector<EdgeId> next_out = first_out_;
    std::vector<EdgeId> next_in = first_in_;
    for (std::size_t at = 0; at < edges.size(); ++at) {
      outs[next_out[edges[at].source]++] = at;
      ins[next_in[edges[at].target]++] = at;
    }
  }

  std::vector<EdgeId> id_of(edges.size());
  in_edges_.resize(edges.size());
  ReciprocalMatcher matcher;
  std::vector<NodeId> targets;
  std::vector<NodeId> sources;
  for (NodeId node = 0; node < num_nodes_; ++node) {
    const auto out = std::span{outs}.subspan(first_out_[node], first_out_[node + 1] - first_out_[node]);
    const auto in = std::span{ins}.subspan(first_in_[node], first_in_[node + 1] - first_in_[node]);
    targets.clear();
    sources.clear();
    for (const std::size_t at : out) targets.push_back(edges[at].target);
    for (const std::size_t at : in) sources.push_back(edges[at].source);
    matcher.Match(targets, sources);

    EdgeId next_out = first_out_[node];
    EdgeId next_in = first_in_[node];
    const auto input_of = matcher.InputOf();
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (input_of[i] == ReciprocalMatcher::unmatched) continue;
      id_of[out[i]] = next_out++;
      in_edges_[next_in++] = in[input_of[i]];
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (input_of[i] == ReciprocalMatcher::unmatched) id_of[out[i]] = next_out++;
    }
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (!matcher.IsInputMatched(i)) in_edges_[next_in++] = in[i];
    }
  }
  for (EdgeId& edge : in_edges_) edge = id_of[edge];

  targets_.resize(edges.size());
  sources_.resize(edges.size());
  if (std::ranges::any_of(edges, [](const Edge& edge) { return edge.weight != 1; })) {
    edge_weights_.resize(edges.size());
  }
  for (std::size_t at = 0; at < edges.size(); ++at) {
    targets_[id_of[at]] = edges[at].target;
    sources_[id_of[at]] = edges[at].source;
    if (HasEdgeWeights()) edge_weights_[id_of[at]] = edges[at].weight;
  }
}

}  // namespace netuit
