#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/layer.hpp>
#include <netuit/mesh/node_random.hpp>
#include <optional>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// Mode 0 as a plain loop over the nodes of a whole graph: what netuit::Run must come to wherever the nodes are. Shares the
/// tags of layers and the nodes' random numbers with the mesh, and nothing that moves a message.
namespace netuit::testing {

/// An edge of a layer that keeps every message: what is put during one period of the layer can be stepped to in the next.
template <typename T, uit::Policy policy>
class SerialEvery {
 public:
  explicit SerialEvery(std::size_t depth) : depth_(depth), room_(depth) {}

  bool TryPut(const T& message) {
    if (room_ == 0 || (policy.consolidate == uit::Consolidate::pooled && !put_.empty())) {
      ++num_dropped_;
      return false;
    }
    --room_;
    put_.push_back(message);
    return true;
  }
  std::size_t TryStep(std::size_t limit = 1) {
    const std::size_t count = std::min(limit, waiting_.size());
    for (std::size_t i = 0; i < count; ++i) {
      current_ = waiting_.front();
      waiting_.pop_front();
    }
    return count;
  }
  std::size_t Jump() { return TryStep(waiting_.size()); }
  T& Get() { return current_; }
  bool TryFlush() { return true; }  // changes nothing

  void EndPeriod() {
    waiting_.insert(waiting_.end(), put_.begin(), put_.end());
    put_.clear();
    room_ = depth_ - waiting_.size();
  }
  /// What nobody read is passed over.
  void EndRun() {
    EndPeriod();
    Jump();
    room_ = depth_;
  }
  std::uint64_t NumDropped() const { return num_dropped_; }

 private:
  std::size_t depth_;
  std::size_t room_;
  std::vector<T> put_;
  std::deque<T> waiting_;
  T current_{};
  std::uint64_t num_dropped_ = 0;
};

/// An edge of a layer that keeps the newest message.
template <typename T>
class SerialLatest {
 public:
  explicit SerialLatest(std::size_t) {}

  bool TryPut(const T& message) {
    put_ = message;
    return true;
  }
  std::size_t TryStep(std::size_t = 1) {
    if (!waiting_) return 0;
    current_ = *std::exchange(waiting_, std::nullopt);
    return 1;
  }
  std::size_t Jump() { return TryStep(); }
  T& Get() { return current_; }
  bool TryFlush() { return true; }  // changes nothing

  void EndPeriod() {
    if (put_) waiting_ = std::exchange(put_, std::nullopt);
  }
  void EndRun() {
    EndPeriod();
    Jump();
  }
  std::uint64_t NumDropped() const { return 0; }

 private:
  std::optional<T> put_;
  std::optional<T> waiting_;
  T current_{};
};

/// An edge of a layer that adds up: a put has room if the sums of what is put, alone and with what waited at the
/// period's beginning, have; whether that has been stepped to since does not matter.
template <typename T>
class SerialSum {
 public:
  explicit SerialSum(std::size_t) {}

  bool TryPut(const T& message) {
    T bound = waiting_at_first_;
    T put = put_;
    if (__builtin_add_overflow(bound, message, &bound) || __builtin_add_overflow(put, message, &put)) {
      ++num_dropped_;
      return false;
    }
    waiting_at_first_ = bound;
    put_ = put;
    has_put_ = true;
    return true;
  }
  std::size_t TryStep(std::size_t = 1) {
    current_ = std::exchange(waiting_, T{});
    return std::exchange(is_waiting_, false) ? 1 : 0;
  }
  std::size_t Jump() { return TryStep(); }
  T& Get() { return current_; }
  bool TryFlush() { return true; }  // changes nothing

  void EndPeriod() {
    waiting_ += std::exchange(put_, T{});
    is_waiting_ |= std::exchange(has_put_, false);
    waiting_at_first_ = waiting_;
  }
  /// What nobody read stays.
  void EndRun() { EndPeriod(); }
  std::uint64_t NumDropped() const { return num_dropped_; }

 private:
  T put_{};
  T waiting_{};
  T waiting_at_first_{};  // with what was put since
  bool has_put_ = false;
  bool is_waiting_ = false;
  T current_{};
  std::uint64_t num_dropped_ = 0;
};

/// The value of each node in a multicast layer.
template <typename T>
struct SerialValues {
  std::vector<T> current;
  std::vector<T> next;
  std::vector<bool> has_put;
  bool is_due = true;

  /// One node's output.
  struct Out {
    SerialValues& values;
    netuit::NodeId node;
    bool TryPut(const T& value) {
      if (!values.is_due || values.has_put[node]) return false;
      values.has_put[node] = true;
      values.next[node] = value;
      return true;
    }
  };
};

template <netuit::Layer... Ls>
class SerialMesh {
 public:
  SerialMesh(const netuit::Topology& topology, std::size_t depth) : topology_(topology) {
    (Make<Ls>(depth), ...);
  }

