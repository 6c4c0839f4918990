#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <netuit/checkpoint/block_route.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/levels.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node_notes.hpp>
#include <netuit/mesh/waiting_messages.hpp>
#include <netuit/run/update_loop.hpp>
#include <uit/config.hpp>
#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>

namespace netuit::detail {

/// Puts saved messages into the channels of a mesh: by a run of a few updates in which each edge's source puts one of them per
/// update, and nobody takes any.
class PutBack final : public UpdateLoop {
 public:
  explicit PutBack(Mesh& mesh) : mesh_(mesh), by_thread_(mesh.NumThreads()) {}

  /// Adds a layer's messages. The value of an edge in `block` is a list of messages, each behind its length: the one that the outlet
  /// shows, then those that wait. Collective; throws uit::InputError on every process if one is no message of the layer.
  void Add(LayerBase& layer, std::uint32_t network, const BlockRoute& inputs, const BlockRoute& outputs, const VariedBlock& block);
  /// Collective. Throws on every process if the messages do not fit; the text begins with `name`.
  void Run(const std::string& name);
  /// Returns the number of messages that this process has put.
  std::uint64_t NumMessages() const;

  bool Update(std::uint32_t thread, std::uint64_t update, std::span<const NodeRange> nodes, NodeNotes& notes,
              std::uint32_t& position) override;

 private:
  struct Output {
    WaitingMessages* messages;
    std::uint32_t output;            // of its worker
    std::vector<uit::Bytes> waiting;  // in the order in which they were put
  };
  struct Thread {
    std::vector<Output> outputs;
    bool has_failed = false;
  };

  Mesh& mesh_;
  std::vector<Thread> by_thread_;
  std::uint64_t num_rounds_ = 0;
};

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/checkpoint/put_back.ipp>
#endif
