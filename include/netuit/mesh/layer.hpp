#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <uit/codec/codec.hpp>
#include <uit/codec/span_codec.hpp>
#include <uit/codec/trivial_codec.hpp>
#include <uit/duct/duct.hpp>
#include <uit/policy.hpp>

namespace netuit {

/// Who hears a put.
enum class Addressing {
  multicast,  ///< all out-neighbours of the node: one value per node
  unicast     ///< the far end of one edge: a conduit per edge
};

/// What a layer of a mesh is, beyond its message.
struct LayerOptions {
  std::uint64_t period = 1;  ///< due when the update's number is a multiple of it; at least 1
};

/// One value per node, heard by all its out-neighbours; a halo exchange. Derive a tag from it:
///
///     struct Color : netuit::Multicast<unsigned> {};
///
/// Readers see the newest value that has reached them. Messages are trivially copyable.
template <uit::FixedSizeEncodable T, LayerOptions options = LayerOptions{}>
struct Multicast {
  using Message = T;  ///< what travels
  static constexpr Addressing addressing = Addressing::multicast;  ///< who hears a put
  /// What the layer promises.
  static constexpr uit::Policy policy{.retain = uit::Retain::latest, .consolidate = uit::Consolidate::pooled};
  static constexpr std::uint64_t period = options.period;  ///< in updates
  static_assert(period >= 1, "a layer's period is at least one update");
  static_assert(std::is_trivially_copyable_v<T>);
};

/// A conduit per edge. Derive a tag from it:
///
///     struct Packet : netuit::Unicast<std::array<std::byte, 20>, uit::Policy{.retain = uit::Retain::every}> {};
///     struct Row : netuit::Unicast<std::vector<double>, uit::Policy{.consolidate = uit::Consolidate::aggregated}> {};
///
/// Messages may have sizes of their own, unless they are pooled or added up. Under Retain::accumulate what nodes hold and
/// what is under way is the same in all, to the last unit: what a run leaves unread counts as unread in its report, and can
/// be stepped to in the next.
template <uit::Encodable T, uit::Policy p = uit::Policy{}, LayerOptions options = LayerOptions{}>
struct Unicast {
  using Message = T;  ///< what travels
  static constexpr Addressing addressing = Addressing::unicast;  ///< who hears a put
  static constexpr uit::Policy policy = p;  ///< what its conduits promise
  static constexpr std::uint64_t period = options.period;  ///< in updates
  static_assert(period >= 1, "a layer's period is at least one update");
};

/// A tag that names a layer: derives from Multicast or Unicast.
template <typename L>
concept Layer = uit::Message<typename L::Message> && requires {
  { L::addressing } -> std::convertible_to<Addressing>;
  { L::policy } -> std::convertible_to<uit::Policy>;
  { L::period } -> std::convertible_to<std::uint64_t>;
};

/// A layer of one value per node.
template <typename L>
concept MulticastLayer = Layer<L> && L::addressing == Addressing::multicast;
/// A layer of a conduit per edge.
template <typename L>
concept UnicastLayer = Layer<L> && L::addressing == Addressing::unicast;

}  // namespace netuit