  template <netuit::Layer L, typename F>
  void Initialize(F&& initial) {
    for (netuit::NodeId node = 0; node < topology_.NumNodes(); ++node) {
      if constexpr (netuit::MulticastLayer<L>) {
        Of<L>().current[node] = Of<L>().next[node] = initial(node);
      } else {
        for (netuit::EdgeId k = 0; k < topology_.OutNeighbors(node).size(); ++k)
          Of<L>()[topology_.FirstOutEdge(node) + k].Get() = initial(node);
      }
    }
  }

  /// The node that is being updated, with what netuit::Node offers.
  class Node {
   public:
    Node(SerialMesh& mesh, std::uint64_t seed, std::uint64_t update) : mesh_(mesh), seed_(seed), update_(update) {}
    std::size_t Index() const { return node_; }
    netuit::NodeId Id() const { return node_; }
    std::uint64_t Update() const { return update_; }
    netuit::NodeRandom Random() const { return {seed_, node_, update_}; }
    template <netuit::Layer L>
    auto In() const {
      const auto edges = mesh_.topology_.InEdges(node_);
      if constexpr (netuit::MulticastLayer<L>) {
        std::vector<typename L::Message> values;
        for (const netuit::EdgeId edge : edges)
          values.push_back(mesh_.template Of<L>().current[mesh_.topology_.Source(edge)]);
        return values;
      } else {
        std::vector<std::reference_wrapper<typename SerialMesh::template Edge<L>>> outlets;
        for (const netuit::EdgeId edge : edges) outlets.push_back(mesh_.template Of<L>()[edge]);
        return outlets;
      }
    }
    template <netuit::Layer L>
    auto Out() {
      if constexpr (netuit::MulticastLayer<L>) {
        return typename SerialValues<typename L::Message>::Out{mesh_.template Of<L>(), node_};
      } else {
        return std::span{mesh_.template Of<L>()}.subspan(mesh_.topology_.FirstOutEdge(node_),
                                                         mesh_.topology_.OutNeighbors(node_).size());
      }
    }
    void GoTo(netuit::NodeId node) { node_ = node; }

   private:
    SerialMesh& mesh_;
    std::uint64_t seed_;
    std::uint64_t update_;
    netuit::NodeId node_ = 0;
  };

  /// As netuit::Run in mode 0, by count.
  template <typename F>
  void Run(std::uint64_t seed, std::uint64_t num_updates, F&& update_node) {
    for (std::uint64_t update = 0; update < num_updates; ++update) {
      (Begin<Ls>(update), ...);
      Node node{*this, seed, update};
      for (netuit::NodeId id = 0; id < topology_.NumNodes(); ++id) {
        node.GoTo(id);
        update_node(node);
      }
      (End<Ls>(update), ...);
    }
    (EndRun<Ls>(), ...);
  }

  /// Puts refused so far on the edges of a unicast layer.
  template <netuit::UnicastLayer L>
  std::uint64_t NumDropped() {
    std::uint64_t sum = 0;
    for (const auto& edge : Of<L>()) sum += edge.NumDropped();
    return sum;
  }

 private:
  template <netuit::Layer L>
  using Edge = std::conditional_t<
      L::policy.retain == uit::Retain::every, SerialEvery<typename L::Message, L::policy>,
      std::conditional_t<L::policy.retain == uit::Retain::latest, SerialLatest<typename L::Message>,
                         SerialSum<typename L::Message>>>;
  template <netuit::Layer L>
  struct Share {
    std::conditional_t<netuit::MulticastLayer<L>, SerialValues<typename L::Message>, std::vector<Edge<L>>> value;
  };
  template <netuit::Layer L>
  auto& Of() {
    return std::get<Share<L>>(shares_).value;
  }

  template <netuit::Layer L>
  void Make(std::size_t depth) {
    if constexpr (netuit::MulticastLayer<L>) {
      Of<L>().current.resize(topology_.NumNodes());
      Of<L>().next.resize(topology_.NumNodes());
      Of<L>().has_put.resize(topology_.NumNodes());
    } else {
      Of<L>().assign(topology_.NumEdges(), Edge<L>(depth));
    }
  }
  template <netuit::Layer L>
  void Begin(std::uint64_t update) {
    if constexpr (netuit::MulticastLayer<L>) {
      auto& values = Of<L>();
      values.is_due = update % L::period == 0;
      if (!values.is_due) return;
      values.current = values.next;
      values.has_put.assign(values.has_put.size(), false);
    }
  }
  template <netuit::Layer L>
  void End(std::uint64_t update) {
    if constexpr (netuit::UnicastLayer<L>) {
      if ((update + 1) % L::period != 0) return;
      for (auto& edge : Of<L>()) edge.EndPeriod();
    }
  }
  template <netuit::Layer L>
  void EndRun() {
    if constexpr (netuit::MulticastLayer<L>) {
      Of<L>().current = Of<L>().next;
    } else {
      for (auto& edge : Of<L>()) edge.EndRun();
    }
  }

  const netuit::Topology& topology_;
  std::tuple<Share<Ls>...> shares_;
};

/// How a loop body reaches an end: as it is, or behind a reference.
template <typename End>
End& Plain(End& end) {
  return end;
}
template <typename End>
End& Plain(std::reference_wrapper<End> end) {
  return end.get();
}

}  // namespace netuit::testing
