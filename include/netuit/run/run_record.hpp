#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/mesh/worker_graph.hpp>
#include <netuit/replay/record_format.hpp>
#include <netuit/replay/record_reader.hpp>
#include <netuit/replay/record_writer.hpp>
#include <netuit/replay/worker_record.hpp>
#include <netuit/run/run_options.hpp>
#include <netuit/run/schedule.hpp>
#include <uit/exchange/exchange.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

namespace netuit::detail {

/// Returns a digest of everything in which a replay must equal the recorded run: the worker's part of every network, the
/// layers, and the limits at which the mesh refuses a put.
inline std::uint64_t DigestOfShape(const Partition& partition, std::span<const std::unique_ptr<LayerBase>> layers,
                                   const MeshOptions& options) {
  std::uint64_t digest = replay::Digest(uit::BytesOf(partition.graph.worker));
  const auto add = [&digest](const auto& values) { digest = replay::Digest(std::as_bytes(std::span(values)), digest); };
  for (const auto& network : partition.networks) {
    VisitWorkerGraph(add, network->graph);
    add(std::array<std::uint64_t, 1>{network->period});
  }
  add(std::array<std::uint64_t, 2>{options.depth, options.max_message_bytes});
  for (const auto& layer : layers) add(layer->Shape());
  return digest;
}

/// The files of a run that is recorded or replayed, for this process's workers. Empty for other runs.
class RunRecord {
 public:
  RunRecord() = default;

  /// Opens the files for run number `run` of the mesh. Collective. Throws on every process: uit::OutputError if a record cannot
  /// be made, uit::InputError if the record to be replayed does not fit this run.
  static RunRecord Open(MeshCore& mesh, const RunOptions& options, const RunPlan& plan, std::uint64_t run) {
    RunRecord record;
    if (options.record.empty() && options.replay.empty()) return record;
    std::string trouble;
    try {
      if (!options.record.empty()) std::filesystem::create_directories(options.record);
      if (!options.replay.empty() && plan.delivery.is_by_update && mesh.LacksUnread()) {
        throw uit::InputError("a run of mode 0 cannot be replayed after a best-effort run that left messages unread, because the "
                              "record does not have them; let nodes read them in the earlier run, or use a mesh for each run");
      }
      for (const auto& partition : mesh.Partitions()) {
        const std::uint32_t worker = partition->graph.worker;
        const replay::RecordHeader header{
            .mode = plan.mode,
            .seed = mesh.Seed(),
            .first_update = options.first_update,
            .run = run,
            .shape = DigestOfShape(*partition, mesh.Layers(), mesh.Options()),
            .worker = worker,
            .num_workers = static_cast<std::uint32_t>(mesh.GetWorld().Size()) * mesh.NumThreads(),
            .num_threads = mesh.NumThreads()};
        if (!options.record.empty())
          record.writers_.push_back(std::make_unique<replay::RecordWriter>(replay::RecordPath(options.record, run, worker), header));
        else
          record.readers_.push_back(std::make_unique<replay::RecordReader>(replay::RecordPath(options.replay, run, worker), header));
      }
    } catch (const std::exception& thrown) {
      trouble = thrown.what();
    }
    if (options.record.empty()) mesh.GetWorld().Agree<uit::InputError>(trouble);
    else mesh.GetWorld().Agree<uit::OutputError>(trouble);
    return record;
  }

  /// Calls `say` with a line for each of this process's records that ends early.
  template <std::invocable<const std::string&> Say>
  void SayEarlyEnds(Say&& say) const {
    for (const auto& reader : readers_) {
      if (!reader->EarlyEnd().empty()) say(reader->EarlyEnd());
    }
  }

  /// Returns the record of a worker of this process.
  replay::WorkerRecord RecordOf(std::uint32_t thread) const {
    return {.writer = writers_.empty() ? nullptr : writers_[thread].get(),
            .reader = readers_.empty() ? nullptr : readers_[thread].get()};
  }

 private:
  std::vector<std::unique_ptr<replay::RecordWriter>> writers_;  // by thread
  std::vector<std::unique_ptr<replay::RecordReader>> readers_;  // by thread
};

}  // namespace netuit::detail
