#pragma once

#include <cstdint>

#include "demos/digital_evolution/machine/machine.hpp"
#include "demos/digital_evolution/world/site.hpp"

namespace digital_evolution {

/// A cell as its program sees it: a Host of the machine.
class CellHost {
 public:
  /// Of the cell at a site, in one update.
  explicit CellHost(Site& site) : site_(site), cell_(site.place.cell) {}

  /// A word of the cell's own state.
  std::int32_t SenseSelf(unsigned sensor) const { return cell_.state.words[sensor]; }
  /// A word of a neighbour's state, some updates old.
  std::int32_t SenseNeighbor(unsigned facing, unsigned sensor) const {
    return site_.layers.environment[site_.node.In(site_.layers.view)[facing]].words[sensor];
  }
  /// Whether the neighbour is of the cell's kin group.
  bool IsKin(unsigned facing) const { return site_.IsKin(facing); }
  /// Sets one of the words that neighbours see.
  void Show(unsigned word, std::int32_t value) { cell_.state.At(Sensor::shown_0, word) = value; }
  /// 32 random bits.
  std::uint32_t Random() { return site_.random(); }
  /// Where executed instructions are counted.
  InstructionUse& Use() { return site_.worker.counters.use; }
  /// Whether the program has ended the cell.
  bool IsDying() const { return is_dying_; }

  /// Executes a request of the program. Births wait until they are due.
  void Act(Action action, unsigned facing, std::int32_t argument) {
    constexpr Resource some = 20;  // a twentieth
    State& state = cell_.state;
    switch (action) {
      case Action::share_some: site_.TryTransfer(facing, cell_.stockpile / some); break;
      case Action::share_half: site_.TryTransfer(facing, cell_.stockpile / 2); break;
      case Action::spawn_kin:
        if (state[Sensor::is_expired] == 0) cell_.wishes[facing] = Wish::kin;
        break;
      case Action::spawn_new: cell_.wishes[facing] = Wish::stranger; break;
      case Action::endow: state[Sensor::endowment] = argument; break;
      case Action::pause_spawn:
        cell_.paused[facing] = cell_.age + static_cast<std::uint32_t>(argument);
        state.At(Sensor::paused_0, facing) = argument;
        break;
      case Action::admit: state.At(Sensor::admits_0, facing) = 1; break;
      case Action::refuse: state.At(Sensor::admits_0, facing) = 0; break;
      case Action::mark_heir: state[Sensor::heir] = static_cast<std::int32_t>(facing); break;
      case Action::die: is_dying_ = true; break;
    }
  }
  /// Stores a packet until it is due. If too many wait, it is lost.
  void Send(unsigned facing, Tag tag, const PacketData& data) {
    Outbox& outbox = site_.place.outbox;
    if (outbox.count[facing] == max_packets) {
      ++site_.worker.counters.packets_dropped;
      return;
    }
    outbox.packets[facing][outbox.count[facing]++] = {
        .tag_words = {static_cast<std::uint32_t>(tag), static_cast<std::uint32_t>(tag >> 32U)}, .data = data};
  }

 private:
  Site& site_;
  Cell& cell_;
  bool is_dying_ = false;
};

}  // namespace digital_evolution
