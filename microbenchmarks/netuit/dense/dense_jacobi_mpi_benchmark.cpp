// Jacobi's iteration for a dense system of equations, by two processes, half of the rows each. Every row needs all unknowns. How
// many updates per second does a mesh of blocks of rows make, on a complete graph without barriers, and how many do loops make that
// gather the unknowns by MPI?

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

#include "microbenchmarks/support/by_hand.hpp"
#include "microbenchmarks/support/halo_exchange.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

constexpr std::size_t size = 1024;         // number of unknowns
constexpr std::size_t num_blocks = 2;      // of rows, on the mesh
constexpr std::size_t half = size / 2;
constexpr std::size_t block_size = size / num_blocks;
constexpr double shrinkage = 0.8;          // of the error by an update

/// A number between 0 and 1 for an entry of the matrix.
double Entry(std::size_t row, std::size_t column) {
  return static_cast<double>((row * 7919 + column * 104729 + row * column) % 1000) / 1000;
}

/// Some rows of the system diagonal * x = right + others * x. Entries of `others` are stored by column.
class Rows {
 public:
  Rows() = default;
  Rows(std::size_t first, std::size_t num_rows) : others_(num_rows * size), diagonal_(num_rows), sum_(num_rows) {
    for (std::size_t row = 0; row < num_rows; ++row) {
      for (std::size_t column = 0; column < size; ++column) {
        const double entry = column == first + row ? 0 : Entry(first + row, column);
        others_[column * num_rows + row] = entry;
        diagonal_[row] += entry / shrinkage;
      }
    }
  }

  /// Begins an update: the right side is 1.
  void Begin() { std::ranges::fill(sum_, 1.0); }
  /// Adds others * x for the columns from `first` on.
  void AddPart(std::size_t first, std::span<const double> x) {
    const std::size_t num_rows = sum_.size();
    double* const sum = sum_.data();
    for (std::size_t i = 0; i < x.size(); i += 4) {  // four columns at a time, so that sums are loaded less often
      const double* const a = &others_[(first + i) * num_rows];
      const double *const b = a + num_rows, *const c = b + num_rows, *const d = c + num_rows;
      const double xa = x[i], xb = x[i + 1], xc = x[i + 2], xd = x[i + 3];
      for (std::size_t row = 0; row < num_rows; ++row) sum[row] += a[row] * xa + b[row] * xb + c[row] * xc + d[row] * xd;
    }
  }
  /// Ends the update: writes the new unknowns of these rows.
  void End(double* x) const {
    for (std::size_t row = 0; row < sum_.size(); ++row) x[row] = sum_[row] / diagonal_[row];
  }

 private:
  std::vector<double> others_, diagonal_, sum_;
};

/// By hand: computes, then gathers.
class Gathering {
 public:
  explicit Gathering(int rank) : rows_{static_cast<std::size_t>(rank) * half, half} {}
  void Update() {
    rows_.Begin();
    rows_.AddPart(0, x_);
    rows_.End(own_.data());
    MPI_Allgather(own_.data(), half, MPI_DOUBLE, x_.data(), half, MPI_DOUBLE, MPI_COMM_WORLD);
  }
  double Sum(int rank) const {
    double sum = 0;
    for (std::size_t row = 0; row < half; ++row) sum += x_[static_cast<std::size_t>(rank) * half + row];
    return sum;
  }

 private:
  Rows rows_;
  std::array<double, half> own_{};
  std::array<double, size> x_{};
};

/// Gathers all unknowns from the halves of both processes.
class Gather {
 public:
  Gather(int, const double* own, double* all) : own_{own}, all_{all} {}
  void Start() { MPI_Iallgather(own_, half, MPI_DOUBLE, all_, half, MPI_DOUBLE, MPI_COMM_WORLD, &request_); }
  void Wait() { MPI_Wait(&request_, MPI_STATUS_IGNORE); }

 private:
  const double* own_;
  double* all_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Exchanges the halves.
template <bench::hand::HaloExchange Requests>
class Swap {
 public:
  Swap(int rank, const double* own, double* all) : exchange_{PartOf(rank), own, all + static_cast<std::size_t>(1 - rank) * half} {}
  void Start() { exchange_.Start(); }
  void Wait() { exchange_.Wait(); }

