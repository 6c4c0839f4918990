#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <netuit/mesh/levels.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/node_notes.hpp>
#include <netuit/run/update_loop.hpp>
#include <uit/config.hpp>

namespace netuit::detail {

/// Measures the time of each node's updates, of one in so many updates. The others take as long as without it.
///
/// For nodes of little work, a look at the clock takes longer than the update. So the update after a measured one is timed as a
/// whole, and the difference of the two is taken off, in equal parts. Of either, the shortest time counts: another program may have
/// had the core during the others.
class LoadMeter final : public UpdateLoop {
 public:
  /// Refers to the mesh.
  LoadMeter(const MeshCore& mesh, std::uint32_t every)
      : mesh_(mesh), every_(every), nodes_(mesh.NumLocalNodes()), calls_(mesh.NumLocalNodes()) {}

  /// Between runs: measures this loop from here on.
  void Watch(UpdateLoop& loop) { watched_ = &loop; }
  /// Between runs: returns the mean seconds of an update by local number, and begins anew. Of three measured updates or more, the
  /// longest does not count.
  std::vector<double> Take();

  bool Update(std::uint32_t thread, std::uint64_t update, std::span<const NodeRange> nodes, NodeNotes& notes,
              std::uint32_t& position) override;

 private:
  struct Seconds {
    double sum = 0;
    double longest = 0;
    std::uint64_t count = 0;
  };
  /// The shortest times of a call of Update.
  struct Call {
    std::size_t num_nodes = 0;
    double measured = std::numeric_limits<double>::infinity();
    double whole = std::numeric_limits<double>::infinity();
  };

  bool UpdateEach(std::uint32_t thread, std::uint64_t update, std::span<const NodeRange> nodes, NodeNotes& notes,
                  std::uint32_t& position);
  /// Returns the seconds that measuring adds to a node's update.
  double Overhead() const;
  Call& CallOf(std::uint32_t thread, std::span<const NodeRange> nodes);

  const MeshCore& mesh_;
  std::uint32_t every_;
  UpdateLoop* watched_ = nullptr;
  std::vector<Seconds> nodes_;  // by local number; whoever updates a node writes to its entry
  std::vector<Call> calls_;     // by local number of its first node; likewise
};

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/balance/load_meter.ipp>
#endif
