// A standing wave on a square membrane, by the leapfrog scheme, in several modes. Does its energy stay the same, and how far is it
// from the exact wave?
//
//     wave [FOLDER [SIDE]]                  two threads; SIDE x SIDE points, by default 63 x 63
//     mpirun -n 2 wave [FOLDER [SIDE]]      two processes with two threads each
//
// Writes to FOLDER moments.csv, with a row per way and moment, and points.csv, with the last heights of all points.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <netuit/file/table.hpp>
#include <netuit/netuit.hpp>

namespace {

constexpr double square = 0.25;            // of speed * time step / spacing; the scheme is stable up to 1/2
constexpr std::size_t num_crossings = 16;  // of the membrane by a wave, in the time of a run
constexpr std::size_t num_moments = 64;    // at which the energy is computed, besides the start

/// A point's height after its last update, and after the update before that.
struct Height {
  double now = 0, before = 0;
};

/// Heights after the last few updates. A point publishes them, so that each neighbour finds the one of its own time.
class History {
 public:
  explicit History(double start = 0) { heights_[0] = start; }
  void Add(double height) { heights_[++last_ % depth] = height; }
  double Newest() const { return heights_[last_ % depth]; }
  /// The height after so many updates, or the nearest one that is here.
  double At(std::uint64_t update) const { return heights_[std::clamp(update, last_ - std::min(last_, depth - 1), last_) % depth]; }

 private:
  static constexpr std::uint64_t depth = 8;
  std::array<double, depth> heights_{};
  std::uint64_t last_ = 0;  // update
};

enum class Reading { own_time, newest };

/// The exact height of a point after so many updates.
double Exact(netuit::NodeId side, netuit::NodeId id, double update) {
  const double step = std::numbers::pi / (side + 1);
  return std::sin(step * (id / side + 1)) * std::sin(step * (id % side + 1)) * std::cos(std::sqrt(2 * square) * step * update);
}

/// The energy, which the scheme conserves but for rounding: that of motion between the last two updates, and that of the links to
/// the four neighbours, those at the edge of the membrane included. Infinite if heights have overflowed.
double Energy(const netuit::Topology& grid, const std::vector<Height>& heights) {
  double energy = 0;
  for (netuit::NodeId id = 0; id < grid.NumNodes(); ++id) {
    const auto& [now, before] = heights[id];
    double bend = 4 * now;
    for (const netuit::EdgeId edge : grid.InEdges(id)) bend -= heights[grid.Source(edge)].now;
    energy += (now - before) * (now - before) + square * before * bend;
  }
  return std::isnan(energy) ? std::numeric_limits<double>::infinity() : energy;
}

}  // namespace

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [&](uit::Team& team) {
    const std::string folder = argc > 1 ? std::string(argv[1]) + "/" : "";
    const auto side = static_cast<netuit::NodeId>(argc > 2 ? std::stoul(argv[2]) : 63);
    const netuit::Topology grid = netuit::MakeGrid(side, side);
    const std::uint64_t updates = num_crossings * 2 * (side + 1), interval = updates / num_moments;
    using Film = std::array<Height, num_moments + 1>;
    netuit::Table moments{{"way", "update", "energy", "error"}}, points{{"way", "point", "height"}};
    int exit_code = 0;
    if (team.IsRoot() && !folder.empty()) std::filesystem::create_directories(folder);
    if (team.IsRoot()) std::printf("%-24s %9s %14s %14s %14s\n", "", "ms", "energy change", "largest error", "oldest value");

    const auto run = [&](const std::string& way, const auto& schedule, Reading reading = Reading::own_time) {
      const auto start = [side](netuit::NodeId id) { return Height{Exact(side, id, 0), Exact(side, id, -1)}; };
      netuit::Mesh mesh{team, grid};
      auto height = mesh.AddField<Height>(start);
      auto history = mesh.AddPublishedField<History>([&](netuit::NodeId id) { return History{start(id).now}; });
      auto film = mesh.AddField<Film>([&](netuit::NodeId id) { return Film{start(id)}; });
      const netuit::RunReport report = mesh.Run(schedule, [&](netuit::Node& node) {
        double sum = 0;
        for (auto edge : node.In()) sum += reading == Reading::newest ? history[edge].Newest() : history[edge].At(node.Update());
        auto& [now, before] = height[node];
        const double next = 2 * now - before + square * (sum - 4 * now);
        height[node] = {next, now};
        history[node].Add(next);
        if ((node.Update() + 1) % interval == 0) film[node][(node.Update() + 1) / interval] = height[node];
      });
      exit_code = std::max(exit_code, report.ExitCode());
      const std::vector<Film> films = mesh.Gather(film);
      if (!team.IsRoot()) return;
      double first_energy = 0, energy = 0, error = 0;
      for (std::size_t moment = 0; moment <= num_moments; ++moment) {
        std::vector<Height> heights;
        for (const Film& of_point : films) heights.push_back(of_point[moment]);
        energy = Energy(grid, heights);
        if (moment == 0) first_energy = energy;
        double error_now = 0;
        for (netuit::NodeId id = 0; id < grid.NumNodes(); ++id)
          error_now = std::max(error_now, std::abs(heights[id].now - Exact(side, id, static_cast<double>(moment * interval))));
        error = std::max(error, error_now);
        moments.Row().Add(way).Add(moment * interval).Add(energy / first_energy).Add(error_now);
      }
      for (netuit::NodeId id = 0; id < grid.NumNodes(); ++id) points.Row().Add(way).Add(id).Add(films[id].back().now);
      const double ms = std::chrono::duration<double, std::milli>(report.Elapsed()).count();
      std::printf("%-24s %9.1f %14.1e %14.1e %14llu\n", way.c_str(), ms, energy / first_energy - 1, error,
                  static_cast<unsigned long long>(report.MaxStaleness()));
    };
    run("mode 0", netuit::EveryUpdate{.updates = updates});
    run("mode 5", netuit::Dataflow{.updates = updates});
    run("mode 3, slack 0", netuit::Free{.updates = updates, .slack = 0});
    run("mode 3, slack 1", netuit::Free{.updates = updates, .slack = 1});
    run("mode 3, slack 4", netuit::Free{.updates = updates, .slack = 4});
    run("mode 3", netuit::Free{.updates = updates});
    run("mode 3, newest heights", netuit::Free{.updates = updates}, Reading::newest);
    if (team.IsRoot() && !folder.empty()) {
      moments.Save(folder + "moments.csv");
      points.Save(folder + "points.csv");
    }
    return exit_code;
  });
}
