#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <netuit/file/numpy_format.hpp>
#include <uit/config.hpp>

#if !__has_include(<nlohmann/json.hpp>)
#error "netuit/checkpoint needs nlohmann/json, for example the Debian package nlohmann-json3-dev"
#endif

namespace netuit::detail {

/// The older values of a published field in a checkpoint; see OlderValues. NAME.older.npy has them node by node, from the youngest
/// to the oldest, and NAME.older.counts.npy has their number by node.
struct SavedOlderValues {
  std::uint64_t num_values = 0;
  std::uint64_t digest = 0;         // of all of them
  std::uint64_t counts_digest = 0;  // of their numbers
};

/// Values of a mesh in a checkpoint: one per node, or one per edge of a network.
struct SavedValues {
  std::string name{};             // of the files, without .npy
  std::string of{};               // "node", "edge" or "message"
  std::uint32_t network = 0;      // unless they are of nodes
  std::uint64_t type = 0;         // hash of their type; 0 if numpy's name for it suffices
  NumpyType numpy{};              // unless their sizes vary
  std::uint64_t num_bytes = 0;    // of a value; 0 if their sizes vary
  std::uint64_t num_values = 0;
  std::uint64_t digest = 0;       // of all of them
  std::vector<std::uint64_t> policy{};  // of messages
  std::optional<SavedOlderValues> older{};  // of a published field, if edges may still show them
};

/// A network in a checkpoint.
struct SavedNetwork {
  std::uint64_t num_edges = 0;
  std::uint64_t digest = 0;  // of its edges and weights
};

/// The table of contents of a checkpoint.
struct CheckpointManifest {
  std::uint64_t data = 0;  // number of the subfolder with the files
  std::uint64_t num_updates = 0;
  std::optional<std::uint64_t> seed{};  // of the last run; older checkpoints do not tell it
  std::uint64_t num_nodes = 0;
  std::vector<SavedNetwork> networks{};
  std::vector<SavedValues> values{};
  std::map<std::string, std::string> notes{};

  std::string ToText() const;
  /// Throws uit::InputError if the text is no such manifest; messages call it `name`.
  static CheckpointManifest Parse(const std::string& text, const std::string& name);
};

/// The edges of a network in a folder, in files NAME.outputs.npy and so on; NAME is "network" and the network's number. `outputs`
/// has the number of outputs by node. By edge, in order of source, `targets` has the target, `inputs` the edge's position among the
/// inputs of the target, `weights` its weight, and `delays` its delay.
struct SavedEdges {
  std::string name{};         // of the network
  std::uint64_t period = 1;   // in updates
  std::uint64_t num_edges = 0;
  std::map<std::string, std::uint64_t> digests{};  // of the files; there are none for weights or delays that are all 1
};

/// The table of contents of a saved graph.
struct GraphManifest {
  std::uint64_t data = 0;  // number of the subfolder with the files
  std::uint64_t num_nodes = 0;
  std::optional<std::uint64_t> labels_digest{};  // if nodes have labels: in labels.sizes.npy and labels.bytes.npy
  std::vector<SavedEdges> networks{};

  std::string ToText() const;
  /// Throws uit::InputError if the text is no such manifest; messages call it `name`.
  static GraphManifest Parse(const std::string& text, const std::string& name);
};

}  // namespace netuit::detail

#if !UIT_COMPILED
#include <netuit/checkpoint/manifest.ipp>
#endif
