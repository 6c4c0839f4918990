#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include <netuit/run/run_options.hpp>
#include <uit/config.hpp>
#include <uit/tally.hpp>

namespace netuit::detail {

/// The accounts of workers on meshes that others have replaced, by worker of the report.
class EarlierAccounts {
 public:
  EarlierAccounts() = default;
  /// Those of a report.
  explicit EarlierAccounts(const std::vector<WorkerReport>& workers) {
    for (const WorkerReport& worker : workers) accounts_.push_back({worker.tally, worker.inside});
  }

  /// Adds them to the accounts of the present mesh.
  void AddTo(RunReport& report) const {
    for (std::size_t i = 0; i < std::min(accounts_.size(), report.workers.size()); ++i) {
      report.workers[i].tally += accounts_[i].crossing;
      report.workers[i].inside += accounts_[i].inside;
    }
  }

 private:
  struct Accounts {
    uit::Tally crossing;
    uit::Tally inside;
  };

  std::vector<Accounts> accounts_;
};

}  // namespace netuit::detail
