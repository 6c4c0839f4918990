#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "demos/digital_evolution/machine/genome.hpp"

namespace digital_evolution {

/// A source of 32 random bits per call, and of numbers below a bound. netuit::NodeRandom is one.
template <typename R>
concept RandomBits = requires(R& random, std::uint32_t bound) {
  { random() } -> std::same_as<std::uint32_t>;
  { random.Below(bound) } -> std::same_as<std::uint32_t>;
};

/// How often births change a genome: probabilities, 0 … 1, rounded to multiples of 2^-32.
struct MutationRates {
  double per_birth = 0.1;           ///< that a birth mutates at all; the other rates apply to births that do
  double per_operation = 0.005;     ///< that an instruction's operation becomes another one
  double per_argument = 0.002;      ///< that an argument byte becomes another one
  double per_tag_bit = 0.0002;      ///< that a bit of a tag flips
  double slip_insertion = 0.05;     ///< that 1 to 16 consecutive instructions are copied to another position
  double slip_deletion = 0.05;      ///< that 1 to 16 consecutive instructions are deleted
  double module_duplication = 0.02;  ///< that a module is copied to a place between two modules
  double module_deletion = 0.02;    ///< that a module is deleted
};

/// The changes of a birth.
struct MutationCounts {
  std::uint32_t operations = 0;
  std::uint32_t arguments = 0;
  std::uint32_t tag_bits = 0;
  std::uint32_t insertions = 0;
  std::uint32_t deletions = 0;
  std::uint32_t module_duplications = 0;
  std::uint32_t module_deletions = 0;

  /// Whether anything changed.
  bool Any() const { return *this != MutationCounts{}; }
  friend bool operator==(const MutationCounts&, const MutationCounts&) = default;
};

/// Finds the successes among many independent trials, with one draw per success. Uses integers, so every platform agrees.
///
///     const SuccessSkipper skipper{0.001};
///     for (auto at = skipper.Failures(random); at < n; at += 1 + skipper.Failures(random)) Succeed(at);
class SuccessSkipper {
 public:
  /// For trials that succeed with this probability, rounded down to a multiple of 2^-32.
  explicit SuccessSkipper(double probability) {
    constexpr double scale = 4294967296.0;
    const double clamped = std::clamp(probability, 0.0, 1.0);
    std::uint64_t survival = one - static_cast<std::uint64_t>(clamped * scale);
    for (std::uint64_t& power : powers_) {
      power = survival;
      survival = Times(survival, survival);
    }
  }

  /// Whether a single trial succeeds. Draws once, unless the result is certain.
  template <RandomBits R>
  bool Succeeds(R& random) const {
    if (powers_[0] == one) return false;
    return random() >= powers_[0];
  }

  /// The number of failures before the next success: geometrically distributed, and capped at 2^17 - 1. It is the largest k
  /// with (1 - p)^k above a uniform number, computed digit by digit in binary.
  template <RandomBits R>
  std::uint32_t Failures(R& random) const {
    if (powers_[0] == one) return cap;
    const std::uint64_t uniform = random();
    std::uint64_t survival = one;
    std::uint32_t num_failures = 0;
    for (std::size_t digit = powers_.size(); digit-- > 0;) {
      const std::uint64_t next = Times(survival, powers_[digit]);
      if (next <= uniform) continue;
      survival = next;
      num_failures += std::uint32_t{1} << digit;
    }
    return num_failures;
  }

 private:
  static constexpr std::size_t num_digits = 17;  // 2^17 trials and more: the tag bits of the longest genome
  static constexpr std::uint32_t cap = (1U << num_digits) - 1;
  static constexpr std::uint64_t one = std::uint64_t{1} << 32U;
  static_assert(max_genome_length * max_similarity < cap);

  /// A product of fixed-point numbers of 0 … 1 = 2^32, rounded.
  static constexpr std::uint64_t Times(std::uint64_t a, std::uint64_t b) {
    if (a == one) return b;
    return b == one ? a : (a * b + one / 2) >> 32U;
  }

  std::array<std::uint64_t, num_digits> powers_{};  // (1 - p)^(2^k)
};

/// The longest slip, in instructions.
inline constexpr std::uint32_t max_slip = 16;

namespace detail {

/// The changes of births that mutate.
class Mutator {
 public:
  explicit Mutator(const MutationRates& rates)
      : operation_{rates.per_operation},
        argument_{rates.per_argument},
        tag_bit_{rates.per_tag_bit},
        insertion_{rates.slip_insertion},
        deletion_{rates.slip_deletion},
        duplication_{rates.module_duplication},
        module_deletion_{rates.module_deletion} {}

  template <RandomBits R>
  MutationCounts Mutate(Genome& genome, R& random) const {
    MutationCounts counts;
    SubstituteOperations(genome, random, counts);
    SubstituteArguments(genome, random, counts);
    FlipTagBits(genome, random, counts);
    if (insertion_.Succeeds(random)) InsertSlip(genome, random, counts);
    if (deletion_.Succeeds(random)) DeleteSlip(genome, random, counts);
    if (duplication_.Succeeds(random)) DuplicateModule(genome, random, counts);
    if (module_deletion_.Succeeds(random)) DeleteModule(genome, random, counts);
    return counts;
  }

 private:
  struct Stretch {
    std::size_t begin;
    std::size_t length;
  };

  template <RandomBits R, typename Visit>
  static void ForSuccesses(const SuccessSkipper& skipper, std::size_t num_trials, R& random, Visit visit) {
    for (std::size_t at = skipper.Failures(random); at < num_trials; at += 1 + skipper.Failures(random)) visit(at);
  }

