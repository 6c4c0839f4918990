// Products of a constant matrix with a vector, or with a matrix, again and again, by two processes with half of the rows each. No
// update needs another's result, so nobody need wait. How many updates per second does a mesh without edges make? And how many do
// two loops by hand make: one that goes on by itself, and one that meets at a barrier after each update (fork and join)?

#include <mpi.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <netuit/graph/topology.hpp>
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

constexpr std::size_t num_blocks = 16;  // of rows, in all

/// The sizes of a product: a matrix of size x size by one of size x num_columns.
struct Sizes {
  std::size_t size;
  std::size_t num_columns;
};
constexpr Sizes vector_product{.size = 1024, .num_columns = 1};
constexpr Sizes matrix_product{.size = 128, .num_columns = 128};

/// A number between 0 and 1 for an entry of a matrix.
double Entry(std::size_t row, std::size_t column) {
  return static_cast<double>((row * 7919 + column * 104729 + row * column) % 1000) / 1000;
}

/// Some rows of the left factor, and of the product.
class Rows {
 public:
  Rows() = default;
  Rows(const Sizes& sizes, std::size_t block)
      : sizes_(sizes), num_rows_(sizes.size / num_blocks), left_(num_rows_ * sizes.size), product_(num_rows_ * sizes.num_columns) {
    for (std::size_t row = 0; row < num_rows_; ++row)
      for (std::size_t k = 0; k < sizes.size; ++k) left_[row * sizes.size + k] = Entry(block * num_rows_ + row, k);
  }
  void Multiply(const std::vector<double>& right) {
    for (std::size_t row = 0; row < num_rows_; ++row) {
      const double* const left = &left_[row * sizes_.size];
      double* const product = &product_[row * sizes_.num_columns];
      if (sizes_.num_columns == 1) product[0] = Dot(left, right.data());
      else MultiplyRow(left, right.data(), product);
    }
  }
  double Sum() const {
    double sum = 0;
    for (const double entry : product_) sum += entry;
    return sum;
  }

 private:
  double Dot(const double* left, const double* right) const {
    double parts[4]{};  // so that no sum waits for the one before
    for (std::size_t k = 0; k < sizes_.size; k += 4)
      for (std::size_t i = 0; i < 4; ++i) parts[i] += left[k + i] * right[k + i];
    return parts[0] + parts[1] + parts[2] + parts[3];
  }
  void MultiplyRow(const double* left, const double* right, double* product) const {
    for (std::size_t column = 0; column < sizes_.num_columns; ++column) product[column] = 0;
    for (std::size_t k = 0; k < sizes_.size; ++k)
      for (std::size_t column = 0; column < sizes_.num_columns; ++column)
        product[column] += left[k] * right[k * sizes_.num_columns + column];
  }

  Sizes sizes_{};
  std::size_t num_rows_ = 0;
  std::vector<double> left_, product_;
};

std::vector<double> RightFactor(const Sizes& sizes) {
  std::vector<double> right(sizes.size * sizes.num_columns);
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = Entry(i / sizes.num_columns + 5, i % sizes.num_columns + 3);
  return right;
}

/// By hand. `meets`: all wait for each other after each update.
template <bool meets>
class Looping {
 public:
  Looping(const Sizes& sizes, int rank) : right_(RightFactor(sizes)) {
    const std::size_t num_own = num_blocks / 2;
    for (std::size_t i = 0; i < num_own; ++i) blocks_.emplace_back(sizes, static_cast<std::size_t>(rank) * num_own + i);
  }
  void Update() {
    for (Rows& rows : blocks_) rows.Multiply(right_);
    if constexpr (meets) MPI_Barrier(MPI_COMM_WORLD);
  }
  double Sum() const {
    double sum = 0;
    for (const Rows& rows : blocks_) sum += rows.Sum();
    return sum;
  }

 private:
  std::vector<double> right_;
  std::vector<Rows> blocks_;
};

/// On a mesh whose nodes are blocks of rows, without edges.
class OnMesh {
 public:
  OnMesh(const uit::Team& team, const Sizes& sizes)
      : graph_{num_blocks, {}},
        right_(RightFactor(sizes)),
        mesh_{team, graph_, {.placement = netuit::PlaceContiguous(graph_, {.processes = 2, .threads = 1})}},
        rows_{mesh_.AddField<Rows>([&](netuit::NodeId id) { return Rows{sizes, id}; })} {}

  /// Returns the time of an update on this process, in ns.
  double Time(std::uint64_t num_updates) {
    return bench::TimeOfUpdate(
        mesh_.Run(netuit::Dataflow{.updates = num_updates}, [this](netuit::Node& node) { rows_[node].Multiply(right_); }));
  }
  double Sum() {
    double sum = 0;
    mesh_.Visit([&](netuit::Node& node) { sum += rows_[node].Sum(); });
    return sum;
  }

 private:
  netuit::Topology graph_;
  std::vector<double> right_;
  netuit::Mesh mesh_;
  netuit::Field<Rows> rows_;
};

void Compare(bench::Program& program, bench::Ranks& ranks, const uit::Team& team, const std::string& name, const Sizes& sizes) {
  const auto meeting = std::make_shared<Looping<true>>(sizes, ranks.Rank());
  const auto looping = std::make_shared<Looping<false>>(sizes, ranks.Rank());
  const auto on_mesh = std::make_shared<OnMesh>(team, sizes);
  meeting->Update();
  looping->Update();
  on_mesh->Time(1);
  if (meeting->Sum() <= 0 || meeting->Sum() != looping->Sum() ||
      std::abs(meeting->Sum() - on_mesh->Sum()) > 1e-12 * meeting->Sum()) {
    std::fprintf(stderr, "the products differ\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  bench::CompareWithMesh(program, ranks, name,
                         {{"fork and join", 1, {bench::WayOf("fork and join", meeting)}},
                          {"a loop by hand", 0.95, {bench::WayOf("loop by hand", looping)}}},
                         on_mesh);
}

void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  const uit::Team team{world};
  Compare(program, ranks, team, "products of a matrix and vectors, 2 processes", vector_product);
  Compare(program, ranks, team, "products of matrices, 2 processes", matrix_product);
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, Measure); }
