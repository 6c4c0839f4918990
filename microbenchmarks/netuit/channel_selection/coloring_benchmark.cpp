// How many sweeps per second does each worker of a graph colouring make, with 2048 nodes each, in one thread and in two?

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <netuit/mesh/frame_note.hpp>
#include <netuit/mesh/mesh_options.hpp>
#include <netuit/quality/effective_updates.hpp>
#include <netuit/run/modes.hpp>
#include <uit/team/team.hpp>
#include <uit/link/world.hpp>

#include "baselines.hpp"
#include "edge_rings.hpp"
#include "mesh.hpp"
#include "microbenchmarks/support/barriers.hpp"
#include "microbenchmarks/support/program.hpp"

namespace {

using namespace bench::coloring;

template <typename Way, std::size_t degree = std::dynamic_extent>
void AddMesh(bench::Contest& contest, bench::Crew& crew, const std::string& name, std::uint32_t threads,
             netuit::AsyncMode mode = netuit::AsyncMode::no_barrier, bool is_traced = false,
             const std::shared_ptr<Records>& records = {}, std::type_identity_t<void (*)(OnMesh<Way, degree>&)> prepare = nullptr) {
  const uit::Team team{uit::World{}, {.threads = threads}};
  const auto mesh = std::make_shared<OnMesh<Way, degree>>(team, TorusFor(team), netuit::MeshOptions{.is_traced = is_traced});
  mesh->Record(records);
  if (prepare != nullptr) prepare(*mesh);
  contest.Add(name, [&crew, threads, mode, mesh](const bench::Load& load) {
    // A thread that it starts inherits the CPU of this one, where the plain loop runs too.
    if (threads > 1) crew.Unpin();
    const double time = mesh->Time(load.window, mode);
    crew.Pin();
    crew.AddRunQueueDelay(mesh->Idle());
    return time;
  });
  if (threads == 1 && !is_traced) contest.Count(name, [mesh](std::uint64_t count) { mesh->Update(count); });
}

/// Adds a loop over a block, without the library.
template <typename B>
void AddLoop(bench::Contest& contest, const std::string& name, const std::shared_ptr<B>& block, void (B::*sweep)()) {
  contest.Add(name, [block, sweep](const bench::Load& load) { return WorkFor(load.window, [&] { (*block.*sweep)(); }).Time(); });
  contest.Count(name, [block, sweep](std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) (*block.*sweep)();
  });
}

void MeasureOneThread(bench::Program& program, bench::Crew& crew) {
  const std::string name = "colouring, 1 thread";
  bench::Contest contest{name, bench::Unit::thousands_per_second};
  contest.num_counted = 50;
  AddLoop(contest, "plain loop", std::make_shared<Block>(0, 1), &Block::Sweep);
  AddLoop(contest, "plain loop of degree 4", std::make_shared<Block>(0, 1), &Block::SweepOfDegree4);
  AddLoop(contest, "ring per edge", std::make_shared<EdgeBlock>(CheckedEdgeBlock()), &EdgeBlock::Sweep);
  AddMesh<ByField>(contest, crew, "Mesh, multicast", 1);
  AddMesh<ByField, 4>(contest, crew, "Mesh, multicast, In<4>", 1);
  AddMesh<ByNewestOfEdge>(contest, crew, "Mesh, conduit per edge", 1);
  AddMesh<ByField>(contest, crew, "Mesh, multicast, traced", 1, netuit::AsyncMode::no_barrier, true);
  AddMesh<ByNewestOfEdge>(contest, crew, "Mesh, conduit per edge, traced", 1, netuit::AsyncMode::no_barrier, true);
  contest.Say({.name = name + ": multicast, over the plain loop",
               .ours = "Mesh, multicast",
               .against = {"plain loop"},
               .at_least = 0.95});
  contest.Say({.name = name + ": multicast by In<4>, over the plain loop of degree 4",
               .ours = "Mesh, multicast, In<4>",
               .against = {"plain loop of degree 4"},
               .at_least = 0.95});
  contest.Say({.name = name + ": conduit per edge, over a ring per edge by hand",
               .ours = "Mesh, conduit per edge",
               .against = {"ring per edge"},
               .at_least = 0.5});
  contest.Say({.name = name + ": conduit per edge, over the plain loop",
               .ours = "Mesh, conduit per edge",
               .against = {"plain loop"},
               .at_least = 0.35});
  contest.Say({.name = name + ": with quality of service, over without",
               .ours = "Mesh, multicast, traced",
               .against = {"Mesh, multicast"},
               .at_least = 0.95});
  contest.Say({.name = name + ", conduit per edge: with quality of service, over without",
               .ours = "Mesh, conduit per edge, traced",
               .against = {"Mesh, conduit per edge"},
               .at_least = 0.95});
  program.Run(contest, crew);
}

