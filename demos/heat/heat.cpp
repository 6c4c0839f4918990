// Temperatures of a square plate that is hot at its upper edge and cold at the others, until they change no more: by Jacobi's
// iteration and by Gauss and Seidel's, in several modes.
//
//     heat [FOLDER]                  two threads
//     mpirun -n 2 heat [FOLDER]      two processes with two threads each
//
// Writes ways.csv, with a row per way, and plate.csv, the temperatures of the last, to FOLDER.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <netuit/file/table.hpp>
#include <netuit/netuit.hpp>

using namespace std::chrono_literals;

namespace {

constexpr netuit::NodeId side = 30;
constexpr double hot = 1;
constexpr double bound = 1e-6;  // of the largest change in an update

/// The mean of a point's four neighbours, from the sum of those inside the plate.
double Mean(double sum, netuit::NodeId id) { return (sum + (id < side ? hot : 0)) / 4; }

/// The largest difference between a point and the mean of its neighbours.
double Residual(const netuit::Topology& grid, const std::vector<double>& plate) {
  double largest = 0;
  for (netuit::NodeId id = 0; id < grid.NumNodes(); ++id) {
    double sum = 0;
    for (const netuit::EdgeId edge : grid.InEdges(id)) sum += plate[grid.Source(edge)];
    largest = std::max(largest, std::abs(Mean(sum, id) - plate[id]));
  }
  return largest;
}

}  // namespace

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [&](uit::Team& team) {
    const netuit::Topology grid = netuit::MakeGrid(side, side);
    const std::string folder = argc > 1 ? std::string(argv[1]) + "/" : "";
    netuit::Table ways{{"way", "updates", "ms", "residual"}};
    int exit_code = 0;
    if (team.IsRoot() && !folder.empty()) std::filesystem::create_directories(folder);
    if (team.IsRoot()) std::printf("%-32s %9s %9s %9s\n", "", "updates", "ms", "residual");

    const auto run = [&](const std::string& name, const netuit::EdgeDelays& delays, auto make_schedule) {
      netuit::Mesh mesh{team, {{"plate", grid, {.delays = delays}}}};
      auto heat = mesh.AddPublishedField<double>(0.0);
      auto change = mesh.AddReduction(netuit::maximum);
      const netuit::RunReport report = mesh.Run(make_schedule(change < bound), [&](netuit::Node& node) {
        double sum = 0;
        for (auto edge : node.In()) sum += heat[edge];
        const double mean = Mean(sum, node.Id());
        change[node] = std::abs(mean - heat[node]);
        heat[node] = mean;
      });
      exit_code = std::max(exit_code, report.ExitCode());
      if (!folder.empty()) mesh.WriteTable(folder + "plate.csv", netuit::Column{"heat", heat});
      const std::vector<double> plate = mesh.Gather(heat);
      if (!team.IsRoot()) return;
      const netuit::WorkerReport& first = report.workers.front();
      const double time = std::chrono::duration<double, std::milli>(first.elapsed).count();
      const double residual = Residual(grid, plate);
      std::printf("%-32s %9llu %9.1f %9.1e\n", name.c_str(), static_cast<unsigned long long>(first.num_updates), time, residual);
      ways.Row().Add(name).Add(first.num_updates).Add(time).Add(residual);
    };
    const auto every_update = [](netuit::Until until) { return netuit::EveryUpdate{.until = until}; };
    const auto dataflow = [](netuit::Until until) { return netuit::Dataflow{.until = until}; };
    run("Jacobi, mode 0", {}, every_update);
    run("Jacobi, mode 5", {}, dataflow);
    run("newest values, mode 1", {}, [](netuit::Until until) { return netuit::Rolling{.span = 1ms, .until = until}; });
    run("newest values, mode 2", {}, [](netuit::Until until) { return netuit::Fixed{.period = 1ms, .until = until}; });
    run("newest values, mode 3", {}, [](netuit::Until until) { return netuit::Free{.until = until}; });
    run("newest values, mode 3, slack 4", {}, [](netuit::Until until) { return netuit::Free{.slack = 4, .until = until}; });
    run("Gauss-Seidel by number, mode 5", netuit::GaussSeidel(), dataflow);
    run("Gauss-Seidel by colour, mode 5", netuit::GaussSeidelByColor(), dataflow);
    if (team.IsRoot() && !folder.empty()) ways.Save(folder + "ways.csv");
    return exit_code;
  });
}
