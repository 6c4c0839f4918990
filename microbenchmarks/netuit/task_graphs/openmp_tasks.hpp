#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "pattern.hpp"

namespace bench::task_graphs {

/// OpenMP tasks with depend clauses, made anew in every update. The only code that is compiled for OpenMP.
class OpenMpTasks final : public System {
 public:
  /// Why there is no OpenMP, or nothing if there is.
  static std::string WhyMissing();

  /// With `awaits_updates`, the thread that makes the tasks waits for them after every update.
  OpenMpTasks(const Pattern& pattern, bool awaits_updates) : inputs_{InputsOf(pattern)}, awaits_updates_{awaits_updates} {}

  double Time(std::uint64_t num_updates, std::uint64_t num_steps) override;
  std::uint64_t Digest() override;
  [[nodiscard]] bool HasOwnThreads() const override { return true; }
  double TakeRunQueueDelay() override { return std::exchange(delay_, 0.0); }

 private:
  void MakeTasks(std::uint64_t num_updates, std::uint64_t num_steps);

  Inputs inputs_;
  bool awaits_updates_;
  Values values_ = FirstValues();
  std::uint64_t update_ = 0;
  double delay_ = 0;
};

}  // namespace bench::task_graphs
