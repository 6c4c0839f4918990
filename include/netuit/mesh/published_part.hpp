#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/value_part.hpp>
#include <uit/config.hpp>

namespace netuit {

/// One worker's part of a field that is published along a network.
///
/// In which update values are sent: the one before the network is due. So in an update in which it is due, a node sees its
/// neighbours as they were after the update before. That worker only, once it is wired.
class PublishedPart final : public ValuePart {
 public:
  /// Of a field in `memory`, for the worker of `partition`. The field's first part is the one that shows its own nodes'
  /// values, where values are shown update by update. Refers to all arguments.
  PublishedPart(const FieldMemory& memory, const Partition& partition, const NetworkPart& network, bool is_first);

  void Send(std::uint64_t update) override;
  /// Every node has published, but for those that stay silent, and neighbours of the same worker see it. A network that is
  /// not due next hears nothing.
  void FinishUpdate(std::uint64_t update) override;
  void BeginEnd(std::uint64_t update) override;
  bool TryPullLast(std::uint64_t update) override;

 private:
  std::byte* Shown() override;
  void SendShown(std::uint64_t update, bool last) { SendAll(memory_.pack, memory_.shown, network_.first_slot, update, last); }
  /// Neighbours of the same worker see what its nodes have written, but for those that stay silent.
  void ShowOwnValues(std::span<const std::uint32_t> silent);
  /// Brings own nodes' values to their ghosts, where the network has any.
  void ShowOwnGhosts();

  const FieldMemory& memory_;
  const Partition& partition_;
  const NetworkPart& network_;
  bool is_first_;
  const NetworkPart::Ghosts* own_ghosts_ = nullptr;  // of own nodes, where the network's period is more than an update
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/published_part.ipp>
#endif