/// Mean of both threads.
template <typename Job>
double Together(bench::Crew& crew, Job&& job) {
  std::vector<Work> works(2);
  crew.Run([&](std::size_t member) { works[member] = job(member); });
  return 2 / (1 / works[0].Time() + 1 / works[1].Time());
}

/// Two blocks, and their views of each other.
template <typename Halo>
struct ByHand {
  std::vector<Block> blocks{{0, 2}, {1, 2}};
  Halo halo;

  void Sweep(std::size_t member) {
    halo.Pull(member, blocks[member]);
    blocks[member].Sweep();
    halo.Push(member, blocks[member]);
  }
  /// Ends the program unless each sees the other's last state.
  void Check() {
    for (std::size_t member : {0U, 1U}) {
      const Block& other = blocks[1 - member];
      halo.Pull(member, blocks[member]);
      blocks[member].CheckGhosts({other.FirstRow(), width}, {other.LastRow(), width});
    }
  }
};

template <typename Halo>
void AddByHand(bench::Contest& contest, bench::Crew& crew, const std::string& name) {
  contest.Add(name, [&crew, state = std::make_shared<ByHand<Halo>>()](const bench::Load& load) {
    const double time =
        Together(crew, [&](std::size_t member) { return WorkFor(load.window, [&] { state->Sweep(member); }); });
    state->Check();
    return time;
  });
}

void MeasureTwoThreads(bench::Program& program, bench::Crew& crew) {
  const std::string name = "colouring, 2 threads";
  bench::Contest contest{name, bench::Unit::thousands_per_second};
  AddByHand<SharedHalo>(contest, crew, "shared halo");
  AddByHand<VersionedHalo>(contest, crew, "shared halo, versioned");
  contest.Add("shared halo + spin barrier", [&crew, state = std::make_shared<ByHand<SharedHalo>>()](const bench::Load& load) {
    bench::hand::SenseBarrier barrier{2};  // with its initial sense
    const double time = Together(crew, [&](std::size_t member) {
      bool sense = false;
      return WorkThrough(load.count, [&] {
        state->Sweep(member);
        barrier.ArriveAndWait(sense);
      });
    });
    state->Check();
    return time;
  });
  AddMesh<ByField>(contest, crew, "Mesh, multicast, mode 3", 2);
  AddMesh<ByField>(contest, crew, "Mesh, multicast, mode 0", 2, netuit::AsyncMode::every_update);
  AddMesh<ByField>(contest, crew, "Mesh, multicast, mode 5", 2, netuit::AsyncMode::dataflow);
  AddMesh<ByField>(contest, crew, "Mesh, multicast, mode 3, traced", 2, netuit::AsyncMode::no_barrier, true);
  contest.Say({.name = name + ", mode 3: over the shared halo",
               .ours = "Mesh, multicast, mode 3",
               .against = {"shared halo", "shared halo, versioned"},
               .at_least = 0.95});
  contest.Say({.name = name + ", mode 3: over shared halo + spin barrier",
               .ours = "Mesh, multicast, mode 3",
               .against = {"shared halo + spin barrier"},
               .at_least = 1.2});
  contest.Say({.name = name + ", mode 5: over mode 0",
               .ours = "Mesh, multicast, mode 5",
               .against = {"Mesh, multicast, mode 0"},
               .at_least = 1.0});
  contest.Say({.name = name + ", mode 3: with quality of service, over without",
               .ours = "Mesh, multicast, mode 3, traced",
               .against = {"Mesh, multicast, mode 3"},
               .at_least = 0.95});
  program.Run(contest, crew);
}

void MeasureRecording(bench::Program& program, bench::Crew& crew) {
  const std::string name = "colouring, 2 threads";
  bench::Contest contest{name + ", recorded", bench::Unit::thousands_per_second};
  const auto records = std::make_shared<Records>(uit::World{});
  const auto best_effort = netuit::AsyncMode::no_barrier;
  AddMesh<ByField>(contest, crew, "Mesh, multicast", 2, best_effort);
  AddMesh<ByField>(contest, crew, "Mesh, multicast, recorded", 2, best_effort, false, records);
  AddMesh<ByNewestOfEdge>(contest, crew, "Mesh, conduit per edge", 2, best_effort);
  AddMesh<ByNewestOfEdge>(contest, crew, "Mesh, conduit per edge, recorded", 2, best_effort, false, records);
  for (const std::string how : {"multicast", "conduit per edge"})
    contest.Say({.name = name + ", " + how + ": recorded, over not",
                 .ours = "Mesh, " + how + ", recorded",
                 .against = {"Mesh, " + how},
                 .at_least = 0.9});
  program.Run(contest, crew);
}

