// Gauss and Seidel's iteration for the heat equation on a square that is cut into tiles, by two processes, a half each. A tile
// reads the tiles above and to the left as they are in this update, and those below and to the right as they were after the
// previous update. How many updates per second does a mesh with such delays make, and how many do loops over MPI make by hand?
//
// The loop that forks and joins does without OpenMP. Each process has one thread, because the machine has a core for each process,
// so OpenMP would have nothing to share out and its parallel regions would only make the loop slower.

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/run.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

#include "microbenchmarks/support/by_hand.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

constexpr std::size_t side = 64;               // of a tile, in points
constexpr std::size_t num_tile_columns = 8;
constexpr std::size_t num_tile_rows = 8;       // of both processes
constexpr std::size_t own_tile_rows = num_tile_rows / 2;
constexpr std::size_t width = side * num_tile_columns;
constexpr double hot = 1.0;                    // above the square; elsewhere around it, it is 0

using Row = std::array<double, side>;

/// Updates the points of a tile in place, row by row. `first` is its first point in an array with `stride` points a row, in which
/// the points around the tile are up to date.
inline void UpdateTile(double* first, std::size_t stride) {
  for (std::size_t y = 0; y < side; ++y) {
    double* const row = first + y * stride;
    for (std::size_t x = 0; x < side; ++x) row[x] = 0.25 * (row[x - stride] + row[x - 1] + row[x + 1] + row[x + stride]);
  }
}

/// A process's half of the square by hand: one array, and what the other process has next to it.
class Half {
 public:
  explicit Half(int rank) : rank_{rank}, points_((own_tile_rows * side + 2) * stride) {
    if (rank == 0) std::fill_n(points_.begin(), stride, hot);
  }

  /// Updates a column of tiles from the top down.
  void UpdateColumn(std::size_t column) {
    for (std::size_t row = 0; row < own_tile_rows; ++row) UpdateTile(At(row * side, column * side), stride);
  }
  /// The row of points of a tile column that the other process reads, and the one where it puts its own.
  double* Told(std::size_t column) { return At(rank_ == 0 ? own_tile_rows * side - 1 : 0, column * side); }
  double* Heard(std::size_t column) { return At(rank_ == 0 ? own_tile_rows * side : 0, column * side) - (rank_ == 0 ? 0 : stride); }
  double Sum() const {
    double sum = 0;
    for (std::size_t y = 1; y <= own_tile_rows * side; ++y)
      for (std::size_t x = 1; x <= width; ++x) sum += points_[y * stride + x];
    return sum;
  }

 private:
  static constexpr std::size_t stride = width + 2;
  double* At(std::size_t y, std::size_t x) { return points_.data() + (y + 1) * stride + x + 1; }

  int rank_;
  std::vector<double> points_;
};

/// Both processes exchange whole rows once per update: the lower one waits for the upper one, which waits for it in the next.
class ForkJoin {
 public:
  explicit ForkJoin(int rank) : rank_{rank}, half_{rank} {}
  void Update() {
    if (rank_ == 1 || num_updates_ != 0) Receive();
    ++num_updates_;
    for (std::size_t column = 0; column < num_tile_columns; ++column) half_.UpdateColumn(column);
    MPI_Send(half_.Told(0), width, MPI_DOUBLE, 1 - rank_, 0, MPI_COMM_WORLD);
  }
  /// Takes in what the other has sent last.
  void Settle() {
    if (rank_ == 0) Receive();
    num_updates_ = 0;
  }
  double Sum() const { return half_.Sum(); }

 private:
  void Receive() { MPI_Recv(half_.Heard(0), width, MPI_DOUBLE, 1 - rank_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }

  int rank_;
  Half half_;
  std::uint64_t num_updates_ = 0;  // since Settle
};

/// Both processes exchange the points of one tile at a time, and wait only for those that they read next. By persistent requests (MPI
/// 3.1, section 3.9): a receive is posted as soon as the points before have been read, so that a message goes where it is read.
class ByColumns {
 public:
  /// Collective.
  explicit ByColumns(int rank) : rank_{rank}, half_{rank} {
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
    for (std::size_t column = 0; column < num_tile_columns; ++column) {
      const int tag = static_cast<int>(column);
      MPI_Recv_init(half_.Heard(column), side, MPI_DOUBLE, 1 - rank, tag, communicator_, &receives_[column]);
      MPI_Send_init(told_[column].data(), side, MPI_DOUBLE, 1 - rank, tag, communicator_, &sends_[column]);
    }
    if (rank == 1) MPI_Startall(num_tile_columns, receives_.data());
  }
  ByColumns(const ByColumns&) = delete;
  ByColumns& operator=(const ByColumns&) = delete;
  /// Collective.
  ~ByColumns() {
    for (MPI_Request& receive : receives_) {
      if (rank_ == 1) MPI_Cancel(&receive);
      MPI_Wait(&receive, MPI_STATUS_IGNORE);
      MPI_Request_free(&receive);
    }
    for (MPI_Request& send : sends_) MPI_Request_free(&send);
    MPI_Comm_free(&communicator_);
  }

