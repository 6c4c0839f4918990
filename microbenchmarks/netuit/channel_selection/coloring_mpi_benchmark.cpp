// How many sweeps per second does each of two processes make? How does this compare with the same loop over shared memory, and
// with hand-written MPI?

#include <mpi.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <netuit/mesh/mesh_options.hpp>
#include <netuit/run/modes.hpp>
#include <uit/team/team.hpp>
#include <uit/link/world.hpp>

#include "baselines.hpp"
#include "mesh.hpp"
#include "microbenchmarks/support/halo_exchange.hpp"
#include "microbenchmarks/support/program.hpp"
#include "microbenchmarks/support/rank_main.hpp"
#include "microbenchmarks/support/ranks.hpp"

namespace {

using namespace bench::coloring;

/// Both edge rows in one message, best effort: it is dropped while the previous message has not left.
class HandPooled {
 public:
  explicit HandPooled(int rank) : peer_{1 - rank} {
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
    Receive();
  }
  HandPooled(const HandPooled&) = delete;
  HandPooled& operator=(const HandPooled&) = delete;
  ~HandPooled() {
    MPI_Cancel(&receive_);
    MPI_Wait(&receive_, MPI_STATUS_IGNORE);
    MPI_Comm_free(&communicator_);
  }

  void Pull(Block& block) {
    while (Test(receive_)) {
      std::copy_n(incoming_.begin() + width, width, block.GhostsAbove());
      std::copy_n(incoming_.begin(), width, block.GhostsBelow());
      ++num_received_;
      Receive();
    }
  }
  void Push(const Block& block) {
    if (send_ != MPI_REQUEST_NULL && !Test(send_)) return;
    std::copy_n(block.FirstRow(), width, outgoing_.begin());
    std::copy_n(block.LastRow(), width, outgoing_.begin() + width);
    MPI_Isend(outgoing_.data(), static_cast<int>(outgoing_.size()), MPI_UNSIGNED, peer_, 0, communicator_, &send_);
    ++num_sent_;
  }
  /// Receives messages in flight, so that the next sample starts with none.
  void Settle(Block& block) {
    long num_coming = 0;
    MPI_Sendrecv(&num_sent_, 1, MPI_LONG, peer_, 1, &num_coming, 1, MPI_LONG, peer_, 1, communicator_, MPI_STATUS_IGNORE);
    while (num_received_ < num_coming) Pull(block);
    while (send_ != MPI_REQUEST_NULL) Test(send_);
  }

 private:
  using Rows = std::array<unsigned, 2 * width>;

  static bool Test(MPI_Request& request) {
    int is_done = 0;
    MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
    return is_done != 0;
  }
  void Receive() {
    MPI_Irecv(incoming_.data(), static_cast<int>(incoming_.size()), MPI_UNSIGNED, peer_, 0, communicator_, &receive_);
  }

