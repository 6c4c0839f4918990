// PageRank of a graph that is distributed over processes. Compares, in one run, two programs by calls to the owners of nodes, two
// by a published field, and one over MPI by hand.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <netuit/graph/topology.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/on_root.hpp>
#include <uit/link/world.hpp>

#include "by_calls.hpp"
#include "by_field.hpp"
#include "by_mpi.hpp"
#include "demos/common/contest.hpp"
#include "demos/common/pace.hpp"
#include "demos/graphs/input.hpp"
#include "demos/graphs/options.hpp"
#include "demos/graphs/over_processes.hpp"
#include "demos/graphs/part.hpp"
#include "problem.hpp"

namespace page_rank {
namespace {

constexpr auto text =
    "Computes the PageRank of a graph in five ways: over MPI by hand, by calls to the owners of nodes in iterations and\n"
    "asynchronously, and by a published field in iterations and asynchronously. Start it with mpirun. Compares with a serial solution: the sum of all errors must\n"
    "be within the proven bound, and the bound at most --error. With --in-parts, a bound that follows from the ranks alone replaces\n"
    "that sum. Prints a row per way; the items are the edges of the graph, once for the whole computation, and the ratio is that to\n"
    "MPI.";

/// Returns a bound on the sum of all errors that follows from the ranks alone: how much each node's rank differs from what its
/// neighbours' ranks make of it, divided by 1 - d. Every process looks at its own nodes. Collective.
double BoundOf(const std::vector<double>& gathered, const graphs::Input& input, const Problem& problem) {
  const uit::World& world = input.Mesh().GetWorld();
  const std::vector<double> ranks = netuit::ValuesOfRoot(world, gathered);
  const std::vector<std::uint32_t> degrees = netuit::ValuesOfRoot(world, input.Degrees());
  double difference = 0;
  input.Mesh().Visit([&](const netuit::Node& node) {
    double right = problem.First();
    for (const netuit::InEdge edge : node.In()) right += problem.Share(ranks[edge.Source()], degrees[edge.Source()]);
    difference += std::abs(right - ranks[node.Id()]);
  });
  return problem.Bound(graphs::SumOver(world, difference));
}

/// Compares results with the serial solution on rank 0 if that has the whole graph. Otherwise takes their own bound for the error.
class Check {
 public:
  Check(const graphs::Input& input, const Problem& problem)
      : input_(input), problem_(problem), exact_(SolveSerially(input.Whole(), problem)) {}

  /// Of ranks, and the mass that is left, by node, on rank 0. Collective.
  std::string Complaint(const std::string& way, const std::vector<double>& ranks, double mass_left) {
    const double from_ranks = input_.IsWhole() ? 0 : BoundOf(ranks, input_, problem_);
    if (!input_.Mesh().GetWorld().IsRoot()) return "";
    if (ranks.size() != input_.Mesh().NumNodes()) return "a node has no result";
    const double error = input_.IsWhole() ? SumOfErrors(ranks) : from_ranks;
    const double bound = problem_.Bound(mass_left);
    char line[160];
    std::snprintf(line, sizeof line, "the sum of all errors is %s%.3g, its bound %.3g, and the largest bound allowed %.3g",
                  input_.IsWhole() ? "" : "at most ", error, bound, problem_.error);
    lines_[way] = line;
    if (error <= bound + rounding && bound <= problem_.error + rounding) return "";  // false for NaN
    return lines_[way];
  }
  void Print() const {
    for (const auto& [way, line] : lines_) std::printf("%s: %s\n", way.c_str(), line.c_str());
  }

 private:
  static constexpr double rounding = 1e-12;  // the sum of all ranks is 1 at most

  double SumOfErrors(const std::vector<double>& ranks) const {
    double error = 0;
    for (std::size_t node = 0; node < ranks.size(); ++node) error += std::abs(ranks[node] - exact_[node]);
    return error;
  }

  const graphs::Input& input_;
  const Problem& problem_;
  std::vector<double> exact_;
  std::map<std::string, std::string> lines_;  // by way
};

double Sum(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}

int Run(const uit::World& world, const graphs::Options& options, Problem problem, demo::Slow slow) {
  graphs::Input input{world, options};
  netuit::Mesh& mesh = input.Mesh();
  const graphs::Part part{world, mesh};
  problem.num_nodes = mesh.NumNodes();
  problem.num_edges = mesh.NumEdges();
  Check check{input, problem};
  const auto gather = [&](const std::vector<double>& local) { return netuit::GatherByNode<double>(mesh, local); };

  ByMpi by_mpi{mesh, part, problem};
  ByIterations by_iterations{mesh, problem};
  ByMass by_mass{mesh, problem};
  ByField by_field{mesh, problem};
  ByFreeField by_free_field{mesh, problem};
  std::vector<demo::Method> methods;
  const auto add = [&](const std::string& name, auto solve, auto ranks, auto mass_left) {
    methods.push_back({name, [=](std::size_t) { solve(); },
                       [=, &check](std::size_t) { return check.Complaint(name, ranks(), mass_left()); },
                       [&](std::size_t) { return static_cast<double>(mesh.NumEdges()) / 2; }});
  };
  add("MPI in iterations", [&, slow] { by_mpi.Solve(slow); }, [&] { return gather(by_mpi.Ranks()); },
      [&] { return Sum(gather(by_mpi.MassLeft())); });
  if (slow == demo::Slow::nobody) {
    add("calls in iterations", [&] { by_iterations.Solve(); }, [&] { return mesh.Gather(by_iterations.Ranks()); },
        [&] { return Sum(mesh.Gather(by_iterations.MassLeft())); });
    add("calls asynchronously", [&] { by_mass.Solve(); }, [&] { return mesh.Gather(by_mass.Ranks()); },
        [&] { return Sum(mesh.Gather(by_mass.MassLeft())); });
  }
  add("published field", [&, slow] { by_field.Solve(slow); }, [&] { return mesh.Gather(by_field.Ranks()); }, [&] {
    std::vector<double> left = mesh.Gather(by_field.Shares());
    for (netuit::NodeId node = 0; node < left.size(); ++node) left[node] *= input.Degrees()[node];
    return Sum(left);
  });
  add("published field asynchronously", [&, slow] { by_free_field.Solve(slow); }, [&] { return mesh.Gather(by_free_field.Ranks()); },
      [&] { return by_free_field.MassLeft(); });
  demo::Compete(world, methods, options.trials);
  check.Print();
  return 0;
}

}  // namespace
}  // namespace page_rank

int main(int argc, char** argv) {
  page_rank::Problem problem;
  bool is_slow_in_turn = false;
  return graphs::Main(argc, argv,
                      {.name = "page_rank",
                       .text = page_rank::text,
                       .trials = "--replicates",
                       .trials_text = "computations in each way",
                       .add_options =
                           [&](CLI::App& app) {
                             app.add_option("--error", problem.error, "sum of all errors, at most")->check(CLI::Range(1e-12, 0.5));
                             app.add_option("--damping", problem.damping, "part of its mass that a node sends on")
                                 ->check(CLI::Range(0.01, 0.99));
                             app.add_flag("--slow-in-turn", is_slow_in_turn,
                                          "each process does its work three times for 10 ms, in turn; leaves the calls out");
                           }},
                      [&](const uit::World& world, const graphs::Options& options) {
                        return page_rank::Run(world, options, problem, is_slow_in_turn ? demo::Slow::in_turn : demo::Slow::nobody);
                      });
}
