#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <netuit/mesh/cut_part.hpp>
#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/value_exchange.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE CutPart::CutPart(const FieldMemory& field, const FieldMemory& copy, const Partition& partition, const NetworkPart& network)
    : LayerPart(network.period), field_(field), copy_(copy), partition_(partition), network_(network), ends_(copy, network) {}

UIT_DEFINE void CutPart::CopyOwn() {
  const std::size_t slot = network_.first_slot;
  std::memcpy(copy_.Own(slot), field_.Own(slot), partition_.NumNodes() * copy_.slot_bytes);
}

UIT_DEFINE void CutPart::CopyGhosts() {
  for (const NetworkPart::Ghosts& ghosts : network_.ghosts)
    std::memcpy(copy_.Own(ghosts.first), field_.Shown(ghosts.first), ghosts.ids.size() * copy_.slot_bytes);
}

UIT_DEFINE void CutPart::SendCopies(std::uint64_t round) {
  const ShownValues shown{.pack = copy_.pack, .values = copy_.own, .first_slot = network_.first_slot, .puts = uncounted_};
  for (ValueSender& sender : ends_.senders) sender.Send(shown, Stamp(round), true);
}

UIT_DEFINE bool CutPart::TryReceive(std::uint64_t round) {
  bool all = true;
  for (ValueReceiver& receiver : ends_.receivers) {
    if (receiver.last_update == Stamp(round)) continue;
    receiver.Pull(copy_.own, false);
    all &= receiver.last_update == Stamp(round);
  }
  return all;
}

}  // namespace netuit
