// netuit._native: what netuit/mesh.py needs of the library.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <netuit/file/load_graph.hpp>
#include <netuit/graph/graph.hpp>
#include <netuit/graph/graphs.hpp>
#include <netuit/mesh/reduction.hpp>
#include <netuit/run/run_options.hpp>
#include <uit/support/error.hpp>

#include "conduits.hpp"
#include "job.hpp"
#include "mesh.hpp"
#include "part.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace netuit;
using namespace netuit::python;

namespace {

Graph GraphOf(NodeId num_nodes, const Given<std::uint32_t>& sources, const Given<std::uint32_t>& targets,
              const std::optional<Given<double>>& weights, const std::vector<std::string>& labels) {
  if (sources.shape(0) != targets.shape(0) || (weights && weights->shape(0) != sources.shape(0)))
    throw uit::InputError("every edge has a source, a target and a weight");
  std::vector<Edge> edges(sources.shape(0));
  for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = {sources.data()[i], targets.data()[i], weights ? weights->data()[i] : 1.0};
  return Topology{num_nodes, std::move(edges), labels};
}

Graph GraphInFile(const std::string& path, bool is_directed) { return LoadGraph(path, {.directed = is_directed}); }

double Seconds(std::chrono::nanoseconds time) { return std::chrono::duration<double>(time).count(); }

nb::dict WorkerOf(const WorkerReport& worker) {
  nb::dict row;
  row["process"] = worker.id.process;
  row["thread"] = worker.id.thread;
  row["nodes"] = worker.num_nodes;
  row["updates"] = worker.num_updates;
  row["seconds"] = Seconds(worker.elapsed);
  row["barriers"] = worker.num_barriers;
  return row;
}

nb::dict DescriptionOf(const RunReport& report) {
  nb::list workers;
  for (const WorkerReport& worker : report.workers) workers.append(WorkerOf(worker));
  uit::Tally all = report.Tally();
  for (const WorkerReport& worker : report.workers) all += worker.inside;
  nb::dict of;
  of["text"] = report.Text();
  of["workers"] = workers;
  of["updates"] = report.MaxUpdates();
  of["effective_updates"] = report.EffectiveUpdates();
  of["staleness"] = report.MaxStaleness();
  of["seconds"] = Seconds(report.Elapsed());
  of["put"] = all.put.attempted;
  of["read"] = all.get.stepped;
  of["is_balanced"] = report.Balanced();
  of["message"] = report.message;
  of["exit_code"] = report.ExitCode();
  of["signal"] = report.signal;
  return of;
}

/// Passes the library's errors on as those of the package `netuit`.
void Translate(const std::exception_ptr& thrown, void*) {
  const auto raise = [](const char* name, const char* words) {
    PyErr_SetString(nb::module_::import_("netuit").attr(name).ptr(), words);
  };
  try {
    std::rethrow_exception(thrown);
  } catch (const uit::InputError& error) {
    raise("InputError", error.what());
  } catch (const uit::OutputError& error) {
    raise("OutputError", error.what());
  } catch (const uit::Error& error) {
    raise("ToolError", error.what());
  }
}

}  // namespace

