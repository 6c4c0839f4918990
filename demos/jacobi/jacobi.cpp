// Solves a dense system of linear equations by Jacobi's iteration in several modes. Each node has a block of rows, and needs the
// unknowns of all other blocks, so the graph is complete.
//
//     jacobi [FOLDER [BLOCKS]]                  two threads; BLOCKS blocks of 32 rows, by default 32
//     mpirun -n 2 jacobi [FOLDER [BLOCKS]]      two processes with two threads each
//
// Writes to FOLDER ways.csv, with a row per way, solution.csv, with the unknowns, and history.csv, with errors on the way.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <netuit/file/table.hpp>
#include <netuit/netuit.hpp>
#include <uit/support/clock.hpp>

namespace {

constexpr double bound = 1e-10;          // of the largest change in an update
constexpr double shrinkage = 0.8;        // of the error in an update, at most: a row's other entries over its diagonal one
constexpr std::size_t num_rows = 32;     // of a block
constexpr std::size_t num_looks = 1024;  // at a block's error, one before each update

using Block = std::array<double, num_rows>;

/// A number between 0 and 1 that looks random (SplitMix64).
double Draw(std::uint64_t number) {
  number = (number + 1) * 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>((number ^ (number >> 31)) >> 11) * 0x1p-53;
}

/// A block of rows of the system: diagonal * x - others * x = right.
struct Rows {
  Block diagonal{}, right{};
  Block exact{};               ///< the solution
  std::vector<double> others;  ///< by column, then row; 0 on the diagonal

  Rows() = default;
  Rows(std::size_t block, std::size_t num_blocks) : others(num_blocks * num_rows * num_rows) {
    const std::size_t size = num_blocks * num_rows;
    for (std::size_t row = 0; row < num_rows; ++row) {
      const std::size_t own = block * num_rows + row;
      double sum = 0, product = 0;
      for (std::size_t column = 0; column < size; ++column) {
        if (column == own) continue;
        const double entry = Draw(own * size + column);
        others[column * num_rows + row] = entry;
        sum += entry;
        product += entry * Draw(size * size + column);
      }
      exact[row] = Draw(size * size + own);
      diagonal[row] = sum / shrinkage;
      right[row] = diagonal[row] * exact[row] - product;
    }
  }

  /// Adds the part of others * x that comes from a block of x.
  void AddPart(Block& sum, std::size_t block, const Block& x) const {
    const double* entry = &others[block * num_rows * num_rows];
    for (std::size_t column = 0; column < num_rows; ++column, entry += num_rows)
      for (std::size_t row = 0; row < num_rows; ++row) sum[row] += entry[row] * x[column];
  }
};

double Distance(const Block& a, const Block& b) {
  double largest = 0;
  for (std::size_t row = 0; row < num_rows; ++row) largest = std::max(largest, std::abs(a[row] - b[row]));
  return largest;
}

/// A block's error at some time after the start of a run.
struct Look {
  double ms = 0, error = 0;
};

double Milliseconds(std::chrono::nanoseconds time) { return std::chrono::duration<double, std::milli>(time).count(); }

}  // namespace

int main(int argc, char** argv) {
  return netuit::Main(argc, argv, {.threads = 2}, [&](uit::Team& team) {
    const std::string folder = argc > 1 ? std::string(argv[1]) + "/" : "";
    const auto num_blocks = static_cast<netuit::NodeId>(argc > 2 ? std::stoul(argv[2]) : 32);
    netuit::Mesh mesh{team, netuit::MakeComplete(num_blocks)};
    auto rows = mesh.AddField<Rows>([num_blocks](netuit::NodeId id) { return Rows{id, num_blocks}; });
    auto x = mesh.AddPublishedField<Block>();
    auto looks = mesh.AddField<std::array<Look, num_looks>>();
    auto change = mesh.AddReduction(netuit::maximum);
    netuit::Table ways{{"way", "updates", "ms", "error"}}, solution{{"way", "row", "x"}};
    netuit::Table history{{"way", "block", "update", "ms", "error"}};
    int exit_code = 0;
    if (team.IsRoot() && !folder.empty()) std::filesystem::create_directories(folder);
    if (team.IsRoot()) std::printf("%-16s %9s %9s %9s\n", "", "updates", "ms", "error");

    const auto run = [&](const std::string& way, const auto& schedule) {
      mesh.Visit([&](netuit::Node& node) { x[node] = {}, looks[node] = {}; });
      mesh.Run(netuit::EveryUpdate{.updates = 1}, [](netuit::Node&) {});  // so that neighbours see it
      const uit::TimePoint start = uit::Now();
      const netuit::RunReport report = mesh.Run(schedule, [&](netuit::Node& node) {
        const Rows& own = rows[node];
        if (node.Update() < num_looks)
          looks[node][node.Update()] = {Milliseconds(uit::Now() - start), Distance(x[node], own.exact)};
        Block next = own.right;
        own.AddPart(next, node.Id(), x[node]);
        for (auto edge : node.In()) own.AddPart(next, edge.Source(), x[edge]);
        for (std::size_t row = 0; row < num_rows; ++row) next[row] /= own.diagonal[row];
        change[node] = Distance(next, x[node]);
        x[node] = next;
      });
      exit_code = std::max(exit_code, report.ExitCode());
      const auto blocks = mesh.Gather(x);
      const auto looks_by_block = mesh.Gather(looks);
      if (!team.IsRoot()) return;
      const std::uint64_t updates = report.MaxUpdates();
      const double ms = Milliseconds(report.Elapsed());
      double error = 0;
      for (std::size_t block = 0; block < num_blocks; ++block) {
        error = std::max(error, Distance(blocks[block], Rows{block, num_blocks}.exact));
        for (std::size_t row = 0; row < num_rows; ++row)
          solution.Row().Add(way).Add(block * num_rows + row).Add(blocks[block][row]);
        for (std::size_t look = 0; look < num_looks; ++look) {
          const auto& [time, block_error] = looks_by_block[block][look];
          if (time == 0) break;
          history.Row().Add(way).Add(block).Add(look).Add(time).Add(block_error);
        }
      }
      std::printf("%-16s %9llu %9.1f %9.1e\n", way.c_str(), static_cast<unsigned long long>(updates), ms, error);
      ways.Row().Add(way).Add(updates).Add(ms).Add(error);
    };
    run("mode 0", netuit::EveryUpdate{.until = change < bound});
    run("mode 5", netuit::Dataflow{.until = change < bound});
    run("mode 3, slack 4", netuit::Free{.slack = 4, .until = change < bound});
    run("mode 3", netuit::Free{.until = change < bound});
    if (team.IsRoot() && !folder.empty()) {
      ways.Save(folder + "ways.csv");
      solution.Save(folder + "solution.csv");
      history.Save(folder + "history.csv");
    }
    return exit_code;
  });
}
