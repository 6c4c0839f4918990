// Jacobi's iteration for the heat equation on a square, by two processes, a half each. A point becomes the mean of its four
// neighbours as they were after the previous update. How many updates per second does a mesh make without barriers, and how many do
// loops over MPI make by hand: in fork-join style, and with messages under way while they compute, by persistent requests or by a
// neighbourhood collective?

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
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

constexpr std::size_t width = 512;     // of the square, in points
constexpr std::size_t height = 512;
constexpr double hot = 1.0;            // above the square; elsewhere around it, it is 0
constexpr std::size_t num_strips = 2;  // of both processes, on the mesh

using Row = std::array<double, width>;

/// Some rows of the square, and those above and below them, before and after an update.
class Strip {
 public:
  explicit Strip(std::size_t num_rows = 0, bool is_first = false)
      : num_rows_{num_rows}, points_((num_rows + 2) * stride), next_(points_.size()) {
    if (is_first) SetHalo(0, hot);
  }

  /// Computes rows [first, last) of the next update. Rows count from 1.
  void Compute(std::size_t first, std::size_t last) {
    for (std::size_t y = first; y < last; ++y) {
      const double* const from = points_.data() + y * stride + 1;
      double* const to = next_.data() + y * stride + 1;
      for (std::size_t x = 0; x < width; ++x) to[x] = 0.25 * (from[x - stride] + from[x - 1] + from[x + 1] + from[x + stride]);
    }
  }
  void Swap() { std::swap(points_, next_); }

  std::size_t NumRows() const { return num_rows_; }
  /// A row's first point, before the update. Row 0 is above the strip, row NumRows() + 1 below it.
  double* At(std::size_t row) { return points_.data() + row * stride + 1; }
  double Sum() const {
    double sum = 0;
    for (std::size_t y = 1; y <= num_rows_; ++y)
      for (std::size_t x = 1; x <= width; ++x) sum += points_[y * stride + x];
    return sum;
  }

 private:
  static constexpr std::size_t stride = width + 2;
  void SetHalo(std::size_t row, double value) {
    std::fill_n(At(row), width, value);
    std::fill_n(next_.data() + row * stride + 1, width, value);
  }

  std::size_t num_rows_;
  std::vector<double> points_, next_;
};

/// A process's half by hand. The other process has the rows next to one of its ends.
class Half {
 public:
  explicit Half(int rank) : strip_{height / 2, rank == 0}, other_{1 - rank} {
    last_ = rank == 0 ? strip_.NumRows() : 1;
    halo_ = rank == 0 ? last_ + 1 : 0;
  }
  double Sum() const { return strip_.Sum(); }

 protected:
  Strip strip_;
  int other_;
  std::size_t last_, halo_;  // the row that the other process reads, and the one where its own goes
};

/// Exchanges rows, then computes.
class ForkJoin : public Half {
 public:
  using Half::Half;
  void Update() {
    MPI_Sendrecv(strip_.At(last_), width, MPI_DOUBLE, other_, 0, strip_.At(halo_), width, MPI_DOUBLE, other_, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    strip_.Compute(1, strip_.NumRows() + 1);
    strip_.Swap();
  }
};

/// Computes all rows that do not need the other process while the messages are under way.
template <bench::hand::HaloExchange Exchange>
class Overlapping : public Half {
 public:
  explicit Overlapping(int rank) : Half{rank} {
    constexpr int num_bytes = width * sizeof(double);
    const std::array parts{bench::hand::HaloPart{.peer = other_, .num_sent = num_bytes, .num_received = num_bytes}};
    for (int parity = 0; parity < 2; ++parity) {
      exchanges_.emplace_back(parts, strip_.At(last_), strip_.At(halo_));
      strip_.Swap();
    }
  }
  void Update() {
    Exchange& exchange = exchanges_[num_updates_++ % 2];
    exchange.Start();
    const std::size_t first = last_ == 1 ? 2 : 1;
    constexpr std::size_t num_parts = 4;  // a row is too long for Open MPI to send it at once, without a second call
    const std::size_t num_rows = strip_.NumRows() - 1;
    for (std::size_t part = 0; part < num_parts; ++part) {
      strip_.Compute(first + part * num_rows / num_parts, first + (part + 1) * num_rows / num_parts);
      exchange.Test();
    }
    exchange.Wait();
    strip_.Compute(last_, last_ + 1);
    strip_.Swap();
  }

