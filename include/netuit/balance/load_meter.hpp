#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <netuit/mesh/delayed_slots.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/node_notes.hpp>
#include <netuit/run/sweep.hpp>
#include <uit/config.hpp>

namespace netuit::detail {

/// Measures the time of each node's updates, of one in so many updates. The others take as long as without it.
class LoadMeter final : public Sweep {
 public:
  /// Refers to the mesh.
  LoadMeter(const MeshCore& mesh, std::uint32_t every) : mesh_(mesh), every_(every), nodes_(mesh.NumLocalNodes()) {}

  /// Between runs: measures this sweep from here on.
  void Watch(Sweep& sweep) { watched_ = &sweep; }
  /// Between runs: returns the mean seconds of an update by local number, and begins anew. The longest of three measured updates or
  /// more does not count: while it lasted, another program may have had the core.
  std::vector<double> Take();

  bool Update(std::uint32_t thread, std::uint64_t update, std::span<const NodeRange> nodes, NodeNotes& notes,
              std::uint32_t& position) override;

 private:
  struct Seconds {
    double sum = 0;
    double longest = 0;
    std::uint64_t count = 0;
  };

  const MeshCore& mesh_;
  std::uint32_t every_;
  Sweep* watched_ = nullptr;
  std::vector<Seconds> nodes_;  // by local number; whoever updates a node writes to its entry
};

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/balance/load_meter.ipp>
#endif
