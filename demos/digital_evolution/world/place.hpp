#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <netuit/graph/topology.hpp>
#include <type_traits>
#include <vector>

#include "demos/digital_evolution/machine/program.hpp"
#include "demos/digital_evolution/world/cell.hpp"
#include "demos/digital_evolution/world/counters.hpp"
#include "demos/digital_evolution/world/layers.hpp"
#include "demos/digital_evolution/world/program_shelf.hpp"
#include "demos/digital_evolution/world/resource.hpp"

namespace digital_evolution {

/// Packets that wait until they are due, by facing.
struct Outbox {
  std::array<std::uint32_t, num_facings> count{};                         ///< that wait
  std::array<std::array<Packet, max_packets>, num_facings> packets{};  ///< the first of them
};
static_assert(std::has_unique_object_representations_v<Outbox>);

/// A node of the mesh: a cell or none, and the packets that wait to leave.
struct Place {
  Cell cell{};                             ///< see Cell::IsAlive
  std::shared_ptr<const Program> program;  ///< made of the cell's genome; null if there is no cell
  netuit::NodeId id = 0;                   ///< of the node
  std::uint32_t worker = 0;                ///< thread that updates it
  Outbox outbox{};                         ///< packets that leave when they are due
};

/// A birth, as observers are told of it.
struct BirthNote {
  std::uint32_t worker = 0;        ///< thread on which it took place
  std::uint64_t age = 0;           ///< of the world
  std::uint64_t parent_taxon = 0;  ///< of the parent
  bool is_new_taxon = false;       ///< its genome is new
};

/// Observers of births and deaths. The thread of the event calls them, so several may run at once. May be empty.
struct Hooks {
  /// Called for a new cell.
  std::function<void(const Place&, const BirthNote&)> on_birth{};
  /// Called before a cell dies, with the age of the world.
  std::function<void(const Place&, Death, std::uint64_t age)> on_death{};
};

/// The data of one thread, on its own cache lines.
struct alignas(128) WorkerRecord {
  explicit WorkerRecord(const MachineOptions& options) : shelf(options) {}

  Ledger ledger{};                       ///< where resource went
  Counters counters{};                   ///< counts of the events of its cells
  ProgramShelf shelf;                    ///< programs of its cells
  std::vector<std::uint32_t> newcomer;   ///< scratch: the birth that was preferred
  std::vector<std::uint32_t> departure;  ///< scratch: a birth that leaves
  Genome genome;                         ///< scratch: of a newcomer
};

}  // namespace digital_evolution
