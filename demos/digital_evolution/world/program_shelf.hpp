#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "demos/digital_evolution/machine/program.hpp"

namespace digital_evolution {

/// The programs of a worker's cells, each made once per genome and kept as long as a cell runs it. One thread at a time.
class ProgramShelf {
 public:
  /// Programs are made with `options`.
  explicit ProgramShelf(const MachineOptions& options) : options_(options) {}

  /// The program of a genome. Requires a valid genome.
  std::shared_ptr<const Program> Find(const Genome& genome) {
    std::shared_ptr<const Program>& place = programs_[HashOf(genome)];
    if (place == nullptr || place->GetGenome() != genome) place = std::make_shared<const Program>(genome, options_);
    std::shared_ptr<const Program> found = place;
    if (programs_.size() > limit_) Clear();
    return found;
  }
  /// The number of programs, with some that no cell runs any more.
  std::size_t Size() const { return programs_.size(); }

 private:
  void Clear() {
    std::erase_if(programs_, [](const auto& entry) { return entry.second.use_count() == 1; });
    limit_ = 2 * programs_.size() + min_limit;
  }

  static constexpr std::size_t min_limit = 64;

  MachineOptions options_;
  std::unordered_map<std::uint64_t, std::shared_ptr<const Program>> programs_;  // by hash
  std::size_t limit_ = min_limit;
};

}  // namespace digital_evolution
