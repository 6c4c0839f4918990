#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/team.hpp>
#include <netuit/run/worker.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/wire/world.hpp>

namespace netuit {

namespace detail {

template <bool synchronous, typename M, typename F>
std::vector<WorkerReport> RunWorkers(M& mesh, Team& team, const RunOptions& options, F& update) {
  const std::uint64_t first_stamp = mesh.NextRun() << 40U;
  std::vector<WorkerReport> reports(mesh.NumThreads());
  const auto work = [&](std::uint32_t thread) {
    reports[thread] = Worker<M, F, synchronous>(mesh, team, options, first_stamp, thread, update).Work();
  };
  enum Gate : int { closed, open, cancelled };
  std::atomic<int> gate{closed};  // because workers wait for each other, none begins before there are all
  const auto set_gate = [&gate](Gate state) {
    gate = state;
    gate.notify_all();
  };
  std::vector<std::jthread> threads;
  try {
    for (std::uint32_t thread = 1; thread < mesh.NumThreads(); ++thread) {
      threads.emplace_back([&work, &gate, thread] {
        gate.wait(closed);
        if (gate == open) work(thread);
      });
    }
  } catch (const std::exception& trouble) {
    set_gate(cancelled);
    throw uit::Error("cannot start " + std::to_string(mesh.NumThreads()) + " threads: " + trouble.what());
  }
  set_gate(open);
  work(0);
  threads.clear();
  return reports;
}

/// Brings every process's part to rank 0.
inline void GatherReport(RunReport& report, const uit::World& world) {
  static_assert(std::is_trivially_copyable_v<WorkerReport>);
  const std::uint64_t num_workers = report.workers.size();
  uit::Bytes mine(sizeof num_workers + num_workers * sizeof(WorkerReport) + report.message.size());
  std::memcpy(mine.data(), &num_workers, sizeof num_workers);
  std::memcpy(mine.data() + sizeof num_workers, report.workers.data(), num_workers * sizeof(WorkerReport));
  std::memcpy(mine.data() + mine.size() - report.message.size(), report.message.data(), report.message.size());
  const std::vector<uit::Bytes> parts = world.Gather(std::move(mine));
  if (!world.IsRoot()) return;
  report.workers.clear();
  for (const uit::Bytes& part : parts) {
    std::uint64_t count = 0;
    if (part.size() < sizeof count) continue;  // of a process that was lost meanwhile
    std::memcpy(&count, part.data(), sizeof count);
    const std::size_t end = sizeof count + count * sizeof(WorkerReport);
    report.workers.resize(report.workers.size() + count);
    std::memcpy(report.workers.data() + report.workers.size() - count, part.data() + sizeof count, count * sizeof(WorkerReport));
    if (report.message.empty()) report.message.assign(reinterpret_cast<const char*>(part.data()) + end, part.size() - end);
  }
}

}  // namespace detail

/// Updates every node of a mesh, again and again, on the workers it is placed on, until the options, a signal or an
/// update that throws ends it.
///
///     netuit::RunReport report = netuit::Run(mesh, {.mode = netuit::AsyncMode::no_barrier, .duration = 5s},
///                                            [&](auto& node) { … });
///
/// `update(node)` is called once per node and update; see Node for what it can do. It is called by several threads
/// at once, for different nodes, in no order that it may rely on, and is compiled for two types of node. Layers are
/// pulled for it beforehand and sent for it afterwards. Collective. Afterwards every message is accounted for:
/// nothing is in flight, unless a peer was lost. What layers under Retain::accumulate have brought and nobody read waits
/// for the next run; a run of one update in mode 4 can fetch it. Throws uit::InputError if the options cannot be, and
/// uit::Error if the mesh has been closed or has lost a peer, or if threads cannot be started.
template <Layer... Ls, typename F>
RunReport Run(Mesh<Ls...>& mesh, const RunOptions& options, F&& update) {
  CheckOptions(options);
  if (!mesh.IsOpen()) throw uit::Error("a mesh that has been closed, or has lost a peer, cannot run");
  detail::Team team(mesh.GetBarrier(), mesh.NumThreads(), options.stops_on_signal);
  RunReport report;
  report.workers = options.mode == AsyncMode::every_update
                       ? detail::RunWorkers<true>(mesh, team, options, update)
                       : detail::RunWorkers<false>(mesh, team, options, update);
  team.HeedLateSignal();
  report.stopped_by = team.Reason();
  report.signal = team.Signal();
  report.message = team.Message();
  if (team.IsBroken()) mesh.Break();
  else detail::GatherReport(report, mesh.GetWorld());
  return report;
}

}  // namespace netuit
