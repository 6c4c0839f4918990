#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <netuit/graph/label.hpp>

namespace netuit {

/// Matches each output of a node with the input from the same neighbour, parallel edges in order.
///
/// Call it for one node after another; it reuses its scratch memory.
class ReciprocalMatcher {
 public:
  /// No input.
  static constexpr std::size_t unmatched = std::numeric_limits<std::size_t>::max();

  /// Matches one node. targets: those of its outputs; sources: those of its inputs; both in the user's order.
  void Match(std::span<const NodeId> targets, std::span<const NodeId> sources);

  /// By output: its reciprocal input, or unmatched.
  std::span<const std::size_t> InputOf() const { return input_of_; }
  /// Whether an input has a reciprocal output.
  bool IsInputMatched(std::size_t input) const { return is_input_matched_[input]; }

 private:
  using Faced = std::pair<NodeId, std::size_t>;  // a neighbour, and the number of the output or input that faces it

  static void Sort(std::span<const NodeId> neighbors, std::vector<Faced>& faced) {
    faced.clear();
    for (std::size_t i = 0; i < neighbors.size(); ++i) faced.emplace_back(neighbors[i], i);
    std::sort(faced.begin(), faced.end());
  }

  std::vector<Faced> outputs_;
  std::vector<Faced> inputs_;
  std::vector<std::size_t> input_of_;
  std::vector<bool> is_input_matched_;
};

inline void ReciprocalMatcher::Match(std::span<const NodeId> targets, std::span<const NodeId> sources) {
  if (std::ranges::equal(targets, sources)) {
    input_of_.resize(targets.size());
    for (std::size_t i = 0; i < targets.size(); ++i) input_of_[i] = i;
    is_input_matched_.assign(sources.size(), true);
    return;
  }
  Sort(targets, outputs_);
  Sort(sources, inputs_);
  input_of_.assign(targets.size(), unmatched);
  is_input_matched_.assign(sources.size(), false);
  for (auto out = outputs_.begin(), in = inputs_.begin(); out != outputs_.end() && in != inputs_.end();) {
    if (out->first < in->first) {
      ++out;
    } else if (in->first < out->first) {
      ++in;
    } else {
      input_of_[out->second] = in->second;
      is_input_matched_[in->second] = true;
      ++out;
      ++in;
    }
  }
}

}  // namespace netuit