 private:
  std::deque<Exchange> exchanges_;  // of even updates and of odd ones, whose rows are elsewhere
  std::uint64_t num_updates_ = 0;
};
using ByNewRequests = Overlapping<bench::hand::NewRequests>;
using ByRequests = Overlapping<bench::hand::PersistentRequests>;
using ByCollective = Overlapping<bench::hand::NeighborCollective>;

/// A strip's rows at its two ends.
struct Ends {
  Row top, bottom;
};

/// The same on a mesh whose nodes are strips.
class OnMesh {
 public:
  explicit OnMesh(const uit::Team& team)
      : mesh_{team, netuit::MakeGrid(num_strips), {.placement = Halves()}},
        strip_{mesh_.AddField<Strip>([](netuit::NodeId id) { return Strip{height / num_strips, id == 0}; })},
        ends_{mesh_.AddPublishedField<Ends>(Ends{})} {}

  /// Returns the time of an update on this process, in ns.
  double Time(std::uint64_t num_updates) {
    return bench::TimeOfUpdate(mesh_.Run(netuit::Dataflow{.updates = num_updates}, [this](netuit::Node& node) {
      Strip& strip = strip_[node];
      for (const auto edge : node.In()) {
        if (edge.Source() < node.Id()) std::ranges::copy(ends_[edge].bottom, strip.At(0));
        else std::ranges::copy(ends_[edge].top, strip.At(strip.NumRows() + 1));
      }
      strip.Compute(1, strip.NumRows() + 1);
      strip.Swap();
      std::copy_n(strip.At(1), width, ends_[node].top.begin());
      std::copy_n(strip.At(strip.NumRows()), width, ends_[node].bottom.begin());
    }));
  }
  double Sum() {
    double sum = 0;
    mesh_.Visit([&](netuit::Node& node) { sum += strip_[node].Sum(); });
    return sum;
  }

 private:
  static netuit::Placement Halves() {
    return netuit::PlaceContiguous(netuit::MakeGrid(num_strips), {.processes = 2, .threads = 1});
  }

  netuit::Mesh mesh_;
  netuit::Field<Strip> strip_;
  netuit::PublishedField<Ends> ends_;
};

/// Ends the program unless all ways give the same sums, but for rounding.
void Check(int rank, const uit::Team& team) {
  constexpr std::uint64_t num_updates = 400;
  ForkJoin fork_join{rank};
  ByNewRequests by_new_requests{rank};
  ByRequests by_requests{rank};
  ByCollective by_collective{rank};
  OnMesh on_mesh{team};
  for (const std::uint64_t part : {num_updates / 4, 3 * num_updates / 4}) {
    bench::TimeOf(fork_join, part);
    bench::TimeOf(by_new_requests, part);
    bench::TimeOf(by_requests, part);
    bench::TimeOf(by_collective, part);
    on_mesh.Time(part);
  }
  bench::CheckSums({fork_join.Sum(), by_new_requests.Sum(), by_requests.Sum(), by_collective.Sum(), on_mesh.Sum()});
}

void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  const uit::Team team{world};
  Check(ranks.Rank(), team);
  bench::CompareWithMesh(
      program, ranks, "heat by Jacobi, 2 processes",
      {{"fork and join", 0.95, {bench::WayOf("fork and join, MPI", std::make_shared<ForkJoin>(ranks.Rank()))}},
       {"MPI with overlap",
        0.95,
        {bench::WayOf("MPI, new requests", std::make_shared<ByNewRequests>(ranks.Rank())),
         bench::WayOf("MPI, persistent requests", std::make_shared<ByRequests>(ranks.Rank())),
         bench::WayOf("MPI, neighbourhood collective", std::make_shared<ByCollective>(ranks.Rank()))}}},
      std::make_shared<OnMesh>(team));
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, Measure); }