  void Update() {
    const bool hears = rank_ == 1 || num_updates_ != 0;
    ++num_updates_;
    for (std::size_t column = 0; column < num_tile_columns; ++column) {
      if (hears) MPI_Wait(&receives_[column], MPI_STATUS_IGNORE);
      half_.UpdateColumn(column);
      MPI_Start(&receives_[column]);
      MPI_Wait(&sends_[column], MPI_STATUS_IGNORE);
      std::copy_n(half_.Told(column), side, told_[column].begin());
      MPI_Start(&sends_[column]);
    }
  }
  /// Takes in what the other has sent last. The lower process, which has read that, awaits the next.
  void Settle() {
    if (rank_ == 0) MPI_Waitall(num_tile_columns, receives_.data(), MPI_STATUSES_IGNORE);
    MPI_Waitall(num_tile_columns, sends_.data(), MPI_STATUSES_IGNORE);
    num_updates_ = 0;
  }
  double Sum() const { return half_.Sum(); }

 private:
  int rank_;
  Half half_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::array<Row, num_tile_columns> told_{};
  std::array<MPI_Request, num_tile_columns> receives_{};
  std::array<MPI_Request, num_tile_columns> sends_{};
  std::uint64_t num_updates_ = 0;  // since Settle
};

/// A tile's points at its four sides.
struct Sides {
  Row above, below, left, right;
};

/// A tile with the points around it.
class Tile {
 public:
  Row above{}, below{}, left{}, right{};  ///< the points around it

  /// Updates the points, and returns those at the sides.
  void Update(Sides& sides) {
    std::ranges::copy(above, At(0, 1));
    std::ranges::copy(below, At(side + 1, 1));
    for (std::size_t y = 0; y < side; ++y) {
      *At(y + 1, 0) = left[y];
      *At(y + 1, side + 1) = right[y];
    }
    UpdateTile(At(1, 1), stride);
    std::copy_n(At(1, 1), side, sides.above.begin());
    std::copy_n(At(side, 1), side, sides.below.begin());
    for (std::size_t y = 0; y < side; ++y) {
      sides.left[y] = *At(y + 1, 1);
      sides.right[y] = *At(y + 1, side);
    }
  }
  double Sum() const {
    double sum = 0;
    for (std::size_t y = 1; y <= side; ++y)
      for (std::size_t x = 1; x <= side; ++x) sum += points_[y * stride + x];
    return sum;
  }

 private:
  static constexpr std::size_t stride = side + 2;
  double* At(std::size_t y, std::size_t x) { return points_.data() + y * stride + x; }

  std::vector<double> points_ = std::vector<double>(stride * stride);
};

/// The same on a mesh whose nodes are tiles.
class OnMesh {
 public:
  explicit OnMesh(const uit::Team& team)
      : mesh_{team,
              {{"tiles", netuit::MakeGrid(num_tile_rows, num_tile_columns), {.delays = netuit::GaussSeidel()}}},
              {.placement = Halves()}},
        tile_{mesh_.AddField<Tile>()},
        sides_{mesh_.AddPublishedField<Sides>(Sides{})} {
    mesh_.Visit([this](netuit::Node& node) {
      if (node.Id() < num_tile_columns) tile_[node].above.fill(hot);
    });
  }
  /// Returns the time of an update on this process, in ns.
  double Time(std::uint64_t num_updates) {
    return bench::TimeOfUpdate(mesh_.Run(netuit::Dataflow{.updates = num_updates}, [this](netuit::Node& node) {
      Tile& tile = tile_[node];
      for (const auto edge : node.In()) {
        const Sides& from = sides_[edge];
        if (edge.Source() + num_tile_columns == node.Id()) tile.above = from.below;
        else if (edge.Source() + 1 == node.Id()) tile.left = from.right;
        else if (edge.Source() == node.Id() + 1) tile.right = from.left;
        else tile.below = from.above;
      }
      tile.Update(sides_[node]);
    }));
  }
  double Sum() {
    double sum = 0;
    mesh_.Visit([&](netuit::Node& node) { sum += tile_[node].Sum(); });
    return sum;
  }

 private:
  static netuit::Placement Halves() {
    std::vector<std::uint32_t> workers(num_tile_rows * num_tile_columns);
    std::fill(workers.begin() + own_tile_rows * num_tile_columns, workers.end(), 1);
    return {{.processes = 2, .threads = 1}, std::move(workers)};
  }

  netuit::Mesh mesh_;
  netuit::Field<Tile> tile_;
  netuit::PublishedField<Sides> sides_;
};

/// Ends the program unless all ways give the same sums, but for rounding, which depends on the order of the points.
void Check(int rank, const uit::Team& team) {
  constexpr std::uint64_t num_updates = 40;
  ForkJoin fork_join{rank};
  ByColumns by_columns{rank};
  OnMesh on_mesh{team};
  for (const std::uint64_t part : {num_updates / 4, 3 * num_updates / 4}) {
    bench::TimeOf(fork_join, part);
    bench::TimeOf(by_columns, part);
    on_mesh.Time(part);
  }
  bench::CheckSums({fork_join.Sum(), by_columns.Sum(), on_mesh.Sum()});
}

void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  const uit::Team team{world};
  Check(ranks.Rank(), team);
  bench::CompareWithMesh(
      program, ranks, "heat by Gauss and Seidel, 2 processes",
      {{"fork and join", 1.8, {bench::WayOf("fork and join, MPI", std::make_shared<ForkJoin>(ranks.Rank()))}},
       {"MPI tile by tile", 0.95, {bench::WayOf("tile by tile, MPI", std::make_shared<ByColumns>(ranks.Rank()))}}},
      std::make_shared<OnMesh>(team));
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, Measure); }