  int peer_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  MPI_Request receive_ = MPI_REQUEST_NULL;
  MPI_Request send_ = MPI_REQUEST_NULL;
  Rows incoming_{};
  Rows outgoing_{};
  long num_sent_ = 0;
  long num_received_ = 0;
};

/// Collective. Ends the program unless each rank's ghosts are the other's edge rows.
void CheckGhosts(int peer, const Block& block) {
  std::array<unsigned, 2 * width> mine{};
  std::array<unsigned, 2 * width> other{};
  std::copy_n(block.FirstRow(), width, mine.begin());
  std::copy_n(block.LastRow(), width, mine.begin() + width);
  MPI_Sendrecv(mine.data(), 2 * width, MPI_UNSIGNED, peer, 0, other.data(), 2 * width, MPI_UNSIGNED, peer, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  const std::span<const unsigned, 2 * width> rows{other};
  block.CheckGhosts(rows.first<width>(), rows.last<width>());
}

/// Both edge rows to the other rank in each sweep, which awaits the other's. They are under way while the inner rows are updated.
template <bench::hand::HaloExchange Exchange>
class InStep {
 public:
  explicit InStep(int rank) : peer_{1 - rank}, block_{static_cast<std::size_t>(rank), 2} {}

  void Sweep() {
    block_.SweepEdgeRows();
    std::copy_n(block_.LastRow(), width, edge_rows_.begin());  // as the other's ghosts are: above, below
    std::copy_n(block_.FirstRow(), width, edge_rows_.begin() + width);
    exchange_.Start();
    block_.SweepInnerRows();
    exchange_.Wait();
  }
  /// Collective.
  void Check() { CheckGhosts(peer_, block_); }

 private:
  static constexpr int num_bytes = 2 * width * sizeof(unsigned);

  int peer_;
  Block block_;
  std::array<unsigned, 2 * width> edge_rows_{};
  Exchange exchange_{std::array{bench::hand::HaloPart{.peer = peer_, .num_sent = num_bytes, .num_received = num_bytes}},
                     edge_rows_.data(), block_.GhostsAbove()};  // those below follow
};

/// This rank's block, and its view of the other's.
template <typename Halo>
class ByHand {
 public:
  explicit ByHand(std::size_t rank) : rank_{rank}, block_{rank, 2} {}

  void Sweep() {
    halo_->Pull(rank_, block_);
    block_.Sweep();
    halo_->Push(rank_, block_);
  }
  /// Collective. Ends the program unless this rank sees the other's last state.
  void Check() {
    MPI_Barrier(MPI_COMM_WORLD);
    halo_->Pull(rank_, block_);
    CheckGhosts(1 - static_cast<int>(rank_), block_);
  }

 private:
  bench::SharedMemory<Halo> halo_{MPI_COMM_WORLD};
  std::size_t rank_;
  Block block_;
};

/// Returns the mesh, which the contest keeps.
OnMesh<ByField>& AddMesh(bench::Contest& contest, bench::Ranks& ranks, const uit::World& world, const std::string& competitor,
                         netuit::AsyncMode mode, const netuit::MeshOptions& options = {}) {
  const uit::Team team{world};
  const auto mesh = std::make_shared<OnMesh<ByField>>(team, TorusFor(team), options);
  contest.Add(competitor, [&ranks, mode, mesh](const bench::Load& load) {
    const double time = mesh->Time(load.window, mode);
    ranks.AddRunQueueDelay(mesh->Idle());
    return time;
  });
  return *mesh;
}

void MeasureRates(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  const std::string name = "colouring, 2 processes";
  bench::Contest contest{name, bench::Unit::thousands_per_second};
  const auto rank = static_cast<std::size_t>(ranks.Rank());
  const auto mean = [&ranks](const Work& work) { return 1 / ranks.Mean(1 / work.Time()); };
  const auto start = [] { MPI_Barrier(MPI_COMM_WORLD); };

  const auto add_by_hand = [&]<typename Halo>(const std::string& competitor, std::shared_ptr<ByHand<Halo>> state) {
    contest.Add(competitor, [=](const bench::Load& load) {
      start();
      const Work work = WorkFor(load.window, [&] { state->Sweep(); });
      state->Check();
      return mean(work);
    });
  };
  add_by_hand("shared-memory halo", std::make_shared<ByHand<SharedHalo>>(rank));
  add_by_hand("shared-memory halo, versioned", std::make_shared<ByHand<VersionedHalo>>(rank));
  const auto add_in_step = [&](const std::string& competitor, const auto& state, auto update) {
    contest.Add(competitor, [=](const bench::Load& load) {
      start();
      const Work work = WorkThrough(load.count, [&] { update(*state); });
      state->Check();
      return mean(work);
    });
  };
  const auto sweep = [](auto& state) { state.Sweep(); };
  add_in_step("shared-memory halo + MPI_Barrier", std::make_shared<ByHand<SharedHalo>>(rank), [](auto& state) {
    state.Sweep();
    MPI_Barrier(MPI_COMM_WORLD);
  });
  add_in_step("MPI, new requests", std::make_shared<InStep<bench::hand::NewRequests>>(ranks.Rank()), sweep);
  add_in_step("MPI, persistent requests", std::make_shared<InStep<bench::hand::PersistentRequests>>(ranks.Rank()), sweep);
  add_in_step("MPI, neighbourhood collective", std::make_shared<InStep<bench::hand::NeighborCollective>>(ranks.Rank()), sweep);
  contest.Add("hand-pooled MPI", [=, block = std::make_shared<Block>(rank, 2),
                                  halo = std::make_shared<HandPooled>(ranks.Rank())](const bench::Load& load) {
    start();
    const Work work = WorkFor(load.window, [&] {
      halo->Pull(*block);
      block->Sweep();
      halo->Push(*block);
    });
    halo->Settle(*block);
    return mean(work);
  });
  const auto add_mesh = [&](const std::string& competitor, netuit::AsyncMode mode, const netuit::MeshOptions& options) -> auto& {
    return AddMesh(contest, ranks, world, competitor, mode, options);
  };
  const auto best_effort = netuit::AsyncMode::no_barrier;
  add_mesh("Mesh, MPI, mode 3", best_effort, {.shares_memory = false});
  add_mesh("Mesh, MPI, mode 3, traced", best_effort, {.shares_memory = false, .is_traced = true});
  add_mesh("Mesh, shared memory, mode 3", best_effort, {});
  add_mesh("Mesh, shared memory, mode 3, traced", best_effort, {.is_traced = true});
  add_mesh("Mesh, shared memory, mode 3, recorded", best_effort, {}).Record(std::make_shared<Records>(world));
  add_mesh("Mesh, shared memory, mode 0", netuit::AsyncMode::every_update, {});
  add_mesh("Mesh, shared memory, mode 5", netuit::AsyncMode::dataflow, {});
  contest.Say({.name = name + ", mode 5: over mode 0",
               .ours = "Mesh, shared memory, mode 5",
               .against = {"Mesh, shared memory, mode 0"},
               .at_least = 1.0});
  contest.Say({.name = name + ", mode 5: over shared-memory halo + MPI_Barrier",
               .ours = "Mesh, shared memory, mode 5",
               .against = {"shared-memory halo + MPI_Barrier"},
               .at_least = 1.1});
  contest.Say({.name = name + ", mode 5: over MPI in step",
               .ours = "Mesh, shared memory, mode 5",
               .against = {"MPI, new requests", "MPI, persistent requests", "MPI, neighbourhood collective"},
               .at_least = 0.95});
  contest.Say({.name = name + ", mode 3: over shared-memory halo + MPI_Barrier",
               .ours = "Mesh, shared memory, mode 3",
               .against = {"shared-memory halo + MPI_Barrier"},
               .at_least = 1.1});
  contest.Say({.name = name + ", mode 3, shared memory: over the shared-memory halo",
               .ours = "Mesh, shared memory, mode 3",
               .against = {"shared-memory halo", "shared-memory halo, versioned"},
               .at_least = 0.95});
  const bool is_mpich = bench::MpiName().starts_with("MPICH");
  if (!is_mpich)
    contest.Say({.name = name + ", mode 3, MPI: over the shared-memory halo",
                 .ours = "Mesh, MPI, mode 3",
                 .against = {"shared-memory halo", "shared-memory halo, versioned"},
                 .at_least = 0.8});
  else
    contest.Say({.name = name + ", mode 3, MPI: over hand-pooled MPI",
                 .ours = "Mesh, MPI, mode 3",
                 .against = {"hand-pooled MPI"},
                 .at_least = 0.95});
  for (const std::string wire : {"MPI", "shared memory"})
    contest.Say({.name = name + ", mode 3, " + wire + ": with quality of service, over without",
                 .ours = "Mesh, " + wire + ", mode 3, traced",
                 .against = {"Mesh, " + wire + ", mode 3"},
                 .at_least = 0.95});
  contest.Say({.name = name + ", mode 3, shared memory: recorded, over not",
               .ours = "Mesh, shared memory, mode 3, recorded",
               .against = {"Mesh, shared memory, mode 3"},
               .at_least = 0.9});
  program.Run(contest, ranks);
}

void MeasureCaptures(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  const std::string name = "colouring, 2 processes";
  bench::Contest contest{name + ", captured", bench::Unit::thousands_per_second};
  for (const auto& [how, mode] :
       {std::pair{"mode 3", netuit::AsyncMode::no_barrier}, {"mode 0", netuit::AsyncMode::every_update},
        {"mode 5", netuit::AsyncMode::dataflow}}) {
    const std::string mesh = std::string("Mesh, shared memory, ") + how;
    AddMesh(contest, ranks, world, mesh, mode);
    AddMesh(contest, ranks, world, mesh + ", captured", mode).Capture(10);
    contest.Say({.name = name + ", " + how + ": a copy every 10 updates, over none",
                 .ours = mesh + ", captured",
                 .against = {mesh},
                 .at_least = 0.99});
  }
  program.Run(contest, ranks);
}

void Measure(bench::Program& program, bench::Ranks& ranks, const uit::World& world) {
  MeasureRates(program, ranks, world);
  MeasureCaptures(program, ranks, world);
}

}  // namespace

int main(int argc, char** argv) { return bench::MainOfTwoRanks(argc, argv, Measure); }
