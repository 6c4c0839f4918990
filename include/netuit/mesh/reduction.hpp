#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include <netuit/barrier/ordered_double.hpp>
#include <netuit/mesh/node.hpp>

namespace netuit {

/// How a reduction combines the numbers of all nodes.
enum class Extreme : std::uint8_t {
  maximum,  ///< the largest
  minimum   ///< the smallest
};
inline constexpr Extreme maximum = Extreme::maximum;  ///< for Mesh::AddReduction
inline constexpr Extreme minimum = Extreme::minimum;  ///< for Mesh::AddReduction

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

/// The largest or smallest of a number that every node gives in each update. A handle, cheap to copy.
///
///     auto change = mesh.AddReduction(netuit::maximum);
///     mesh.Run(netuit::Dataflow{.until = change < 1e-9}, [&](netuit::Node& node) {
///       …
///       change[node] = std::abs(next - theta[node]);
///     });
class Reduction {
 public:
  /// For the mesh.
  Reduction(std::size_t number, Extreme which) : number_(number), sign_(which == Extreme::maximum ? 1 : -1) {}

  /// Takes a node's number.
  class Slot {
   public:
    /// For the reduction.
    Slot(Node& node, std::size_t number, double sign) : node_(node), number_(number), sign_(sign) {}
    /// Gives the node's number in this update.
    void operator=(double value) const { node_.Contribute(number_, ToOrdered(sign_ * value)); }

   private:
    Node& node_;
    std::size_t number_;
    double sign_;
  };
  /// Assign the node's number of this update. If a node assigns twice, both count.
  Slot operator[](Node& node) const { return {node, number_, sign_}; }
  /// Returns the number on which the workers have agreed last: in mode 0 that of the update before, in mode 5 that of an update
  /// some milliseconds ago. NaN if there is none yet.
  double Agreed(const Node& node) const {
    const std::uint64_t word = node.AgreedOn(number_);
    return word == 0 ? std::numeric_limits<double>::quiet_NaN() : sign_ * FromOrdered(word);
  }

  /// The run ends when the reduction is less than `bound`.
  Until operator<(double bound) const { return {number_, ToOrdered(sign_ * bound), sign_ > 0}; }
  /// The run ends when the reduction is greater than `bound`.
  Until operator>(double bound) const { return {number_, ToOrdered(sign_ * bound), sign_ < 0}; }

 private:
  std::size_t number_;
  double sign_;  // the smallest number is the largest of the negative ones
};

}  // namespace netuit
