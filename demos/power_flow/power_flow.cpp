// The angles of a power grid in which all flows are in balance (DC power flow), by Jacobi's iteration in several modes: when
// nothing disturbs, when each worker is slow for a while in turn, and when one is always slow.
//
//     power_flow FOLDER [REPLICATES]                  two threads
//     mpirun -n 2 power_flow FOLDER [REPLICATES]      two processes with two threads each
//
// FOLDER has grid.edgelist, whose weights are susceptances, and buses.csv with the columns label, power, diagonal and exact;
// grid.py makes them. Writes ways.csv to FOLDER, with a row per run.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <netuit/file/table.hpp>
#include <netuit/netuit.hpp>

#include "demos/common/pace.hpp"

using demo::Slow;

namespace {

constexpr double bound = 0.9e-8;  // of the largest error, in radians: below 1e-8, because best effort only estimates it

struct Way {
  std::string name;
  std::function<netuit::RunPlan(netuit::Until)> plan;
};

}  // namespace

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [&](uit::Team& team) {
    const std::string folder = argc > 1 ? argv[1] : ".";
    const int num_replicates = argc > 2 ? std::stoi(argv[2]) : 1;
    netuit::Mesh mesh{team, netuit::LoadGraph(folder + "/grid.edgelist")};
    const auto column = [&](const char* name) { return mesh.AddField<double>(netuit::FromTable(folder + "/buses.csv", name)); };
    auto power = column("power"), diagonal = column("diagonal"), exact = column("exact");
    auto susceptance = mesh.GetEdgeWeights();
    auto angle = mesh.AddPublishedField<double>(0.0);
    auto error = mesh.AddReduction(netuit::maximum);
    std::vector<demo::Pace> paces(team.NumThreads());
    const std::size_t num_workers = team.NumThreads() * team.NumProcesses();
    const std::vector<Way> ways{
        {"mode 0", [](netuit::Until until) { return netuit::EveryUpdate{.until = until}.MakePlan(); }},
        {"mode 5", [](netuit::Until until) { return netuit::Dataflow{.until = until}.MakePlan(); }},
        {"mode 3, slack 4", [](netuit::Until until) { return netuit::Free{.slack = 4, .until = until}.MakePlan(); }},
        {"mode 3", [](netuit::Until until) { return netuit::Free{.until = until}.MakePlan(); }}};
    netuit::Table table{{"noise", "way", "replicate", "updates", "ms", "error"}};
    int exit_code = 0;
    for (const auto& [slow, noise] : {std::pair{Slow::nobody, "none"}, {Slow::in_turn, "in turn"}, {Slow::first, "one"}}) {
      for (int replicate = 0; replicate < num_replicates; ++replicate) {
        for (const Way& way : ways) {
          mesh.Visit([&](netuit::Node& node) { angle[node] = 0; });
          mesh.Run(netuit::EveryUpdate{.updates = 1}, [](netuit::Node&) {});  // so that neighbours see it
          const netuit::RunReport report = mesh.Run(way.plan(error < bound), [&](netuit::Node& node) {
            demo::Pace& pace = paces[node.Worker() % team.NumThreads()];
            for (unsigned i = pace.Times(slow, node.Update(), node.Worker(), num_workers); i != 0; --i) {
              double sum = power[node];
              for (auto edge : node.In()) sum += susceptance[edge] * angle[edge];
              angle[node] = sum / diagonal[node];
              error[node] = std::abs(angle[node] - exact[node]);
              asm volatile("" ::: "memory");  // so that it is done each time
            }
          });
          exit_code = std::max(exit_code, report.ExitCode());
          double largest = 0;
          mesh.Visit([&](netuit::Node& node) { largest = std::max(largest, std::abs(angle[node] - exact[node])); });
          largest = std::ranges::max(team.GetWorld().AllGatherValue(largest));
          if (!team.IsRoot()) continue;
          const std::uint64_t updates = report.MaxUpdates();
          const double ms = std::chrono::duration<double, std::milli>(report.Elapsed()).count();
          std::printf("%-8s %-16s %9llu updates %9.1f ms, error %.1e\n", noise, way.name.c_str(),
                      static_cast<unsigned long long>(updates), ms, largest);
          table.Row().Add(noise).Add(way.name).Add(replicate).Add(updates).Add(ms).Add(largest);
        }
      }
    }
    if (team.IsRoot()) table.Save(folder + "/ways.csv");
    return exit_code;
  });
}