 private:
  static std::array<bench::hand::HaloPart, 1> PartOf(int rank) {
    return {{{.peer = 1 - rank, .num_sent = sizeof(double) * half, .num_received = sizeof(double) * half}}};
  }
  Requests exchange_;
};

/// By hand: gets the other unknowns while it computes what its own ones contribute.
template <typename Exchange>
class Overlapping {
 public:
  explicit Overlapping(int rank)
      : own_{static_cast<std::size_t>(rank) * half}, other_{half - own_}, rows_{own_, half}, exchange_{rank, x_.data(), all_.data()} {}
  void Update() {
    exchange_.Start();
    rows_.Begin();
    rows_.AddPart(own_, x_);
    exchange_.Wait();
    rows_.AddPart(other_, std::span{all_}.subspan(other_, half));
    rows_.End(x_.data());
  }
  double Sum(int) const {
    double sum = 0;
    for (const double x : x_) sum += x;
    return sum;
  }

 private:
  std::size_t own_, other_;  // first unknown of either process
  Rows rows_;
  std::array<double, half> x_{};
  std::array<double, size> all_{};
  Exchange exchange_;
};

using Block = std::array<double, block_size>;

/// The same on a mesh whose nodes are blocks of rows.
class OnMesh {
 public:
  explicit OnMesh(const uit::Team& team)
      : mesh_{team, netuit::MakeComplete(num_blocks), {.placement = Halves()}},
        rows_{mesh_.AddField<Rows>([](netuit::NodeId id) { return Rows{id * block_size, block_size}; })},
        x_{mesh_.AddPublishedField<Block>(Block{})} {}

  /// Returns the time of an update on this process, in ns.
  double Time(std::uint64_t num_updates) {
    return bench::TimeOfUpdate(mesh_.Run(netuit::Dataflow{.updates = num_updates}, [this](netuit::Node& node) {
      Rows& rows = rows_[node];
      rows.Begin();
      rows.AddPart(node.Id() * block_size, x_[node]);
      for (const auto edge : node.In()) rows.AddPart(edge.Source() * block_size, x_[edge]);
      rows.End(x_[node].data());
    }));
  }
  double Sum() {
    double sum = 0;
    mesh_.Visit([&](netuit::Node& node) {
      for (const double x : x_[node]) sum += x;
    });
    return sum;
  }

 private:
  static netuit::Placement Halves() {
    return netuit::PlaceContiguous(netuit::MakeComplete(num_blocks), {.processes = 2, .threads = 1});
  }

  netuit::Mesh mesh_;
  netuit::Field<Rows> rows_;
  netuit::PublishedField<Block> x_;
};

/// Ends the program unless all ways give the same sums, but for rounding.
void Check(int rank, const uit::Team& team) {
  Gathering gathering{rank};
  Overlapping<Gather> overlapping{rank};
  Overlapping<Swap<bench::hand::NewRequests>> with_new{rank};
  Overlapping<Swap<bench::hand::PersistentRequests>> with_persistent{rank};
  OnMesh on_mesh{team};
  for (const std::uint64_t part : {3U, 5U}) {
    bench::TimeOf(gathering, part);
    bench::TimeOf(overlapping, part);
    bench::TimeOf(with_new, part);
    bench::TimeOf(with_persistent, part);
    on_mesh.Time(part);
  }
  bench::CheckSums({gathering.Sum(rank), overlapping.Sum(rank), with_new.Sum(rank), with_persistent.Sum(rank), on_mesh.Sum()});
}

void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  using bench::hand::NewRequests;
  using bench::hand::PersistentRequests;
  const uit::Team team{world};
  Check(ranks.Rank(), team);
  bench::CompareWithMesh(program, ranks, "dense Jacobi, 2 processes",
                         {{"MPI_Allgather", 0.9, {bench::WayOf("MPI_Allgather", std::make_shared<Gathering>(ranks.Rank()))}},
                          {"MPI with overlap", 0.9,
                           {bench::WayOf("MPI_Iallgather", std::make_shared<Overlapping<Gather>>(ranks.Rank())),
                            bench::WayOf("new requests", std::make_shared<Overlapping<Swap<NewRequests>>>(ranks.Rank())),
                            bench::WayOf("persistent requests", std::make_shared<Overlapping<Swap<PersistentRequests>>>(ranks.Rank()))}}},
                         std::make_shared<OnMesh>(team));
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, Measure); }
