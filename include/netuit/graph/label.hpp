#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <uit/config.hpp>

namespace netuit {

/// A node of a topology: a dense index 0 … n-1.
using NodeId = std::uint32_t;
/// Used as a node's id where no node is meant.
inline constexpr NodeId no_node = std::numeric_limits<NodeId>::max();

/// The names of nodes 0 … n-1, stored in one string without an allocation per name.
///
///     Labels labels{"(0, 0)", "(0, 1)"};
///     labels.Add("hub");
///     labels[2];  // "hub"
class Labels {
 public:
  Labels() = default;
  /// Of node 0, 1, ….
  Labels(std::initializer_list<std::string_view> labels);
  /// Of node 0, 1, ….
  Labels(const std::vector<std::string>& labels);

  /// How many names there are.
  std::size_t Size() const { return ends_.size(); }
  /// Whether there is no name.
  bool IsEmpty() const { return ends_.empty(); }

  /// Appends the next node's name. Names may repeat.
  void Add(std::string_view label);

  /// The name of a node; valid until the next Add. Requires node < Size().
  std::string_view operator[](NodeId node) const {
    const std::size_t begin = node == 0 ? 0 : ends_[node - 1];
    return std::string_view{text_}.substr(begin, ends_[node] - begin);
  }

  /// Frees reserved memory that is not used.
  void ShrinkToFit();

  /// Whether each node has the same name.
  bool operator==(const Labels&) const;

 private:
  std::string text_;
  std::vector<std::size_t> ends_;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/graph/label.ipp>
#endif
