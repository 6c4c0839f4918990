#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <netuit/mesh/mesh_core.hpp>
#include <uit/link/world.hpp>

namespace graphs {

/// A way to solve a problem, which several processes do together.
struct Way {
  std::string name;
  std::function<void(std::size_t trial)> run;  ///< collective
  /// Says on rank 0 what is wrong with the result of `run`, or nothing. Collective, and not timed.
  std::function<std::string(std::size_t trial)> complaint;
};

/// Solves each trial in each way, and prints a row per way on rank 0. The ways take turns within a trial, so that whatever else the
/// machine does hits all alike. Each way solves trial 0 once before, without being timed.
class Race {
 public:
  /// For ways to do something on the graph of a mesh.
  explicit Race(const netuit::MeshCore& mesh) : mesh_(mesh), world_(mesh.GetWorld()) {}

  /// Adds a way. All are compared with the first.
  void Add(Way way) { ways_.push_back(std::move(way)); }
  /// Runs all. `work(trial)` is the number of edges that count for a rate; only rank 0 calls it. Throws uit::Error if a result is
  /// wrong. Collective.
  void Run(std::size_t num_trials, const std::function<double(std::size_t trial)>& work);

 private:
  double Time(const Way& way, std::size_t trial) const;
  void Print(const std::vector<std::vector<double>>& seconds, const std::function<double(std::size_t trial)>& work) const;

  const netuit::MeshCore& mesh_;
  const uit::World& world_;
  std::vector<Way> ways_;
};

/// Names the first node for which a result differs from the right one, on rank 0, which has both.
template <typename T>
std::string Difference(const std::vector<T>& result, const std::vector<T>& right) {
  if (result.size() != right.size()) return "a node has no result";
  for (std::size_t node = 0; node < right.size(); ++node)
    if (!(result[node] == right[node]))
      return "node " + std::to_string(node) + " has " + std::to_string(result[node]) + " instead of " + std::to_string(right[node]);
  return "";
}

}  // namespace graphs
