#include "mesh.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <netuit/checkpoint/checkpoint.hpp>
#include <netuit/checkpoint/run_with_checkpoints.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/results/timeline_file.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

#include "arrays.hpp"
#include "part.hpp"

namespace netuit::python {

namespace nb = nanobind;

namespace {

std::chrono::nanoseconds Nanoseconds(double seconds, const char* what) {
  if (!(seconds >= 0) || seconds > 3e9) throw uit::InputError(std::string(what) + " must be a number of seconds that is not negative");
  return std::chrono::nanoseconds(std::llround(seconds * 1e9));
}

RunPlan PlanOf(const RunWords& words) {
  ModeSettings settings{.updates = words.updates, .duration = Nanoseconds(words.seconds, "seconds"), .until = words.until,
                        .lag = words.lag};
  if (words.span != 0) settings.span = Nanoseconds(words.span, "span");
  if (words.period != 0) settings.period = Nanoseconds(words.period, "period");
  if (words.slack) settings.slack = *words.slack < 0 ? automatic : static_cast<std::uint64_t>(*words.slack);
  return ScheduleOf(static_cast<AsyncMode>(words.mode), settings);
}

/// Returns the type and the text of an exception, whatever characters it has.
std::string WordsOf(const nb::python_error& error) {
  try {
    const nb::object words = nb::str("{}: {}").attr("format")(error.type().attr("__name__"), error.value());
    return nb::cast<std::string>(words.attr("encode")("utf-8", "backslashreplace").attr("decode")());
  } catch (const std::exception&) {
    return "an exception that cannot be told";
  }
}

/// Calls Python's update function, and keeps the first exception of this process.
class Updates {
 public:
  Updates(const nb::callable& update, const nb::list& parts, std::uint32_t num_threads) : update_(update) {
    for (std::uint32_t thread = 0; thread < num_threads; ++thread) parts_.push_back(nb::cast<PartObject*>(parts[thread]));
  }
  ~Updates() {
    for (PartObject* const part : parts_) part->Show(nullptr);
  }
  Updates(const Updates&) = delete;
  Updates& operator=(const Updates&) = delete;

