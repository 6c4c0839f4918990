#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <netuit/file/numpy_format.hpp>
#include <netuit/mesh/capture_store.hpp>
#include <netuit/mesh/gather.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/function_ref.hpp>

namespace netuit {

namespace detail {

/// Writes a file on rank 0: `header`, then the bytes of `count` frames, which the collective `gather(frame)` returns there.
/// Collective; throws like OnRoot.
void WriteFrames(const MeshCore& mesh, const std::filesystem::path& path, const std::string& header, std::size_t count,
                 uit::FunctionRef<uit::ByteView(std::size_t)> gather);

}  // namespace detail

/// When to copy a field's values, for Mesh::Capture.
struct CaptureOptions {
  std::uint64_t every = 1;  ///< updates between two copies
  std::size_t most = 64;    ///< copies for which there is memory; later ones are missed, and counted
};

/// Copies of a field's values that were taken during runs: a film of the field. A handle, cheap to copy; the mesh owns the copies.
///
///     auto film = mesh.Capture(theta, {.every = 100});
///     mesh.Run(netuit::Free{.updates = 2000}, update);
///     film.Save("theta.npy");                                        // numpy.load("theta.npy")[frame, node]
///
/// A frame is a consistent cut: no value in it depends on what another node published after its own value was copied. In EveryUpdate
/// and Dataflow, all values of a frame are of the same update. In the other schedules, no worker waits: each copies its nodes' values
/// when it has made so many updates itself, or before it reads the first value that another worker has published after its own copy.
/// Values that came by channels are not considered.
template <typename T>
class Captured {
 public:
  using Value = T;  ///< type of a node's value

  /// For the mesh.
  Captured(const MeshCore& mesh, detail::CaptureStore& store) : mesh_(&mesh), store_(&store) {}

  /// Returns the number of frames. Collective, between runs.
  std::size_t Count() const { return mesh_->GetWorld().Min(store_->Count()); }
  /// Returns the number of frames for which there was no memory. Collective, between runs.
  std::uint64_t NumMissed() const { return mesh_->GetWorld().Max(store_->NumMissed()); }
  /// Forgets all frames, so that there is memory for others. Every process calls it, between runs.
  void Clear() const { store_->Clear(); }
  /// Returns a frame's values by node id on rank 0, and an empty vector elsewhere. Collective, between runs. Throws uit::InputError if
  /// there is no such frame.
  std::vector<T> Gather(std::size_t frame) const {
    Check(frame);
    return GatherValues(frame);
  }
  /// Returns how many updates each node had made in a frame, by id on rank 0, and an empty vector elsewhere. Collective, between
  /// runs. Throws uit::InputError if there is no such frame.
  std::vector<std::uint64_t> GatherUpdates(std::size_t frame) const {
    Check(frame);
    std::vector<std::uint64_t> updates;
    for (std::size_t thread = 0; thread < mesh_->NumThreads(); ++thread)
      updates.resize(updates.size() + mesh_->Partitions()[thread]->NumNodes(), store_->NumUpdates(frame, thread));
    return GatherByNode<std::uint64_t>(*mesh_, updates);
  }
  /// Writes all frames to an .npy file on rank 0, as an array of frames by nodes. Collective, between runs. Throws uit::OutputError
  /// there, and RootFailed elsewhere, if the file cannot be written.
  void Save(const std::filesystem::path& path) const {
    const std::size_t count = Count();
    NumpyType type = NumpyTypeOf<T>();
    type.extents.insert(0, ", " + std::to_string(mesh_->NumNodes()));
    std::vector<T> values;
    const auto gather = [&](std::size_t frame) { return std::as_bytes(std::span<const T>(values = GatherValues(frame))); };
    detail::WriteFrames(*mesh_, path, NumpyHeader(type, count), count, gather);
  }

 private:
  /// See Gather. There must be such a frame.
  std::vector<T> GatherValues(std::size_t frame) const {
    std::vector<T> values(mesh_->NumLocalNodes());
    mesh_->ForEachNode([&](std::size_t local, std::size_t slot, NodeId) {
      std::memcpy(static_cast<void*>(&values[local]), store_->Value(frame, slot), sizeof(T));
    });
    return GatherByNode<T>(*mesh_, values);
  }
  void Check(std::size_t frame) const {
    const std::size_t count = Count();
    if (frame >= count)
      throw uit::InputError("frame " + std::to_string(frame) + " is not among the " + std::to_string(count) + " captured frames");
  }

  const MeshCore* mesh_;
  detail::CaptureStore* store_;
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/captured.ipp>
#endif
