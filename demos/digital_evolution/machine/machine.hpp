#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>

#include "demos/digital_evolution/machine/host.hpp"
#include "demos/digital_evolution/machine/program.hpp"

namespace digital_evolution {

/// The virtual cores of one cell and the regulation of its modules. The cell knows the program.
///
///     machine.SignalEvent(program, heartbeat, facing);
///     const unsigned num_executed = machine.Run(program, 16, cell);
///     machine.Decay();
///
/// It has no pointers and no padding, because checkpoints and hashes read its bytes. A new machine has no cores and no
/// regulation. All calls require the program with which the cores started.
class Machine {
 public:
  static constexpr unsigned max_cores = 8;
  static constexpr unsigned max_call_depth = 4;
  static constexpr unsigned slice_length = 4;  ///< instructions of one core before the next one's turn
  static constexpr int max_regulation = 24;  ///< either way

  /// A thread of execution.
  struct Core {
    std::array<std::int32_t, num_registers> registers{};
    std::uint32_t number = 0;  ///< cores are numbered as they start
    std::array<std::uint16_t, max_call_depth> return_positions{};
    std::uint16_t position = 0;  ///< in the program's code
    std::uint8_t facing = 0;
    std::uint8_t call_depth = 0;

    friend bool operator==(const Core&, const Core&) = default;
  };

  /// Starts a core at the module that matches a tag best, with regulation. If 8 cores run, it replaces the oldest. Returns false
  /// if no module matches.
  bool Signal(const Program& program, Tag tag, unsigned facing, const PacketData& data = {}) {
    return Start(program, BestModule(program, tag), facing, data);
  }
  /// The same for an event, by its number in MachineOptions::event_tags. It needs no search while no module is regulated.
  bool SignalEvent(const Program& program, std::size_t event, unsigned facing, const PacketData& data = {}) {
    const Program::Event& known = program.GetEvent(event);
    return Start(program, num_regulated_ == 0 ? known.module : BestModule(program, known.tag), facing, data);
  }

  /// Runs the cores in turn, 4 instructions each, until the budget is used, no core is left, or the cell dies. Returns the number
  /// of executed instructions. The next run continues with the next core.
  template <Host H>
  unsigned Run(const Program& program, unsigned budget, H& host);

  /// Moves each regulator one step toward 0.
  void Decay() {
    if (num_regulated_ == 0) return;
    for (std::int8_t& regulator : regulators_) {
      if (regulator == 0) continue;
      regulator = static_cast<std::int8_t>(regulator + (regulator < 0 ? 1 : -1));
      if (regulator == 0) --num_regulated_;
    }
  }

  /// The module that a signal with this tag would start, or no_target.
  std::uint16_t BestModule(const Program& program, Tag tag) const {
    if (num_regulated_ == 0) return program.BestModule(tag);
    return program.BestModule(tag, [this](std::size_t module) { return regulators_[module]; });
  }
  /// The regulation of a module, added to its similarity: -24 … 24.
  int Regulator(std::size_t module) const { return regulators_[module]; }

  /// Of 8.
  unsigned NumCores() const { return static_cast<unsigned>(std::popcount(alive_)); }
  /// Whether a core is in slot 0 … 7.
  bool IsAlive(unsigned slot) const { return (alive_ >> slot & 1U) != 0; }
  /// The core in a slot, or the remains of the last one.
  const Core& GetCore(unsigned slot) const { return cores_[slot]; }

  /// Whether a program can run it. Check this for bytes from a file.
  bool Fits(const Program& program) const;

  friend bool operator==(const Machine&, const Machine&) = default;

 private:
  bool Start(const Program& program, std::uint16_t module, unsigned facing, const PacketData& data) {
    if (module == no_target) return false;
    Start(program.Entry(module), facing, {0, 0, 0, 0, 0, data[0], data[1], data[2]});
    return true;
  }

  /// Returns the slot.
  unsigned Start(std::uint16_t position, unsigned facing, const std::array<std::int32_t, num_registers>& registers) {
    const unsigned slot = TakeSlot();
    cores_[slot] = {.registers = registers,
                    .number = num_started_++,
                    .return_positions = {},
                    .position = position,
                    .facing = static_cast<std::uint8_t>(facing % num_facings),
                    .call_depth = 0};
    return slot;
  }

