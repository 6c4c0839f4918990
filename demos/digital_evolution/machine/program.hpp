#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <uit/support/assert.hpp>

#include "demos/digital_evolution/machine/genome.hpp"

namespace digital_evolution {

/// A set of instruction classes.
class ClassSet {
 public:
  constexpr ClassSet() = default;
  /// Those that are named.
  constexpr ClassSet(std::initializer_list<InstructionClass> classes) {
    for (const InstructionClass instruction_class : classes) Insert(instruction_class);
  }
  /// Adds one.
  constexpr void Insert(InstructionClass instruction_class) { bits_ |= 1U << static_cast<unsigned>(instruction_class); }
  /// Whether it is in the set.
  constexpr bool Contains(InstructionClass instruction_class) const {
    return (bits_ >> static_cast<unsigned>(instruction_class) & 1U) != 0;
  }

 private:
  std::uint32_t bits_ = 0;
};

/// Options of all programs of a run.
struct MachineOptions {
  Metric metric = Metric::hamming;
  /// The least similarity at which a module or label matches a tag: 0 … 64, including regulation.
  unsigned match_threshold = default_match_threshold;
  /// Instructions of these classes do nothing. Modules and labels remain.
  ClassSet knocked_out{};
  /// The tags of events, numbered from 0. A program finds their modules once. Only Program's constructor reads this.
  std::span<const Tag> event_tags{};
};

/// A part of a genome that signals and calls start by its tag.
struct Module {
  Tag tag = 0;
  std::uint16_t begin = 0;  ///< positions in the genome, from its first instruction
  std::uint16_t end = 0;    ///< position after its last instruction
};

/// The maximum number of modules; further `module` lines are labels.
inline constexpr unsigned max_modules = 64;

/// No module, no label.
inline constexpr std::uint16_t no_target = std::numeric_limits<std::uint16_t>::max();

/// A genome prepared to run: divided into modules, with all targets that do not depend on regulation. Immutable, so all cells
/// with the genome, in any threads, share one.
///
///     const auto program = std::make_shared<const Program>(ParseGenome(file, "ancestor"), options);
///     machine.SignalEvent(*program, 0, facing);
///     machine.Run(*program, 16, cell);
///
/// The first instruction begins a module with its tag, whatever its operation; so does each `module`.
class Program {
 public:
  /// An instruction as the interpreter reads it. Instruction i of module m is at i + m of the code, since each module
  /// is followed by an end.
  struct Decoded {
    std::uint8_t operation = 0;  ///< of Operation, or `end_of_module`
    std::array<std::uint8_t, 3> arguments{};  ///< within their ranges
    /// The target of a jump in the code, the module, or the number to set; or no_target.
    std::uint16_t target = 0;
    std::uint16_t position = 0;  ///< in the genome
  };
  /// A tag of an event, with its module.
  struct Event {
    Tag tag = 0;
    std::uint16_t module = no_target;  ///< BestModule of the tag
  };
  static constexpr std::uint8_t end_of_module = num_operations;

  /// Requires a valid genome.
  explicit Program(Genome genome, const MachineOptions& options = {})
      : genome_{std::move(genome)},
        hash_{HashOf(genome_)},
        metric_{options.metric},
        match_threshold_{options.match_threshold} {
    UIT_ASSERT(IsValid(genome_), "a program needs a valid genome");
    FindModules();
    code_.reserve(genome_.size() + modules_.size());
    for (const Module& module : modules_) Decode(module, options.knocked_out);
    for (const Tag tag : options.event_tags) events_.push_back({.tag = tag, .module = BestModule(tag)});
  }

  /// Its genome.
  const Genome& GetGenome() const { return genome_; }
  /// HashOf the genome.
  std::uint64_t Hash() const { return hash_; }
  /// 1 … 64, in the order of the genome.
  std::span<const Module> Modules() const { return modules_; }
  /// The code for the interpreter.
  const std::vector<Decoded>& Code() const { return code_; }
  /// The position in the code where a module begins.
  std::uint16_t Entry(std::uint16_t module) const {
    const std::uint16_t begin = modules_[module].begin;
    return static_cast<std::uint16_t>(begin + module + (genome_[begin].operation == Operation::module ? 1 : 0));
  }

