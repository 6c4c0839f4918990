#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <netuit/barrier/ordered_double.hpp>
#include <netuit/mesh/node.hpp>
#include <uit/support/error.hpp>

namespace netuit {

/// How a reduction combines the numbers of all nodes.
enum class ReductionKind : std::uint8_t {
  maximum,   ///< the largest
  minimum,   ///< the smallest
  exact_sum  ///< the sum, by ExactSum: of the same numbers always the same bits, however nodes are divided among workers
};
inline constexpr ReductionKind maximum = ReductionKind::maximum;      ///< for Mesh::AddReduction
inline constexpr ReductionKind minimum = ReductionKind::minimum;      ///< for Mesh::AddReduction
inline constexpr ReductionKind exact_sum = ReductionKind::exact_sum;  ///< for Mesh::AddReduction

namespace detail {

/// Returns the word of a number, by ToOrdered. The smallest number has the largest word in a minimum.
inline std::uint64_t WordOf(ReductionKind which, double number) { return ToOrdered(which == ReductionKind::minimum ? -number : number); }
/// Returns the number of a word; NaN of 0, which stands for no number.
inline double NumberOf(ReductionKind which, std::uint64_t word) {
  if (word == 0) return std::numeric_limits<double>::quiet_NaN();
  return which == ReductionKind::minimum ? -FromOrdered(word) : FromOrdered(word);
}

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
      else node_.Contribute(number_, detail::WordOf(which_, value));
    }

   private:
    Node& node_;
    std::size_t number_;
    ReductionKind which_;
  };
  /// Assign the node's number of this update. If a node assigns twice, both count. To a sum, a node that assigns nothing gives 0.
  Slot operator[](Node& node) const { return {node, number_, which_}; }
  /// Returns the number on which the workers have agreed last: in mode 0 that of the previous update, in mode 5 that of an update
  /// some milliseconds ago. In modes 1 and 2 that of the last barrier, to which workers bring what their nodes have given since the one
  /// before; to a sum, what they have given in the last update. In modes 1 to 3 with a condition, that of the last vote; see Free. NaN
  /// if there is none yet in this run, or in this part of a run with checkpoints or moves, and always in mode 4 and in mode 3 without a
  /// condition.
  double Agreed(const Node& node) const { return detail::NumberOf(which_, node.AgreedOn(number_)); }

  /// The run ends when the reduction is less than `bound`. Throws uit::InputError if that is NaN.
  Until operator<(double bound) const { return Compare(bound, true); }
  /// The run ends when the reduction is greater than `bound`. Throws likewise.
  Until operator>(double bound) const { return Compare(bound, false); }

 private:
  Until Compare(double bound, bool is_below) const {
    if (std::isnan(bound)) throw uit::InputError("the bound of a condition must be a number, not NaN");
    return {number_, detail::WordOf(which_, bound), is_below == (which_ != ReductionKind::minimum)};
  }

  std::size_t number_;
  ReductionKind which_;
};

}  // namespace netuit