  /// A free slot, or that of the oldest core; marked as alive.
  unsigned TakeSlot() {
    unsigned slot = static_cast<unsigned>(std::countr_one(alive_));
    if (slot == max_cores) {
      slot = 0;
      for (unsigned other = 1; other < max_cores; ++other) {
        if (num_started_ - cores_[other].number > num_started_ - cores_[slot].number) slot = other;
      }
    }
    alive_ = static_cast<std::uint8_t>(alive_ | 1U << slot);
    return slot;
  }

  void SetRegulator(std::uint16_t module, int value) {
    if (module == no_target) return;
    const int change = (value != 0 ? 1 : 0) - (regulators_[module] != 0 ? 1 : 0);
    num_regulated_ = static_cast<std::uint16_t>(num_regulated_ + change);
    regulators_[module] = static_cast<std::int8_t>(value);
  }
  void AddToRegulator(std::uint16_t module, int change) {
    if (module == no_target) return;
    SetRegulator(module, std::clamp(regulators_[module] + change, -max_regulation, max_regulation));
  }

  /// Runs the core in a slot for at most `length` instructions; returns their number.
  template <Host H>
  unsigned RunSlice(const Program& program, unsigned slot, unsigned length, H& host);

  std::uint32_t num_started_ = 0;
  std::uint8_t alive_ = 0;           // a bit for each slot
  std::uint8_t next_slot_ = 0;       // whose turn it is
  std::uint16_t num_regulated_ = 0;  // regulators that are not 0
  std::array<Core, max_cores> cores_{};
  std::array<std::int8_t, max_modules> regulators_{};
};

inline bool Machine::Fits(const Program& program) const {
  const auto is_in_code = [&](std::uint16_t position) { return position < program.Code().size(); };
  const auto is_sound = [&](const Core& core) {
    return is_in_code(core.position) && core.facing < num_facings && core.call_depth <= max_call_depth &&
           std::all_of(core.return_positions.begin(), core.return_positions.begin() + core.call_depth, is_in_code);
  };
  for (unsigned slot = 0; slot < max_cores; ++slot) {
    if (IsAlive(slot) && !is_sound(cores_[slot])) return false;
  }
  const auto num_modules = static_cast<std::ptrdiff_t>(program.Modules().size());
  return next_slot_ < max_cores &&
         num_regulated_ == std::ranges::count_if(regulators_, [](int regulator) { return regulator != 0; }) &&
         std::ranges::all_of(regulators_, [](int regulator) { return std::abs(regulator) <= max_regulation; }) &&
         std::all_of(regulators_.begin() + num_modules, regulators_.end(), [](int regulator) { return regulator == 0; });
}

static_assert(std::is_trivially_copyable_v<Machine> && std::has_unique_object_representations_v<Machine>);

template <Host H>
unsigned Machine::Run(const Program& program, unsigned budget, H& host) {
  unsigned left = budget;
  while (left > 0 && alive_ != 0) {
    const unsigned waiting = alive_ >> next_slot_;  // from next_slot_ on, or else from the first
    const auto slot = waiting != 0 ? next_slot_ + static_cast<unsigned>(std::countr_zero(waiting))
                                   : static_cast<unsigned>(std::countr_zero(alive_));
    next_slot_ = static_cast<std::uint8_t>((slot + 1) % max_cores);
    left -= RunSlice(program, slot, std::min(left, slice_length), host);
  }
  return budget - left;
}

template <Host H>
unsigned Machine::RunSlice(const Program& program, unsigned slot, unsigned length, H& host) {
  using enum Operation;
  Core& core = cores_[slot];
  const Program::Decoded* const code = program.Code().data();
  InstructionUse& use = host.Use();
  std::uint16_t position = core.position;
  unsigned left = length;

  const auto wrap = [](std::uint32_t bits) { return static_cast<std::int32_t>(bits); };
  const auto end = [&] { alive_ = static_cast<std::uint8_t>(alive_ & ~(1U << slot)); };
  const auto go_back = [&] {
    if (core.call_depth == 0) return false;
    position = core.return_positions[--core.call_depth];
    return true;
  };

  while (left > 0 || code[position].operation == Program::end_of_module) {
    const Program::Decoded& decoded = code[position++];
    if (decoded.operation == Program::end_of_module) {
      if (go_back()) continue;
      end();
      return length - left;
    }
    --left;
    ++use[decoded.operation];
    std::int32_t& a = core.registers[decoded.arguments[0] % num_registers];
    const std::int32_t b = core.registers[decoded.arguments[1] % num_registers];
    const std::int32_t c = core.registers[decoded.arguments[2] % num_registers];
    const auto unsigned_a = static_cast<std::uint32_t>(a);
    const auto unsigned_b = static_cast<std::uint32_t>(b);
    const auto unsigned_c = static_cast<std::uint32_t>(c);
    const auto tag = [&] { return program.GetGenome()[decoded.position].GetTag(); };
    const auto act = [&](Action action, std::int32_t argument = 0) { host.Act(action, core.facing, argument); };
    const auto best_module = [&] { return num_regulated_ == 0 ? decoded.target : BestModule(program, tag()); };
    const auto packet = [&] { return PacketData{core.registers[0], core.registers[1], core.registers[2]}; };

    switch (static_cast<Operation>(decoded.operation)) {
      case nop:
      case module:
      case label: break;
      case set: a = static_cast<std::int16_t>(decoded.target); break;
      case copy: a = b; break;
      case add: a = wrap(unsigned_b + unsigned_c); break;
      case sub: a = wrap(unsigned_b - unsigned_c); break;
      case mul: a = wrap(unsigned_b * unsigned_c); break;
      case div: a = c == 0 ? 0 : c == -1 ? wrap(0U - unsigned_b) : b / c; break;
      case mod: a = c == 0 || c == -1 ? 0 : b % c; break;
      case bit_and: a = b & c; break;
      case bit_or: a = b | c; break;
      case bit_xor: a = b ^ c; break;
      case bit_not: a = ~b; break;
      case inc: a = wrap(unsigned_a + 1U); break;
      case dec: a = wrap(unsigned_a - 1U); break;
      case Operation::random: a = wrap(host.Random()); break;
      case less: a = b < c ? 1 : 0; break;
      case equal: a = b == c ? 1 : 0; break;
      case jump_if:
        if (a != 0 && decoded.target != no_target) position = decoded.target;
        break;
      case jump_unless:
        if (a == 0 && decoded.target != no_target) position = decoded.target;
        break;
      case jump:
        if (decoded.target != no_target) position = decoded.target;
        break;
      case call: {
        const std::uint16_t target = best_module();
        if (target == no_target || core.call_depth == max_call_depth) break;
        core.return_positions[core.call_depth++] = position;
        position = program.Entry(target);
        break;
      }
      case fork: {
        const std::uint16_t target = best_module();
        if (target == no_target) break;
        const auto registers = core.registers;  // a copy: the oldest core may be this one
        if (Start(program.Entry(target), core.facing, registers) == slot) return length - left;
        break;
      }
      case return_call:
        if (go_back()) break;
        [[fallthrough]];
      case stop: end(); return length - left;
      case face: core.facing = static_cast<std::uint8_t>(unsigned_a % num_facings); break;
      case turn: core.facing = static_cast<std::uint8_t>((core.facing + 1U) % num_facings); break;
      case promote: AddToRegulator(decoded.target, static_cast<int>(1 + unsigned_a % 8)); break;
      case repress: AddToRegulator(decoded.target, -static_cast<int>(1 + unsigned_a % 8)); break;
      case unregulate: SetRegulator(decoded.target, 0); break;
      case sense_self: a = host.SenseSelf(decoded.arguments[1]); break;
      case sense_neighbor: a = host.SenseNeighbor(core.facing, decoded.arguments[1]); break;
      case my_facing: a = core.facing; break;
      case show: host.Show(decoded.arguments[1], a); break;
      case is_kin: a = host.IsKin(core.facing) ? 1 : 0; break;
      case share_some: act(Action::share_some); break;
      case share_half: act(Action::share_half); break;
      case send: host.Send(core.facing, tag(), packet()); break;
      case broadcast:
        for (unsigned facing = 0; facing < num_facings; ++facing) host.Send(facing, tag(), packet());
        break;
      case admit: act(Action::admit); break;
      case refuse: act(Action::refuse); break;
      case spawn_kin: act(Action::spawn_kin); break;
      case spawn_new: act(Action::spawn_new); break;
      case endow: act(Action::endow, std::clamp(a, 0, 255)); break;
      case pause_spawn: act(Action::pause_spawn, wrap(unsigned_a % 256)); break;
      case mark_heir: act(Action::mark_heir); break;
      case die:
        act(Action::die);
        alive_ = 0;
        return length - left;
    }
  }
  core.position = position;
  return length - left;
}

}  // namespace digital_evolution
