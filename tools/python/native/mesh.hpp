#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <netuit/graph/graph.hpp>
#include <netuit/mesh/captured.hpp>
#include <netuit/mesh/edge_field.hpp>
#include <netuit/mesh/field.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/reduction.hpp>
#include <netuit/run/run_options.hpp>

#include "job.hpp"

namespace netuit::python {

/// An array that Python gives: of one dimension, without gaps.
template <typename T>
using Given = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

/// A field of a mesh, of any of the types.
using AnyNodeField = std::variant<Field<double>, PublishedField<double>, Field<float>, PublishedField<float>, Field<std::int64_t>,
                                  PublishedField<std::int64_t>, Field<std::int32_t>, PublishedField<std::int32_t>,
                                  Field<std::uint8_t>, PublishedField<std::uint8_t>>;

/// A value per edge of a mesh, of any of the types.
using AnyEdgeField =
    std::variant<EdgeField<double>, EdgeField<float>, EdgeField<std::int64_t>, EdgeField<std::int32_t>, EdgeField<std::uint8_t>>;

/// Copies of a field.
using AnyCapture =
    std::variant<Captured<double>, Captured<float>, Captured<std::int64_t>, Captured<std::int32_t>, Captured<std::uint8_t>>;

/// A schedule by the number of its mode, and the options of a run.
struct RunWords {
  std::uint32_t mode = 0;
  std::uint64_t updates = 0;
  double seconds = 0;
  double span = 0;    // seconds; 0: the default
  double period = 0;  // likewise
  std::optional<std::int64_t> slack{};  // -1: automatic
  std::optional<Until> until{};
  std::uint64_t lag = 0;
  std::optional<std::uint64_t> seed{};
  std::uint64_t first_update = 0;
  std::string trace{};  // file for the run's timeline; empty: none
  std::string checkpoint_folder{};  // empty: none are saved
  double checkpoint_seconds = 0;    // between two checkpoints; 0: does not matter
  std::uint64_t checkpoint_updates = 0;  // likewise
  std::map<std::string, std::string> checkpoint_notes{};
};

/// A mesh that Python uses. Python's global lock is held on entry of every function. Arrays that show its memory keep it, also after
/// Drop.
class MeshObject final : public JobObject {
 public:
  /// Makes a mesh on the job's processes. Only rank 0's graph is used. Collective.
  MeshObject(const Graph& graph, std::uint32_t threads);
  MeshObject(const MeshObject&) = delete;
  MeshObject& operator=(const MeshObject&) = delete;
  ~MeshObject() override;

  /// Closes the mesh; Get then throws. Throws uit::Error during a run.
  void Drop() override;
  /// Returns the mesh. Throws uit::Error if it has been closed, or during a run.
  Mesh& Get() const;
  /// Returns an object of Python's that keeps the mesh's memory.
  nanobind::object Keeper() const;

  /// Adds a field with the values of all nodes of the graph, by id, and returns its number. A name is for checkpoints; it may be empty.
  template <typename T>
  std::size_t AddField(const Given<T>& values, bool is_published, const std::string& name);
  /// Returns a field.
  const AnyNodeField& FieldAt(std::size_t number) const { return fields_.at(number); }
  /// Adds a value per edge, at first the only one given, and returns its number. A name is for checkpoints; it may be empty.
  template <typename T>
  std::size_t AddEdgeField(const Given<T>& initial, const std::string& name);
  /// Returns a value per edge.
  const AnyEdgeField& EdgeFieldAt(std::size_t number) const { return edge_fields_.at(number); }
  /// Makes the weights of the edges available to parts.
  void AddWeights();
  /// Returns the weights of the edges. Throws uit::Error if they are not available.
  const EdgeWeights& Weights() const;
  /// Adds a reduction, and returns its number.
  std::size_t AddReduction(ReductionKind which);
  /// Returns a reduction.
  const Reduction& ReductionAt(std::size_t number) const { return reductions_.at(number); }
  /// Returns a field's values by id on rank 0, and None elsewhere. Collective.
  nanobind::object Gather(std::size_t number) const;
  /// Adds copies of a field, and returns their number.
  std::size_t AddCapture(std::size_t field, std::uint64_t every, std::size_t most);
  /// Returns the values of all copies, one copy after the other, on rank 0, and None elsewhere; and how many copies found no memory.
  /// Collective.
  nanobind::tuple GatherCapture(std::size_t number) const;
  /// Forgets the copies. Collective.
  void ClearCapture(std::size_t number) const;
  /// Saves the state of the mesh in a folder. Collective.
  void SaveCheckpoint(const std::string& folder, const std::map<std::string, std::string>& notes) const;
  /// Takes the state from a folder. Returns the notes that it was saved with. Collective.
  std::map<std::string, std::string> LoadCheckpoint(const std::string& folder) const;
  /// Returns whether a folder has a checkpoint. Collective.
  bool HasCheckpoint(const std::string& folder) const;
  /// Runs: calls `update(thread)` for each update of a thread, while parts[thread] stands for its nodes. Collective. If the
  /// update throws in this process, the exception is passed on after the run.
  RunReport Run(const RunWords& words, const nanobind::callable& update, const nanobind::list& parts);

 private:
  std::shared_ptr<Mesh> mesh_;
  bool is_running_ = false;
  std::vector<AnyNodeField> fields_;
  std::vector<AnyEdgeField> edge_fields_;
  std::optional<EdgeWeights> weights_;
  std::vector<Reduction> reductions_;
  std::vector<AnyCapture> captures_;
};

}  // namespace netuit::python