  /// An event by its number in MachineOptions::event_tags.
  const Event& GetEvent(std::size_t event) const { return events_[event]; }
  /// The module that matches a tag best, the earliest of equals; no_target if none matches.
  std::uint16_t BestModule(Tag tag) const {
    return BestModule(tag, [](std::size_t) { return 0; });
  }
  /// The same with `regulator_of(module)`, an int, added to each similarity.
  template <typename RegulatorOf>
  std::uint16_t BestModule(Tag tag, RegulatorOf regulator_of) const {
    std::uint16_t best = no_target;
    int best_score = static_cast<int>(match_threshold_) - 1;
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      const int score = static_cast<int>(Similarity(metric_, tag, modules_[m].tag)) + regulator_of(m);
      if (score > best_score) {
        best_score = score;
        best = static_cast<std::uint16_t>(m);
      }
    }
    return best;
  }

 private:
  void FindModules() {
    for (std::size_t i = 0; i < genome_.size(); ++i) {
      const bool begins = i == 0 || (genome_[i].operation == Operation::module && modules_.size() < max_modules);
      if (begins) modules_.push_back({.tag = genome_[i].GetTag(), .begin = static_cast<std::uint16_t>(i)});
      modules_.back().end = static_cast<std::uint16_t>(i + 1);
    }
  }

  void Decode(const Module& module, ClassSet knocked_out) {
    const std::size_t first = code_.size();
    for (std::uint16_t i = module.begin; i < module.end; ++i) code_.push_back(DecodeOne(i, knocked_out));
    code_.push_back({.operation = end_of_module, .arguments = {}, .target = no_target, .position = module.end});
    for (std::size_t at = first; at < code_.size(); ++at) {
      Decoded& decoded = code_[at];
      if (!IsJump(static_cast<Operation>(decoded.operation))) continue;
      decoded.target = BestLabel(module, first, genome_[decoded.position].GetTag());
    }
  }

  Decoded DecodeOne(std::uint16_t position, ClassSet knocked_out) const {
    const Instruction& instruction = genome_[position];
    const InstructionMeaning& meaning = MeaningOf(instruction.operation);
    Decoded decoded{.operation = static_cast<std::uint8_t>(instruction.operation),
                    .arguments = {},
                    .target = no_target,
                    .position = position};
    if (knocked_out.Contains(meaning.instruction_class)) {
      decoded.operation = static_cast<std::uint8_t>(Operation::nop);
      return decoded;
    }
    for (std::size_t k = 0; k < instruction.arguments.size(); ++k) {
      decoded.arguments[k] = static_cast<std::uint8_t>(instruction.arguments[k] % NumChoices(meaning.operands[k]));
    }
    if (meaning.operands[1] == Operand::number_low) {
      decoded.target = static_cast<std::uint16_t>(NumberOf(instruction));
    }
    if (NamesModule(instruction.operation)) decoded.target = BestModule(instruction.GetTag());
    return decoded;
  }

  static constexpr bool IsJump(Operation operation) {
    return operation == Operation::jump || operation == Operation::jump_if || operation == Operation::jump_unless;
  }
  static constexpr bool NamesModule(Operation operation) {
    return operation == Operation::call || operation == Operation::fork || operation == Operation::promote ||
           operation == Operation::repress || operation == Operation::unregulate;
  }

  /// The position in the code after the best label of the module whose code begins at `first`.
  std::uint16_t BestLabel(const Module& module, std::size_t first, Tag tag) const {
    std::uint16_t best = no_target;
    unsigned best_similarity = 0;
    for (std::uint16_t i = module.begin; i < module.end; ++i) {
      const bool is_label = genome_[i].operation == Operation::label ||
                            (genome_[i].operation == Operation::module && i != module.begin);
      if (!is_label) continue;
      const unsigned similarity = Similarity(metric_, tag, genome_[i].GetTag());
      if (similarity < match_threshold_ || (best != no_target && similarity <= best_similarity)) continue;
      best_similarity = similarity;
      best = static_cast<std::uint16_t>(first + (i - module.begin) + 1U);
    }
    return best;
  }

  Genome genome_;
  std::uint64_t hash_;
  Metric metric_;
  unsigned match_threshold_;
  std::vector<Module> modules_;
  std::vector<Decoded> code_;
  std::vector<Event> events_;
};

}  // namespace digital_evolution