void MeasureSteals(bench::Program& program, bench::Crew& crew) {
  const std::string name = "colouring, 2 threads";
  bench::Contest contest{name + ", steals", bench::Unit::thousands_per_second};
  for (const auto& [how, mode] : {std::pair{"mode 0", netuit::AsyncMode::every_update}, {"mode 5", netuit::AsyncMode::dataflow}}) {
    const std::string mesh = std::string("Mesh, multicast, ") + how;
    AddMesh<ByField>(contest, crew, mesh, 2, mode);
    AddMesh<ByField>(contest, crew, mesh + ", steals", 2, mode, false, {}, [](auto& of) { of.Steal(); });
    contest.Say({.name = name + ", " + how + ": with steals, over without",
                 .ours = mesh + ", steals",
                 .against = {mesh},
                 .at_least = 0.98});
  }
  program.Run(contest, crew);
}

void MeasureCaptures(bench::Program& program, bench::Crew& crew) {
  const std::string name = "colouring, 2 threads";
  bench::Contest contest{name + ", captured", bench::Unit::thousands_per_second};
  for (const auto& [how, mode] :
       {std::pair{"mode 3", netuit::AsyncMode::no_barrier}, {"mode 0", netuit::AsyncMode::every_update},
        {"mode 5", netuit::AsyncMode::dataflow}}) {
    const std::string mesh = std::string("Mesh, multicast, ") + how;
    AddMesh<ByField>(contest, crew, mesh, 2, mode);
    AddMesh<ByField>(contest, crew, mesh + ", captured", 2, mode, false, {}, [](auto& of) { of.Capture(10); });
    contest.Say({.name = name + ", " + how + ": a copy every 10 updates, over none",
                 .ours = mesh + ", captured",
                 .against = {mesh},
                 .at_least = 0.99});
  }
  program.Run(contest, crew);
}

/// What certificates add to an update of a worker that reads values of one other: the age of the values, the count of effective
/// updates, and the note in a frame that comes and in one that leaves.
class Certificates {
 public:
  void Update() {
    const netuit::FrameNote heard = netuit::FrameNote::At(frame_.data());
    effective_.Read(num_updates_, num_updates_ - num_updates_ % 8, heard.num_effective);
    effective_.Finish();
    const netuit::FrameNote told{.num_effective = effective_.Count(), .cuts = heard.cuts, .rounds = heard.rounds};
    std::memcpy(frame_.data(), &told, sizeof told);
    ++num_updates_;
    asm volatile("" ::: "memory");  // so that it is done each time
  }

 private:
  netuit::EffectiveUpdates effective_;
  std::array<std::byte, sizeof(netuit::FrameNote)> frame_{};
  std::uint64_t num_updates_ = 0;
};

/// Certificates belong to every run, so no mesh is without them. What they do is therefore timed alone, and compared with an update:
/// that of 64 workers in turn, so that it comes from as far in the cache as after a sweep.
void MeasureCertificates(bench::Program& program, bench::Crew& crew) {
  bench::Contest contest{"colouring, 2 threads, certificates", bench::Unit::nanoseconds};
  AddMesh<ByField>(contest, crew, "Mesh, multicast, mode 3", 2);
  contest.Add("certificates alone", [workers = std::make_shared<std::vector<Certificates>>(64)](const bench::Load& load) {
    std::size_t next = 0;
    return WorkThrough(load.count, [&] { (*workers)[next++ % workers->size()].Update(); }).Time();
  });
  contest.Say({.name = "colouring, 2 threads, mode 3: certificates alone, to an update",
               .ours = "certificates alone",
               .against = {"Mesh, multicast, mode 3"},
               .at_most = 0.01});
  program.Run(contest, crew);
}

void MeasureCutReductions(bench::Program& program, bench::Crew& crew) {
  const std::string name = "colouring, 2 threads";
  bench::Contest contest{name + ", conflicts at cuts", bench::Unit::thousands_per_second};
  for (const auto& [how, mode] :
       {std::pair{"mode 3", netuit::AsyncMode::no_barrier}, {"mode 0", netuit::AsyncMode::every_update}}) {
    const std::string mesh = std::string("Mesh, multicast, ") + how;
    AddMesh<ByField>(contest, crew, mesh, 2, mode);
    AddMesh<ByField>(contest, crew, mesh + ", conflicts", 2, mode, false, {}, [](auto& of) { of.LookForConflicts(100); });
    contest.Say({.name = name + ", " + how + ": conflicts at a cut every 100 updates, over none",
                 .ours = mesh + ", conflicts",
                 .against = {mesh},
                 .at_least = 0.99});
  }
  program.Run(contest, crew);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  bench::Crew crew{2};
  MeasureOneThread(program, crew);
  MeasureTwoThreads(program, crew);
  MeasureRecording(program, crew);
  MeasureSteals(program, crew);
  MeasureCaptures(program, crew);
  MeasureCertificates(program, crew);
  MeasureCutReductions(program, crew);
  return program.Finish();
}