  template <RandomBits R>
  void SubstituteOperations(Genome& genome, R& random, MutationCounts& counts) const {
    ForSuccesses(operation_, genome.size(), random, [&](std::size_t at) {
      auto number = static_cast<std::uint8_t>(random.Below(num_operations - 1));
      if (number >= static_cast<std::uint8_t>(genome[at].operation)) ++number;
      genome[at].operation = static_cast<Operation>(number);
      ++counts.operations;
    });
  }

  template <RandomBits R>
  void SubstituteArguments(Genome& genome, R& random, MutationCounts& counts) const {
    constexpr std::size_t num_arguments = 3;
    ForSuccesses(argument_, genome.size() * num_arguments, random, [&](std::size_t at) {
      std::uint8_t& argument = genome[at / num_arguments].arguments[at % num_arguments];
      argument = static_cast<std::uint8_t>(argument + 1 + random.Below(255));
      ++counts.arguments;
    });
  }

  template <RandomBits R>
  void FlipTagBits(Genome& genome, R& random, MutationCounts& counts) const {
    ForSuccesses(tag_bit_, genome.size() * max_similarity, random, [&](std::size_t at) {
      Instruction& instruction = genome[at / max_similarity];
      instruction.SetTag(instruction.GetTag() ^ Tag{1} << at % max_similarity);
      ++counts.tag_bits;
    });
  }

  template <RandomBits R>
  void InsertSlip(Genome& genome, R& random, MutationCounts& counts) const {
    const Stretch stretch = DrawStretch(genome.size(), max_genome_length - genome.size(), random);
    if (stretch.length == 0) return;
    InsertCopy(genome, stretch, Below(genome.size() + 1, random));
    ++counts.insertions;
  }

  template <RandomBits R>
  void DeleteSlip(Genome& genome, R& random, MutationCounts& counts) const {
    const Stretch stretch = DrawStretch(genome.size(), genome.size() - min_genome_length, random);
    if (stretch.length == 0) return;
    Erase(genome, stretch);
    ++counts.deletions;
  }

  template <RandomBits R>
  void DuplicateModule(Genome& genome, R& random, MutationCounts& counts) const {
    std::vector<std::size_t> bounds = ModuleBounds(genome);
    const Stretch module = DrawModule(bounds, random);
    if (genome.size() + module.length > max_genome_length) return;
    InsertCopy(genome, module, bounds[Below(bounds.size(), random)]);
    ++counts.module_duplications;
  }

  template <RandomBits R>
  void DeleteModule(Genome& genome, R& random, MutationCounts& counts) const {
    const std::vector<std::size_t> bounds = ModuleBounds(genome);
    if (bounds.size() == 2) return;  // the only one
    Erase(genome, DrawModule(bounds, random));
    ++counts.module_deletions;
  }

  template <RandomBits R>
  static std::size_t Below(std::size_t bound, R& random) {
    return random.Below(static_cast<std::uint32_t>(bound));
  }

  /// 1 … 16 consecutive instructions of a genome, up to a maximum.
  template <RandomBits R>
  static Stretch DrawStretch(std::size_t genome_length, std::size_t max_length, R& random) {
    const std::size_t length = std::min({1 + Below(max_slip, random), genome_length, max_length});
    return {.begin = Below(genome_length - length + 1, random), .length = length};
  }

  /// The positions where modules begin, and the end of the last.
  static std::vector<std::size_t> ModuleBounds(const Genome& genome) {
    std::vector<std::size_t> bounds{0};
    for (std::size_t i = 1; i < genome.size(); ++i) {
      if (genome[i].operation == Operation::module) bounds.push_back(i);
    }
    bounds.push_back(genome.size());
    return bounds;
  }

  template <RandomBits R>
  static Stretch DrawModule(const std::vector<std::size_t>& bounds, R& random) {
    const std::size_t module = Below(bounds.size() - 1, random);
    return {.begin = bounds[module], .length = bounds[module + 1] - bounds[module]};
  }

  static void InsertCopy(Genome& genome, Stretch stretch, std::size_t before) {
    const auto begin = genome.begin() + static_cast<std::ptrdiff_t>(stretch.begin);
    const Genome copy(begin, begin + static_cast<std::ptrdiff_t>(stretch.length));
    genome.insert(genome.begin() + static_cast<std::ptrdiff_t>(before), copy.begin(), copy.end());
  }

  static void Erase(Genome& genome, Stretch stretch) {
    const auto begin = genome.begin() + static_cast<std::ptrdiff_t>(stretch.begin);
    genome.erase(begin, begin + static_cast<std::ptrdiff_t>(stretch.length));
  }

  SuccessSkipper operation_;
  SuccessSkipper argument_;
  SuccessSkipper tag_bit_;
  SuccessSkipper insertion_;
  SuccessSkipper deletion_;
  SuccessSkipper duplication_;
  SuccessSkipper module_deletion_;
};

}  // namespace detail

/// Changes a parent's valid genome into its offspring's. Lengths stay in 1 … 1000: an insertion that would exceed this is
/// shortened, or omitted if it is a whole module.
///
///     Genome offspring = program.GetGenome();
///     const bool is_new_taxon = Mutate(offspring, {.per_birth = 0.1}, random).Any();
template <RandomBits R>
MutationCounts Mutate(Genome& genome, const MutationRates& rates, R& random) {
  if (!SuccessSkipper{rates.per_birth}.Succeeds(random)) return {};
  return detail::Mutator{rates}.Mutate(genome, random);
}

}  // namespace digital_evolution