  void operator()(Part& part) {
    const nb::gil_scoped_acquire acquire;
    const std::size_t thread = part.Worker() % parts_.size();
    PartObject* const shown = parts_[thread];
    shown->Show(&part);
    try {
      // Only the main thread looks for signals.
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      update_(thread);
      shown->Show(nullptr);
    } catch (nb::python_error& error) {
      shown->Show(nullptr);
      if (!thrown_) thrown_ = std::current_exception();
      throw std::runtime_error(WordsOf(error));  // the original stays here, because it may be destroyed with the lock only
    } catch (...) {
      shown->Show(nullptr);
      if (!thrown_) thrown_ = std::current_exception();
      throw;
    }
  }
  /// Throws the first exception, if there was one.
  void Rethrow() {
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  const nb::callable& update_;
  std::vector<PartObject*> parts_;   // by thread; Python keeps them
  std::exception_ptr thrown_{};                            // guarded by Python's lock
};

}  // namespace

MeshObject::MeshObject(const Graph& graph, std::uint32_t threads) {
  Job& job = Job::Get();
  {
    const nb::gil_scoped_release release;
    // What is left when the job has ended, because arrays show it, can no longer be destroyed.
    mesh_ = {new Mesh(uit::Team{job.World(), {.threads = threads}}, graph), [](Mesh* mesh) {
               if (!Job::IsOver()) delete mesh;
             }};
  }
  job.Add(*this);
}

MeshObject::~MeshObject() {
  Job::Forget(*this);
  if (mesh_) Drop();
}

void MeshObject::Drop() {
  if (is_running_) throw uit::Error("a mesh cannot be closed during its run");
  SpareBuffers::Get().Clear();
  if (!mesh_) return;
  const nb::gil_scoped_release release;
  if (!Job::IsOver()) mesh_->Close();
  mesh_.reset();
}

Mesh& MeshObject::Get() const {
  if (!mesh_) throw uit::Error("the mesh has been closed");
  if (is_running_) throw uit::Error("the mesh is running: an update uses its part only");
  return *mesh_;
}

nb::object MeshObject::Keeper() const {
  return nb::capsule(new std::shared_ptr<Mesh>(mesh_), [](void* kept) noexcept { delete static_cast<std::shared_ptr<Mesh>*>(kept); });
}

template <typename T>
std::size_t MeshObject::AddField(const Given<T>& values, bool is_published, const std::string& name) {
  if (values.shape(0) != Get().NumNodes()) {
    throw uit::InputError("a field of " + std::to_string(Get().NumNodes()) + " nodes needs as many initial values, and got " +
                          std::to_string(values.shape(0)));
  }
  const T* const of = values.data();
  const Initial<T> initial([of](NodeId id) { return of[id]; });
  if (is_published) fields_.emplace_back(Get().AddPublishedField<T>(initial));
  else fields_.emplace_back(Get().AddField<T>(initial));
  if (!name.empty()) std::visit([&](const auto& field) { Get().SetName(field, name); }, fields_.back());
  return fields_.size() - 1;
}

template std::size_t MeshObject::AddField(const Given<double>&, bool, const std::string&);
template std::size_t MeshObject::AddField(const Given<float>&, bool, const std::string&);
template std::size_t MeshObject::AddField(const Given<std::int64_t>&, bool, const std::string&);
template std::size_t MeshObject::AddField(const Given<std::int32_t>&, bool, const std::string&);
template std::size_t MeshObject::AddField(const Given<std::uint8_t>&, bool, const std::string&);

template <typename T>
std::size_t MeshObject::AddEdgeField(const Given<T>& initial, const std::string& name) {
  if (initial.shape(0) != 1) throw uit::InputError("an edge field has one initial value");
  const EdgeField<T> field = Get().AddEdgeField<T>(initial.data()[0]);
  edge_fields_.emplace_back(field);
  if (!name.empty()) Get().SetName(field, name);
  return edge_fields_.size() - 1;
}

template std::size_t MeshObject::AddEdgeField(const Given<double>&, const std::string&);
template std::size_t MeshObject::AddEdgeField(const Given<float>&, const std::string&);
template std::size_t MeshObject::AddEdgeField(const Given<std::int64_t>&, const std::string&);
template std::size_t MeshObject::AddEdgeField(const Given<std::int32_t>&, const std::string&);
template std::size_t MeshObject::AddEdgeField(const Given<std::uint8_t>&, const std::string&);

void MeshObject::AddWeights() {
  if (!weights_) weights_ = Get().GetEdgeWeights();
}

const EdgeWeights& MeshObject::Weights() const {
  if (!weights_) throw uit::Error("the weights of the edges are not there");
  return *weights_;
}

std::size_t MeshObject::AddReduction(ReductionKind which) {
  reductions_.push_back(Get().AddReduction(which));
  return reductions_.size() - 1;
}

nb::object MeshObject::Gather(std::size_t number) const {
  return std::visit(
      [&]<typename H>(const H& field) -> nb::object {
        using T = typename H::Value;
        std::vector<T> values;
        const Mesh& mesh = Get();
        {
          const nb::gil_scoped_release release;
          values = mesh.Gather(field);
        }
        if (!mesh.GetWorld().IsRoot()) return nb::none();
        NewArray<T> result(values.size());
        std::ranges::copy(values, result.Values().begin());
        return result.Release();
      },
      fields_.at(number));
}

std::size_t MeshObject::AddCapture(std::size_t field, std::uint64_t every, std::size_t most) {
  const CaptureOptions options{.every = every, .most = most};
  captures_.push_back(std::visit([&](const auto& of) -> AnyCapture { return Get().Capture(of, options); }, fields_.at(field)));
  return captures_.size() - 1;
}

nb::tuple MeshObject::GatherCapture(std::size_t number) const {
  return std::visit(
      [&]<typename T>(const Captured<T>& capture) {
        const Mesh& mesh = Get();
        std::vector<std::vector<T>> copies;
        std::uint64_t num_missed = 0;
        {
          const nb::gil_scoped_release release;
          copies.resize(capture.Count());
          for (std::size_t i = 0; i < copies.size(); ++i) copies[i] = capture.Gather(i);
          num_missed = capture.NumMissed();
        }
        if (!mesh.GetWorld().IsRoot()) return nb::make_tuple(nb::none(), num_missed);
        NewArray<T> result(copies.size() * mesh.NumNodes());
        auto place = result.Values().begin();
        for (const std::vector<T>& copy : copies) place = std::ranges::copy(copy, place).out;
        return nb::make_tuple(result.Release(), num_missed);
      },
      captures_.at(number));
}

void MeshObject::ClearCapture(std::size_t number) const {
  Get();  // throws if it cannot be used now
  std::visit([](const auto& capture) { capture.Clear(); }, captures_.at(number));
}

void MeshObject::SaveCheckpoint(const std::string& folder, const std::map<std::string, std::string>& notes) const {
  Mesh& mesh = Get();
  const nb::gil_scoped_release release;
  netuit::SaveCheckpoint(mesh, folder, notes);
}

std::map<std::string, std::string> MeshObject::LoadCheckpoint(const std::string& folder) const {
  Mesh& mesh = Get();
  const nb::gil_scoped_release release;
  return netuit::LoadCheckpoint(mesh, folder).notes;
}

bool MeshObject::HasCheckpoint(const std::string& folder) const {
  const Mesh& mesh = Get();
  const nb::gil_scoped_release release;
  return netuit::HasCheckpoint(mesh.GetWorld(), folder);
}

RunReport MeshObject::Run(const RunWords& words, const nb::callable& update, const nb::list& parts) {
  Mesh& mesh = Get();
  if (parts.size() != mesh.NumThreads()) throw uit::InputError("a run needs a part for each thread");
  const RunPlan plan = PlanOf(words);
  Updates updates(update, parts, mesh.NumThreads());
  RunReport report;
  struct Running {
    bool& flag;
    explicit Running(bool& of) : flag(of) { flag = true; }
    ~Running() { flag = false; }
  };
  {
    const Running running(is_running_);
    const nb::gil_scoped_release release;
    // Alone, Ctrl-C is Python's. A launcher's signals end the runs of all processes together.
    RunOptions options{.seed = words.seed, .first_update = words.first_update, .stops_on_signal = Job::Get().IsLaunched()};
    if (!words.trace.empty()) options.timeline.spans = 100'000;
    if (words.checkpoint_folder.empty()) {
      report = mesh.Run(plan, updates, options);
    } else {
      report = RunWithCheckpoints(mesh, plan, updates,
                                  {.to = words.checkpoint_folder,
                                   .every = Nanoseconds(words.checkpoint_seconds, "seconds"),
                                   .every_updates = words.checkpoint_updates,
                                   .notes = words.checkpoint_notes},
                                  options);
    }
  }
  updates.Rethrow();
  if (!words.trace.empty() && report.is_root) {
    TimelineFile file;
    file.Add("mesh", report.timeline);
    file.Save(words.trace);
  }
  return report;
}

}  // namespace netuit::python
