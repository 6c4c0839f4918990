#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/initial.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/node_random.hpp>
#include <optional>
#include <type_traits>
#include <uit/policy.hpp>
#include <utility>
#include <vector>

/// Mode 0 as a plain loop over the nodes of a whole graph. Mesh::Run must give the same result, whatever the placement. It
/// has the interface of a mesh and the same random numbers of nodes. It shares no code that moves messages.
namespace netuit::testing {

using Word = std::uint64_t;

/// An edge of channels that keep every message: a message put during one period of the network can be stepped to in the next.
template <typename T, uit::Policy policy>
class SerialEvery {
 public:
  explicit SerialEvery(std::size_t depth) : depth_(depth), room_(depth) {}

  bool TryPut(const T& message) {
    if (room_ == 0 || (policy.consolidate == uit::Consolidate::pooled && !put_.empty())) return false;
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
  bool TryFlush() { return true; }  // has no effect

  void EndPeriod() {
    waiting_.insert(waiting_.end(), put_.begin(), put_.end());
    put_.clear();
    room_ = depth_ - waiting_.size();
  }

 private:
  std::size_t depth_;
  std::size_t room_;
  std::vector<T> put_;
  std::deque<T> waiting_;
  T current_{};
};

/// An edge of channels that keep the newest message.
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
  bool TryFlush() { return true; }  // has no effect

  void EndPeriod() {
    if (put_) waiting_ = std::exchange(put_, std::nullopt);
  }

 private:
  std::optional<T> put_;
  std::optional<T> waiting_;
  T current_{};
};

/// An edge of channels that add up. A put has room if two sums do not overflow: the sum of what is put, and that sum plus
/// what waited at the beginning of the period. It makes no difference whether the outlet has stepped since.
template <typename T>
class SerialSum {
 public:
  explicit SerialSum(std::size_t) {}

  bool TryPut(const T& message) {
    T bound = waiting_at_first_;
    T put = put_;
    if (__builtin_add_overflow(bound, message, &bound) || __builtin_add_overflow(put, message, &put)) return false;
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
  bool TryFlush() { return true; }  // has no effect

  void EndPeriod() {
    waiting_ += std::exchange(put_, T{});
    is_waiting_ |= std::exchange(has_put_, false);
    waiting_at_first_ = waiting_;
  }

 private:
  T put_{};
  T waiting_{};
  T waiting_at_first_{};  // and what was put since
  bool has_put_ = false;
  bool is_waiting_ = false;
  T current_{};
};

template <typename T, uit::Policy policy>
using SerialEdge = std::conditional_t<
    policy.retain == uit::Retain::every, SerialEvery<T, policy>,
    std::conditional_t<policy.retain == uit::Retain::latest, SerialLatest<T>, SerialSum<T>>>;

struct SerialInEdge {
  EdgeId id;
  NodeId source;
};
struct SerialOutEdge {
  EdgeId id;
};

/// The node that is being updated. It has the interface of netuit::Node. All networks have the same edges.
class SerialNode {
 public:
  SerialNode(const Topology& graph, NodeId id, Word seed, Word update) : graph_(graph), id_(id), seed_(seed), update_(update) {}
  NodeId Id() const { return id_; }
  Word Update() const { return update_; }
  NodeRandom Random() const { return {seed_, id_, update_}; }
  void StaySilent() { is_silent_ = true; }
  bool IsSilent() const { return is_silent_; }
  std::vector<SerialInEdge> In(Network) const {
    std::vector<SerialInEdge> edges;
    for (const EdgeId edge : graph_.InEdges(id_)) edges.push_back({edge, graph_.Source(edge)});
    return edges;
  }
  std::vector<SerialOutEdge> Out(Network) const {
    std::vector<SerialOutEdge> edges;
    for (std::size_t k = 0; k < graph_.OutNeighbors(id_).size(); ++k) edges.push_back({graph_.FirstOutEdge(id_) + k});
    return edges;
  }

 private:
  const Topology& graph_;
  NodeId id_;
  Word seed_;
  Word update_;
  bool is_silent_ = false;
};

/// A field, private or published.
template <typename T>
class SerialField {
 public:
  struct Values {
    std::vector<T> own;        // by node
    std::vector<T> published;  // by node
    std::vector<T> shown;      // by node, to its neighbours
  };

