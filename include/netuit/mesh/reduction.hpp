#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <netuit/barrier/ordered_double.hpp>
#include <netuit/mesh/node.hpp>

namespace netuit {

/// How a reduction combines the numbers of all nodes.
enum class ReductionKind : std::uint8_t {
  maximum,   ///< the largest
  minimum,   ///< the smallest
  exact_sum  ///< the sum, by ExactSum: the same bits on every number of processes and threads
};
inline constexpr ReductionKind maximum = ReductionKind::maximum;      ///< for Mesh::AddReduction
inline constexpr ReductionKind minimum = ReductionKind::minimum;      ///< for Mesh::AddReduction
inline constexpr ReductionKind exact_sum = ReductionKind::exact_sum;  ///< for Mesh::AddReduction

namespace detail {

/// The smallest number is the largest of the negative ones.
inline double SignOf(ReductionKind which) { return which == ReductionKind::minimum ? -1 : 1; }

}  // namespace detail

/// A condition on a reduction that ends a run; see the schedules' `until`.
struct Until {
  std::size_t reduction = 0;  ///< its number in the mesh
  std::uint64_t bound = 0;    ///< ToOrdered of the number to compare with
  bool is_below = true;       ///< the reduction must be less than the bound, else greater

  /// Whether the condition holds for what the workers have agreed on. Never holds if no node has given a number, or if one has
  /// given NaN.
  bool Holds(std::uint64_t agreed) const {
    if (agreed == 0 || agreed >= ordered_nan) return false;
    return is_below ? agreed < bound : agreed > bound;
  }
};

/// The largest, smallest or sum of a number that every node gives in each update. A handle, cheap to copy.
///
///     auto change = mesh.AddReduction(netuit::maximum);
///     mesh.Run(netuit::Dataflow{.until = change < 1e-9}, [&](netuit::Node& node) {
///       …
///       change[node] = std::abs(next - theta[node]);
///     });
class Reduction {
 public:
  /// For the mesh.
  Reduction(std::size_t number, ReductionKind which) : number_(number), which_(which) {}

  /// Takes a node's number.
  class Slot {
   public:
    /// For the reduction.
    Slot(Node& node, std::size_t number, ReductionKind which) : node_(node), number_(number), which_(which) {}
    /// Gives the node's number in this update.
    void operator=(double value) const {
      if (which_ == ReductionKind::exact_sum) node_.AddToSum(number_, value);
      else node_.Contribute(number_, ToOrdered(detail::SignOf(which_) * value));
    }

   private:
    Node& node_;
    std::size_t number_;
    ReductionKind which_;
  };
  /// Assign the node's number of this update. If a node assigns twice, both count.
  Slot operator[](Node& node) const { return {node, number_, which_}; }
  /// Returns the number on which the workers have agreed last: in mode 0 that of the update before, in mode 5 that of an update
  /// some milliseconds ago. In modes 1 and 2 that of the last barrier, to which workers bring what their nodes have given since the one
  /// before; to a sum, what they have given in the last update. In a run with a condition see Free. NaN if there is none yet, as in
  /// mode 3 without a condition.
  double Agreed(const Node& node) const {
    const std::uint64_t word = node.AgreedOn(number_);
    return word == 0 ? std::numeric_limits<double>::quiet_NaN() : detail::SignOf(which_) * FromOrdered(word);
  }

  /// The run ends when the reduction is less than `bound`.
  Until operator<(double bound) const { return Compare(bound, true); }
  /// The run ends when the reduction is greater than `bound`.
  Until operator>(double bound) const { return Compare(bound, false); }

 private:
  Until Compare(double bound, bool is_below) const {
    return {number_, ToOrdered(detail::SignOf(which_) * bound), is_below == (which_ != ReductionKind::minimum)};
  }

  std::size_t number_;
  ReductionKind which_;
};

}  // namespace netuit
