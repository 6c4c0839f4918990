#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <utility>

#include <netuit/mesh/halo.hpp>
#include <netuit/mesh/layer.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/tagged_mesh.hpp>
#include <netuit/mesh/node_random.hpp>

namespace netuit {

/// The newest values of a node's in-neighbours that have arrived, in input order: a range of T.
template <typename T>
class HaloView {
 public:
  /// Goes from input to input; a forward iterator.
  class Iterator {
   public:
    using value_type = T;                    ///< what it gives
    using difference_type = std::ptrdiff_t;  ///< asked for by std::forward_iterator
    Iterator() = default;
    /// At an input's place among `values`.
    Iterator(const std::uint32_t* at, const T* values) : at_(at), values_(values) {}
    const T& operator*() const { return values_[*at_]; }         ///< the input's newest value
    Iterator& operator++() { return ++at_, *this; }              ///< to the next input
    Iterator operator++(int) { return {at_++, values_}; }        ///< to the next input
    /// Whether both stand at one input.
    bool operator==(const Iterator& other) const { return at_ == other.at_; }

   private:
    const std::uint32_t* at_ = nullptr;
    const T* values_ = nullptr;
  };

  /// Of the values at the places [first, last).
  HaloView(const std::uint32_t* first, const std::uint32_t* last, const T* values)
      : first_(first), last_(last), values_(values) {}
  Iterator begin() const { return {first_, values_}; }  ///< the first input
  Iterator end() const { return {last_, values_}; }     ///< beyond the last
  /// How many inputs there are.
  std::size_t size() const { return static_cast<std::size_t>(last_ - first_); }
  /// The value from input i.
  const T& operator[](std::size_t i) const { return values_[first_[i]]; }

 private:
  const std::uint32_t* first_;
  const std::uint32_t* last_;
  const T* values_;
};

namespace detail {

/// What a sweep needs of a multicast layer, in one place that the optimiser can keep in registers.
template <typename T>
struct HaloAccess {
  const std::uint32_t* in_index = nullptr;
  const T* read = nullptr;
  T* write = nullptr;
  bool is_due = true;
  std::uint32_t num_puts = 0;     // of the current node
  std::uint32_t num_refused = 0;  // of the current node

  void Bind(Halo<T>& halo, bool synchronous) {
    in_index = halo.InIndex();
    read = halo.Current();
    write = synchronous ? halo.Next() : halo.Current();
  }
};

template <UnicastLayer L>
struct EdgeAccess {
  std::span<typename EdgeConduits<typename L::Message, L::policy>::Outlet> outlets;
  std::span<typename EdgeConduits<typename L::Message, L::policy>::Inlet> inlets;

  void Bind(EdgeConduits<typename L::Message, L::policy>& edges, bool) {
    outlets = edges.Outlets();
    inlets = edges.Inlets();
  }
};

template <Layer L>
struct AccessOfLayer;
template <MulticastLayer L>
struct AccessOfLayer<L> {
  using Type = HaloAccess<typename L::Message>;
};
template <UnicastLayer L>
struct AccessOfLayer<L> {
  using Type = EdgeAccess<L>;
};

}  // namespace detail

/// Where a node puts its value for a multicast layer.
template <typename T, bool synchronous>
class HaloOut {
 public:
  /// Of one node of a place.
  HaloOut(detail::HaloAccess<T>& access, std::uint32_t node) : access_(access), node_(node) {}

  /// Gives all out-neighbours the value. False, and counted as dropped, if the layer is not due; and in bulk
  /// synchronous runs at the second put of an update.
  bool TryPut(const T& value) {
    if (!access_.is_due || (synchronous && access_.num_puts != 0)) {
      ++access_.num_refused;
      return false;
    }
    ++access_.num_puts;
    access_.write[node_] = value;
    return true;
  }

 private:
  detail::HaloAccess<T>& access_;
  std::uint32_t node_;
};

/// The node that is being updated: what its update function is handed. Valid during the call.
template <typename M, bool synchronous>
class TaggedNode;

/// The node of a mesh with the layers `Ls`; `synchronous` in mode 0.
template <Layer... Ls, bool synchronous>
class TaggedNode<TaggedMesh<Ls...>, synchronous> {
 public:
  using M = TaggedMesh<Ls...>;  ///< whose it is