NB_MODULE(_native, module) {
  nb::set_leak_warnings(false);  // arrays may outlive the module, and what they show with them
  nb::register_exception_translator(Translate);

  module.def("rank", [] { return Job::Get().World().Rank(); });
  module.def("size", [] { return Job::Get().World().Size(); });
  module.def("end", &Job::End);
  module.attr("has_mpi") = bool{UIT_WITH_MPI};

  nb::class_<Graph>(module, "Graph");
  module.def("graph", &GraphOf, "num_nodes"_a, "sources"_a, "targets"_a, "weights"_a = nb::none(), "labels"_a = std::vector<std::string>{});
  module.def("torus", &Torus, "width"_a, "height"_a);
  module.def("load", &GraphInFile, "path"_a, "directed"_a);
  module.def("labels", [](const Graph& graph) {
    std::vector<std::string> labels;
    for (NodeId node = 0; node < graph.Get().NumNodes(); ++node) labels.push_back(graph.Get().Label(node));
    return labels;
  });
  module.def("no_graph", [] { return Graph{Topology{}}; });

  nb::class_<Until>(module, "Until");

  nb::class_<RunWords>(module, "RunWords")
      .def(nb::init<>())
      .def_rw("mode", &RunWords::mode)
      .def_rw("updates", &RunWords::updates)
      .def_rw("seconds", &RunWords::seconds)
      .def_rw("span", &RunWords::span)
      .def_rw("period", &RunWords::period)
      .def_rw("slack", &RunWords::slack, nb::arg().none())
      .def_rw("until", &RunWords::until, nb::arg().none())
      .def_rw("lag", &RunWords::lag)
      .def_rw("seed", &RunWords::seed, nb::arg().none())
      .def_rw("first_update", &RunWords::first_update)
      .def_rw("trace", &RunWords::trace)
      .def_rw("checkpoint_folder", &RunWords::checkpoint_folder)
      .def_rw("checkpoint_seconds", &RunWords::checkpoint_seconds)
      .def_rw("checkpoint_updates", &RunWords::checkpoint_updates)
      .def_rw("checkpoint_notes", &RunWords::checkpoint_notes);

  nb::class_<MeshObject>(module, "Mesh")
      .def(nb::init<const Graph&, std::uint32_t>(), "graph"_a, "threads"_a)
      .def("drop", &MeshObject::Drop)
      .def_prop_ro("num_nodes", [](const MeshObject& mesh) { return mesh.Get().NumNodes(); })
      .def_prop_ro("num_edges", [](const MeshObject& mesh) { return mesh.Get().NumEdges(); })
      .def_prop_ro("num_updates", [](const MeshObject& mesh) { return mesh.Get().NumUpdates(); })
      .def("add_field", &MeshObject::AddField<double>, "values"_a.noconvert(), "published"_a, "name"_a)
      .def("add_field", &MeshObject::AddField<float>, "values"_a.noconvert(), "published"_a, "name"_a)
      .def("add_field", &MeshObject::AddField<std::int64_t>, "values"_a.noconvert(), "published"_a, "name"_a)
      .def("add_field", &MeshObject::AddField<std::int32_t>, "values"_a.noconvert(), "published"_a, "name"_a)
      .def("add_field", &MeshObject::AddField<std::uint8_t>, "values"_a.noconvert(), "published"_a, "name"_a)
      .def("add_edge_field", &MeshObject::AddEdgeField<double>, "initial"_a.noconvert(), "name"_a)
      .def("add_edge_field", &MeshObject::AddEdgeField<float>, "initial"_a.noconvert(), "name"_a)
      .def("add_edge_field", &MeshObject::AddEdgeField<std::int64_t>, "initial"_a.noconvert(), "name"_a)
      .def("add_edge_field", &MeshObject::AddEdgeField<std::int32_t>, "initial"_a.noconvert(), "name"_a)
      .def("add_edge_field", &MeshObject::AddEdgeField<std::uint8_t>, "initial"_a.noconvert(), "name"_a)
      .def("add_weights", &MeshObject::AddWeights)
      .def("add_reduction", &MeshObject::AddReduction)
      .def("until", [](const MeshObject& mesh, std::size_t reduction, double bound, bool is_below) {
        const Reduction& of = mesh.ReductionAt(reduction);
        return is_below ? of < bound : of > bound;
      })
      .def("gather", &MeshObject::Gather)
      .def("add_capture", &MeshObject::AddCapture)
      .def("gather_capture", &MeshObject::GatherCapture)
      .def("clear_capture", &MeshObject::ClearCapture)
      .def("save_checkpoint", &MeshObject::SaveCheckpoint)
      .def("load_checkpoint", &MeshObject::LoadCheckpoint)
      .def("has_checkpoint", &MeshObject::HasCheckpoint)
      .def("run", [](MeshObject& mesh, const RunWords& words, const nb::callable& update, const nb::list& parts) {
        return DescriptionOf(mesh.Run(words, update, parts));
      });

  nb::class_<ConduitOptions>(module, "ConduitOptions")
      .def(nb::init<std::uint64_t, std::size_t, std::size_t>(), "channel"_a, "depth"_a, "most_bytes"_a);

  nb::class_<ConduitsObject>(module, "Conduits")
      .def(nb::init<>())
      .def("connect", &ConduitsObject::Connect)
      .def("close", &ConduitsObject::Close);

  nb::class_<ArrayInlet>(module, "Inlet")
      .def(nb::init<ConduitsObject&, std::size_t, const ConduitOptions&>(), nb::keep_alive<1, 2>())
      .def("try_put", &ArrayInlet::TryPut);

  nb::class_<ArrayOutlet>(module, "Outlet")
      .def(nb::init<ConduitsObject&, std::size_t, const ConduitOptions&>(), nb::keep_alive<1, 2>())
      .def("step", &ArrayOutlet::TryStep, "is_to_newest"_a)
      .def("message", &ArrayOutlet::Message);

  nb::enum_<ReductionKind>(module, "ReductionKind")
      .value("maximum", ReductionKind::maximum)
      .value("minimum", ReductionKind::minimum)
      .value("sum", ReductionKind::exact_sum);
  module.attr("graph_weights") = PartObject::graph_weights;
  nb::enum_<PartObject::Fold>(module, "Fold")
      .value("sum", PartObject::Fold::sum)
      .value("mean", PartObject::Fold::mean)
      .value("minimum", PartObject::Fold::minimum)
      .value("maximum", PartObject::Fold::maximum);

  nb::class_<PartObject>(module, "Part")
      .def(nb::init<const MeshObject&>(), nb::keep_alive<1, 2>())
      .def("__len__", [](const PartObject& part) { return part.Get().size(); })
      .def_prop_ro("worker", [](const PartObject& part) { return part.Get().Worker(); })
      .def_prop_ro("update", [](const PartObject& part) { return part.Get().Update(); })
      .def_prop_ro("ids", &PartObject::Ids)
      .def_prop_ro("first_edges", &PartObject::FirstEdges)
      .def_prop_ro("sources", &PartObject::Sources)
      .def("_own", &PartObject::Own)
      .def("_weights", &PartObject::EdgeWeightsByEdge)
      .def("_own_edges", &PartObject::OwnEdges)
      .def("_neighbors", &PartObject::Neighbors)
      .def("_combine", &PartObject::Combine, "field"_a, "fold"_a, "weights"_a = nb::none())
      .def("_sum_edges", &PartObject::SumEdges)
      .def("_per_edge", &PartObject::PerEdge)
      .def("_random", &PartObject::Random)
      .def("_stay_silent", &PartObject::StaySilent)
      .def("_contribute", &PartObject::Contribute)
      .def("request_stop", [](const PartObject& part) { part.Get().RequestStop(); });
}