  explicit SerialField(std::shared_ptr<Values> values) : values_(std::move(values)) {}
  T& operator[](const SerialNode& node) const { return values_->own[node.Id()]; }
  const T& operator[](const SerialInEdge& edge) const { return values_->shown[edge.source]; }
  const std::vector<T>& Own() const { return values_->own; }

 private:
  std::shared_ptr<Values> values_;
};

/// One conduit per edge.
template <typename T, uit::Policy policy>
class SerialChannels {
 public:
  using Edges = std::vector<SerialEdge<T, policy>>;

  explicit SerialChannels(std::shared_ptr<Edges> edges) : edges_(std::move(edges)) {}
  SerialEdge<T, policy>& operator[](const SerialInEdge& edge) const { return (*edges_)[edge.id]; }
  SerialEdge<T, policy>& operator[](const SerialOutEdge& edge) const { return (*edges_)[edge.id]; }

 private:
  std::shared_ptr<Edges> edges_;
};

class SerialMesh {
 public:
  /// Networks with these periods, each with all edges of a graph. The graph must outlive this.
  SerialMesh(const Topology& graph, std::vector<Word> periods, std::size_t depth)
      : graph_(graph), periods_(std::move(periods)), depth_(depth) {}

  template <typename T>
  SerialField<T> AddField() {
    return AddPublishedField<T>({}, {});
  }
  template <typename T>
  SerialField<T> AddPublishedField(const Initial<T>& initial, const std::vector<Network>& along) {
    auto values = std::make_shared<typename SerialField<T>::Values>();
    for (NodeId node = 0; node < graph_.NumNodes(); ++node) values->own.push_back(initial(node));
    values->shown = values->published = values->own;
    publishings_.push_back([values](NodeId node) { values->published[node] = values->own[node]; });
    for (const Network network : along)
      layers_.push_back({periods_[network.number], [values] { values->shown = values->published; }});
    return SerialField<T>(values);
  }
  template <typename T, uit::Policy policy>
  SerialChannels<T, policy> AddChannels(Network network, const Initial<T>& first) {
    auto edges = std::make_shared<typename SerialChannels<T, policy>::Edges>(graph_.NumEdges(), SerialEdge<T, policy>(depth_));
    for (EdgeId edge = 0; edge < graph_.NumEdges(); ++edge) (*edges)[edge].Get() = first(graph_.Source(edge));
    layers_.push_back({periods_[network.number], [edges] { for (auto& edge : *edges) edge.EndPeriod(); }});
    return SerialChannels<T, policy>(edges);
  }

  /// Does what Mesh::Run does with EveryUpdate, by number of updates. At the end every node publishes, and all messages wait
  /// to be read.
  template <typename F>
  void Run(Word num_updates, Word seed, F&& update_node) {
    for (const Layer& layer : layers_) layer.end_period();  // reading by Visit makes room
    for (Word update = 0; update < num_updates; ++update) {
      Sweep(seed, update, update_node);
      for (const Layer& layer : layers_)
        if ((update + 1) % layer.period == 0) layer.end_period();
    }
    for (NodeId node = 0; node < graph_.NumNodes(); ++node) Publish(node);
    for (const Layer& layer : layers_) layer.end_period();
  }
  template <typename F>
  void Visit(F&& visit) {
    for (NodeId id = 0; id < graph_.NumNodes(); ++id) {
      SerialNode node(graph_, id, 0, 0);
      visit(node);
    }
  }
  template <typename T>
  std::vector<T> Gather(const SerialField<T>& field) const {
    return field.Own();
  }

 private:
  struct Layer {
    Word period;
    std::function<void()> end_period;
  };

  template <typename F>
  void Sweep(Word seed, Word update, F&& update_node) {
    for (NodeId id = 0; id < graph_.NumNodes(); ++id) {
      SerialNode node(graph_, id, seed, update);
      update_node(node);
      if (!node.IsSilent()) Publish(id);
    }
  }
  void Publish(NodeId node) {
    for (const auto& publish : publishings_) publish(node);
  }

  const Topology& graph_;
  std::vector<Word> periods_;  // by network
  std::size_t depth_;
  std::vector<std::function<void(NodeId)>> publishings_;
  std::vector<Layer> layers_;
};

}  // namespace netuit::testing