  /// For the runner: the nodes of a place, in one update.
  TaggedNode(M& mesh, std::uint32_t thread, std::uint64_t seed, std::uint64_t update)
      : graph_(mesh.Partitions()[thread]->graph),
        ids_(graph_.nodes.data()),
        first_in_(graph_.first_in.data()),
        first_out_(graph_.first_out.data()),
        first_local_(mesh.Partitions()[thread]->first_local),
        seed_(seed),
        update_(update) {
    (AccessTo<Ls>(*this).Bind(mesh.template Of<Ls>(thread), synchronous), ...);
    (SetDue<Ls>(), ...);
  }

  /// Its number within this process, from 0 without gaps: the index for data of one's own.
  std::size_t Index() const { return first_local_ + node_; }
  /// Its number in the whole graph.
  NodeId Id() const { return ids_[node_]; }
  /// The number of this update, from 0; each worker counts its own.
  std::uint64_t Update() const { return update_; }
  /// How many edges end here.
  std::size_t NumInputs() const { return first_in_[node_ + 1] - first_in_[node_]; }
  /// How many edges begin here.
  std::size_t NumOutputs() const { return first_out_[node_ + 1] - first_out_[node_]; }
  /// The nodes at the far ends of inputs, in order.
  std::span<const NodeId> Sources() const { return std::span{graph_.sources}.subspan(first_in_[node_], NumInputs()); }
  /// The nodes at the far ends of outputs, in order.
  std::span<const NodeId> Targets() const { return std::span{graph_.targets}.subspan(first_out_[node_], NumOutputs()); }

  /// Of a multicast layer the newest values of the in-neighbours, of a unicast layer the outlets; in input order.
  template <Layer L>
  auto In() const {
    const auto& access = AccessTo<L>(*this);
    if constexpr (MulticastLayer<L>) {
      return HaloView<typename L::Message>(access.in_index + first_in_[node_],
                                           access.in_index + first_in_[node_ + 1], access.read);
    } else {
      return access.outlets.subspan(first_in_[node_], NumInputs());
    }
  }
  /// Of a multicast layer where to put, of a unicast layer the inlets in output order.
  template <Layer L>
  auto Out() {
    auto& access = AccessTo<L>(*this);
    if constexpr (MulticastLayer<L>) return HaloOut<typename L::Message, synchronous>(access, node_);
    else return access.inlets.subspan(first_out_[node_], NumOutputs());
  }
  /// Whether the layer's period has come round.
  template <Layer L>
  bool IsDue() const {
    return update_ % L::period == 0;
  }
  /// Its random numbers for this update.
  NodeRandom Random() const { return {seed_, Id(), update_}; }

  /// For the runner: goes to a node of the place.
  void GoTo(std::uint32_t node) { node_ = node; }
  /// For the runner: counts what the node has put.
  void Commit(M& mesh, std::uint32_t thread) { (CommitLayer<Ls>(mesh, thread), ...); }

 private:
  template <Layer L, typename Self>
  static auto& AccessTo(Self& self) {
    return std::get<M::template IndexOf<L>()>(self.accesses_);
  }
  template <Layer L>
  void SetDue() {
    if constexpr (MulticastLayer<L>) AccessTo<L>(*this).is_due = L::period == 1 || IsDue<L>();
  }
  template <Layer L>
  void CommitLayer(M& mesh, std::uint32_t thread) {
    if constexpr (MulticastLayer<L>) {
      auto& access = AccessTo<L>(*this);
      const bool is_odd = access.num_puts != 1 && (L::period == 1 || access.is_due);
      // By value: a node whose address went out of sight could not stay in registers.
      if (is_odd || access.num_refused != 0) [[unlikely]] CommitOddly<L>(mesh.template Of<L>(thread), node_, access);
      access.num_puts = 0;
      access.num_refused = 0;
    }
  }
  template <MulticastLayer L>
  UIT_NOINLINE static void CommitOddly(Halo<typename L::Message>& halo, std::uint32_t node,
                                       detail::HaloAccess<typename L::Message> access) {
    if (access.num_refused != 0) halo.Dropped().Deviate(node, access.num_refused, halo.NumNodes());
    if (!access.is_due) return;
    if (access.num_puts != 1) halo.Counting().Deviate(node, std::int64_t{access.num_puts} - 1, halo.NumNodes());
    if (synchronous && access.num_puts == 0) access.write[node] = access.read[node];
  }

  const PlaceGraph& graph_;
  const NodeId* ids_;
  const std::uint32_t* first_in_;
  const std::uint32_t* first_out_;
  std::size_t first_local_;
  std::uint64_t seed_;
  std::uint64_t update_;
  std::uint32_t node_ = 0;
  std::tuple<typename detail::AccessOfLayer<Ls>::Type...> accesses_;
};

}  // namespace netuit
