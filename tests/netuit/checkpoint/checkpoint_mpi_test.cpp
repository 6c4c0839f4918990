// Checkpoints: a mesh that is loaded continues like the one that was saved, and what is damaged or does not fit is refused.
#include <sys/file.h>
#include <unistd.h>

#include <fcntl.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <netuit/checkpoint/checkpoint.hpp>
#include <netuit/checkpoint/run_with_checkpoints.hpp>
#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/run/modes.hpp>
#include <netuit/run/run.hpp>
#include <uit/support/error.hpp>

#include "tests/netuit/checkpoint/model.hpp"
#include "tests/netuit/checkpoint/walk.hpp"
#include "tests/netuit/run/random_delays.hpp"
#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/shared_folder.hpp"
#include "tests/support/small_files.hpp"
#include "tests/support/thrown.hpp"

using namespace netuit;
using namespace std::chrono_literals;
using netuit::testing::CheckpointModel;
using netuit::testing::Folder;
using netuit::testing::RandomDelays;
using netuit::testing::TeamWith;
using netuit::testing::Walk;
using netuit::testing::WorkersWith;
using uit::testing::CheckThrows;
using uit::testing::MpiTestWorld;
using uit::testing::WordsThrownBy;

namespace {

constexpr std::uint64_t num_before = 26;
constexpr std::uint64_t num_after = 18;

RunPlan ByUpdate(AsyncMode mode, std::uint64_t updates) { return ScheduleOf(mode, {.updates = updates}); }

/// What decides a model's result.
struct Rules {
  AsyncMode mode = AsyncMode::every_update;
  EdgeDelays delays{};
};
std::vector<Rules> AllRules() { return {{}, {AsyncMode::dataflow}, {AsyncMode::dataflow, RandomDelays(3, 6)}}; }

std::uint64_t HashWithout(const Rules& rules, std::uint64_t seed) {
  CheckpointModel model{TeamWith(1), CheckpointModel::WithDepth(3), rules.delays};
  model.Run(ByUpdate(rules.mode, num_before + num_after), {.seed = seed});
  return model.Hash();
}

/// Replaces what `change` changes in the bytes of a file.
template <typename F>
void ChangeFile(const std::filesystem::path& path, F&& change) {
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  change(bytes);
  std::ofstream(path, std::ios::binary) << bytes;
}

std::vector<std::filesystem::path> FilesIn(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

/// A mesh with one field, for tests of files.
struct Small {
  explicit Small(std::uint32_t threads = 1)
      : team(TeamWith(threads)), mesh(team, MakeTorus(4, 5)), value(mesh.AddPublishedField<double>()) {}
  void Set(double to) {
    mesh.Visit([&](Node& node) { value[node] = to + node.Id(); });
  }
  double First() {
    const std::vector<double> all = mesh.Gather(value);
    return MpiTestWorld().AllGatherValue(all.empty() ? 0.0 : all[0]).front();
  }

  uit::Team team;
  Mesh mesh;
  PublishedField<double> value;
};

}  // namespace

TEST_CASE("A run that goes on from a checkpoint on another layout equals one that was never interrupted") {
  for (const Rules& rules : AllRules()) {
    const std::uint64_t expected = HashWithout(rules, 7);
    for (const std::uint32_t threads_before : {1U, 2U}) {
      Folder folder;
      CheckpointModel first{TeamWith(threads_before), CheckpointModel::WithDepth(3), rules.delays};
      first.Run(ByUpdate(rules.mode, num_before), {.seed = 7});  // the runs that follow have the same
      SaveCheckpoint(first.mesh, folder.Path(), {{"note", "kept"}});
      first.Run(ByUpdate(rules.mode, num_after));
      CHECK(first.Hash() == expected);  // saving changes nothing
      for (const std::uint32_t threads_after : {1U, 3U}) {
        const uit::Team team = TeamWith(threads_after);
        MeshOptions options = CheckpointModel::WithDepth(3);
        options.placement = PlaceRandom(MakeEmpty(CheckpointModel::num_nodes), WorkersWith(threads_after), 5);
        CheckpointModel second{team, options, rules.delays};
        const CheckpointInfo info = LoadCheckpoint(second.mesh, folder.Path());
        CHECK(info.num_updates == num_before);
        CHECK(info.notes.at("note") == "kept");
        CHECK(second.mesh.NumUpdates() == num_before);
        const RunReport report = second.Run(ByUpdate(rules.mode, num_after));
        CAPTURE(rules.mode, second.mesh.Partitions().front()->max_delay, threads_before, threads_after);
        CHECK(second.Hash() == expected);
        CHECK((!MpiTestWorld().IsRoot() || report.Balanced()));
      }
    }
  }
}

TEST_CASE("What a checkpoint says of itself can be read without a mesh") {
  Folder folder;
  const std::string words = MpiTestWorld().IsRoot() ? "has no checkpoint: checkpoint.json is missing" : "rank 0 failed";
  CheckThrows([&] { ReadCheckpointInfo(MpiTestWorld(), folder.Path()); }, words);
  Small small;
  small.mesh.SetNumUpdates(12);
  SaveCheckpoint(small.mesh, folder.Path(), {{"seed", "7"}});
  const CheckpointInfo info = ReadCheckpointInfo(MpiTestWorld(), folder.Path());
  CHECK(info.num_updates == 12);
  CHECK(info.notes == std::map<std::string, std::string>{{"seed", "7"}});
}

TEST_CASE("Runs with checkpoints on the way equal one run") {
  for (const Rules& rules : AllRules()) {
    const std::uint64_t expected = HashWithout(rules, 1);
    Folder folder;
    const auto finish = [&](CheckpointModel& model, std::uint64_t num_updates, std::chrono::nanoseconds every,
                            std::uint64_t every_updates) {
      return RunWithCheckpoints(model.mesh, ByUpdate(rules.mode, num_updates), [&](Node& node) { model.Update(node); },
                                {.to = folder.Path(), .every = every, .every_updates = every_updates});
    };
    CheckpointModel first{TeamWith(2), CheckpointModel::WithDepth(3), rules.delays};
    const RunReport report = finish(first, num_before, 0ns, 2);
    CHECK(report.stopped_by == StopReason::count);
    const std::uint64_t max_delay = first.mesh.Partitions().front()->max_delay;
    for (const WorkerReport& worker : report.workers) {
      CHECK(worker.num_updates == num_before);
      CHECK((worker.num_nodes == 0 || worker.effective_updates == (num_before + max_delay - 1) / max_delay));
    }
    CheckpointModel second{TeamWith(1), CheckpointModel::WithDepth(3), rules.delays};
    CHECK(HasCheckpoint(MpiTestWorld(), folder.Path()));
    CHECK(LoadCheckpoint(second.mesh, folder.Path()).num_updates == num_before);
    finish(second, num_after, 1ns, 2);
    CHECK(second.Hash() == expected);
    CHECK(second.mesh.NumUpdates() == num_before + num_after);
  }
}

TEST_CASE("A condition ends a run with checkpoints, however short its parts are") {
  Folder folder;
  for (const AsyncMode mode : {AsyncMode::every_update, AsyncMode::dataflow}) {
    for (const std::uint64_t every : {1U, 2U, 7U, 100U}) {
      CAPTURE(every);
      Mesh mesh{TeamWith(2), MakeTorus(4, 4)};
      const auto count = mesh.AddPublishedField<double>(0.0);
      const auto least = mesh.AddReduction(minimum);
      const auto run = [&](Until until) {
        return RunWithCheckpoints(mesh, ScheduleOf(mode, {.updates = 1000, .until = until}),
                                  [&](Node& node) { least[node] = ++count[node]; }, {.to = folder.Path(), .every_updates = every});
      };
      CHECK(run(least > 13.5).stopped_by == StopReason::asked);
      if (mode == AsyncMode::every_update) CHECK(mesh.NumUpdates() == 14);
      else CHECK(mesh.NumUpdates() < 1000);
      const std::uint64_t first = mesh.NumUpdates();
      const auto at_cut = mesh.AddCut(count);
      const auto cut = mesh.AddCutReduction(minimum, [&](Node& node) { return at_cut[node]; }, {.every = 10});
      CHECK(run(cut > static_cast<double>(first) + 9.5).stopped_by == StopReason::asked);
      CHECK(mesh.NumUpdates() < 1000);
    }
  }
}

TEST_CASE("In best effort, sums are conserved across a restart, and accounts are exact") {
  Folder folder;
  for (const AsyncMode mode : {AsyncMode::rolling, AsyncMode::no_barrier}) {
    {
      Walk walk{TeamWith(2)};
      const RunReport report = RunWithCheckpoints(walk.mesh, ScheduleOf(mode, {.duration = 30ms}),
                                                  [&](Node& node) { walk.Update(node); }, {.to = folder.Path(), .every = 10ms});
      CHECK((!MpiTestWorld().IsRoot() || report.Balanced()));
      CHECK(report.stopped_by == StopReason::clock);
    }
    Walk walk{TeamWith(1)};
    LoadCheckpoint(walk.mesh, folder.Path());
    const RunReport report = walk.mesh.Run(ScheduleOf(mode, {.updates = 100}), [&](Node& node) { walk.Update(node); });
    CHECK((!MpiTestWorld().IsRoot() || report.Balanced()));
    CHECK(walk.Sum() == 3600);
  }
}

TEST_CASE("With a limit of updates, every worker makes as many, whenever checkpoints are due") {
  Folder folder;
  Small small{2};
  const RunReport report = RunWithCheckpoints(small.mesh, Free{.updates = 500}, [&](Node& node) { small.value[node] += 1; },
                                              {.to = folder.Path(), .every = 200us});
  for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates == 500);
  CHECK(small.First() == 500);
  CHECK(report.stopped_by == StopReason::count);
}

TEST_CASE("What a damaged checkpoint has is refused, whichever byte has changed") {
  Folder folder;
  Folder copy;
  CheckpointModel model{TeamWith(1), CheckpointModel::WithDepth(3), RandomDelays(3, 6)};
  model.Run(Dataflow{.updates = 10});
  SaveCheckpoint(model.mesh, folder.Path());
  const bool is_root = MpiTestWorld().IsRoot();
  const auto changed = [&](const std::filesystem::path& file, auto&& change) {
    copy.Empty();
    if (is_root) {
      std::filesystem::copy(folder.Path(), copy.Path(), std::filesystem::copy_options::recursive);
      const auto path = copy.Path() / std::filesystem::relative(file, folder.Path());
      ChangeFile(path, change);
    }
    MpiTestWorld().Agree("");
    CheckpointModel other{TeamWith(1), CheckpointModel::WithDepth(3), RandomDelays(3, 6)};
    return WordsThrownBy([&] { LoadCheckpoint(other.mesh, copy.Path()); });
  };
  std::size_t num_files = 0;
  for (const auto& file : FilesIn(folder.Path())) {
    if (file.extension() != ".npy") continue;
    ++num_files;
    const std::uintmax_t size = std::filesystem::file_size(file);
    for (const std::uintmax_t at : {std::uintmax_t{20}, size / 2, size - 1}) {
      CAPTURE(file, at);
      CHECK(changed(file, [&](std::string& bytes) { bytes[at] ^= 1; }).find("changed since") != std::string::npos);
    }
    CHECK(changed(file, [&](std::string& bytes) { bytes.pop_back(); }).find("changed since") != std::string::npos);
    CHECK(changed(file, [&](std::string& bytes) { bytes.clear(); }).find("changed since") != std::string::npos);
  }
  CHECK(num_files == 20);
  const auto manifest = std::filesystem::path(folder.Path()) / "checkpoint.json";
  CHECK(changed(manifest, [](std::string& bytes) {
          bytes.resize(bytes.size() / 2);
        }).find(is_root ? "is no checkpoint, or damaged" : "rank 0 failed") != std::string::npos);
  CHECK(changed(manifest, [](std::string& bytes) { bytes.replace(bytes.find("\"version\": 1"), 12, "\"version\": 9"); })
            .find(is_root ? "its format has version 9" : "rank 0 failed") != std::string::npos);
  for (const char* number : {"-1", "1.5", "33333333333333333333333333331"}) {
    const auto change = [&](std::string& bytes) {
      bytes.replace(bytes.find("\"data\": 0"), 9, std::string("\"data\": ") + number);
    };
    CHECK(changed(manifest, change).find(is_root ? "it has a number that is no whole number" : "rank 0 failed") !=
          std::string::npos);
  }
  CHECK(changed(manifest, [](std::string& bytes) { bytes.replace(bytes.find("\"network\": 0"), 12, "\"network\": 4294967296"); })
            .find(is_root ? "it has a network with too large a number" : "rank 0 failed") != std::string::npos);
}

TEST_CASE("A checkpoint of another mesh is refused, in words that say why") {
  Folder folder;
  Small small;
  SaveCheckpoint(small.mesh, folder.Path());
  const uit::Team team = TeamWith(1);
  const auto refuses = [&](Mesh& mesh, const std::string& words) {
    CheckThrows([&] { LoadCheckpoint(mesh, folder.Path()); }, words);
  };
  {
    Mesh mesh{team, MakeTorus(4, 4)};
    mesh.AddPublishedField<double>();
    refuses(mesh, "is of another graph: it has 20 nodes and 1 networks, and this mesh 16 and 1");
  }
  {
    Mesh mesh{team, MakeTorus(5, 4)};
    mesh.AddPublishedField<double>();
    refuses(mesh, "is of another graph: network 0 has other edges or weights");
  }
  {
    Mesh mesh{team, MakeTorus(4, 5)};
    refuses(mesh, "is of another program: it has 1 fields and channels, and this mesh 0");
  }
  {
    Mesh mesh{team, MakeTorus(4, 5)};
    mesh.AddPublishedField<float>();
    refuses(mesh, "is of another program: its 'field0' and 'field0' of this mesh differ in name, kind, network, type or policy");
  }
  {
    Mesh mesh{team, MakeTorus(4, 5)};
    mesh.SetName(mesh.AddPublishedField<double>(), "other");
    refuses(mesh, "is of another program: its 'field0' and 'other' of this mesh differ in name");
  }
  {
    Small other;
    CheckThrows([&] { LoadCheckpoint(other.mesh, folder.Path() + "/none"); },
                MpiTestWorld().IsRoot() ? "has no checkpoint: checkpoint.json is missing" : "rank 0 failed");
    CHECK_FALSE(HasCheckpoint(MpiTestWorld(), folder.Path() + "/none"));
  }
  {
    Small other{2};
    other.Set(5);
    LoadCheckpoint(other.mesh, folder.Path());
    CHECK(other.First() == 0);
  }
}

TEST_CASE("A checkpoint of a graph with other weights is refused") {
  Folder folder;
  const auto words_of_load = [&](double weight, bool is_saving) {
    Mesh mesh{TeamWith(1), Topology{8, {{0, 1, weight}, {1, 2, 1}, {2, 0, 3 - weight}}}};
    if (is_saving) SaveCheckpoint(mesh, folder.Path());
    return WordsThrownBy([&] { LoadCheckpoint(mesh, folder.Path()); });
  };
  CHECK(words_of_load(1, true).empty());
  CHECK(words_of_load(2, false).find("network 0 has other edges or weights") != std::string::npos);
}

TEST_CASE("A checkpoint whose messages find no room is refused") {
  Folder folder;
  const uit::Team team = TeamWith(1);
  const auto save_with = [&](std::size_t depth, bool is_saving) {
    Mesh mesh{team, MakeTorus(4, 5), CheckpointModel::WithDepth(depth)};
    const auto flow = mesh.AddChannels<std::uint32_t, uit::every>();
    if (!is_saving) return WordsThrownBy([&] { LoadCheckpoint(mesh, folder.Path()); });
    mesh.Run(EveryUpdate{.updates = 5}, [&](Node& node) {
      for (const auto edge : node.Out()) flow[edge].TryPut(7);
    });
    SaveCheckpoint(mesh, folder.Path());
    return std::string{};
  };
  save_with(5, true);
  CHECK(save_with(5, false).empty());
  Mesh mesh{team, MakeTorus(4, 5), CheckpointModel::WithDepth(5)};
  mesh.AddChannels<std::uint32_t, uit::latest>();
  CheckThrows([&] { LoadCheckpoint(mesh, folder.Path()); },
              "is of another program: its 'channels0' and 'channels0' of this mesh differ in name");
  CHECK(save_with(4, false).find("has more messages for an edge than its channel has room for; see MeshOptions::depth") !=
        std::string::npos);
}

TEST_CASE("Captures copy nothing while a checkpoint is loaded, however many messages wait in it") {
  Folder folder;
  for (const bool is_saving : {true, false}) {
    Mesh mesh{TeamWith(1), MakeTorus(4, 5), CheckpointModel::WithDepth(5)};
    const auto sum = mesh.AddField<std::uint32_t>();
    const auto flow = mesh.AddChannels<std::uint32_t, uit::every>();
    const auto film = mesh.Capture(sum, {.every = 1});
    if (!is_saving) LoadCheckpoint(mesh, folder.Path());
    CHECK(film.Count() == 0);
    mesh.Run(EveryUpdate{.updates = 3}, [&](Node& node) {
      for (const auto edge : node.In()) {
        while (!is_saving && flow[edge].TryStep()) sum[node] += flow[edge].Get();
      }
      for (const auto edge : node.Out()) flow[edge].TryPut(7);
    });
    CHECK(film.Count() == 3);
    if (is_saving) SaveCheckpoint(mesh, folder.Path());
    else mesh.Visit([&](Node& node) { CHECK(sum[node] == 4 * 7 * (3 + 2)); });  // those that waited came back
  }
}

TEST_CASE("A checkpoint with a message that is too large for the mesh is refused") {
  Folder folder;
  const auto load_with = [&](std::size_t max_message_bytes, bool is_saving) {
    Mesh mesh{TeamWith(1), MakeTorus(4, 5), {.max_message_bytes = max_message_bytes}};
    const auto rows = mesh.AddChannels<std::vector<int>, uit::every>();
    if (!is_saving) return WordsThrownBy([&] { LoadCheckpoint(mesh, folder.Path()); });
    mesh.Run(EveryUpdate{.updates = 1}, [&](Node& node) {
      for (const auto edge : node.Out()) rows[edge].TryPut(std::vector<int>(100, 7));
    });
    SaveCheckpoint(mesh, folder.Path());
    return std::string{};
  };
  load_with(1000, true);
  CHECK(load_with(1000, false).empty());
  CHECK(load_with(100, false).find("a message cannot be put back") != std::string::npos);
}

TEST_CASE("A checkpoint is replaced in one step, and only a whole one replaces another") {
  Folder folder;
  Small small;
  const auto first_saved = [&] {
    Small other;
    LoadCheckpoint(other.mesh, folder.Path());
    return other.First();
  };
  small.Set(1);
  SaveCheckpoint(small.mesh, folder.Path());
  small.Set(2);
  SaveCheckpoint(small.mesh, folder.Path());
  CHECK(first_saved() == 2);
  CHECK(FilesIn(folder.Path()).size() == 2);  // nothing is left of the older one
  const std::filesystem::path path = folder.Path();
  MpiTestWorld().Agree("");  // all have looked
  if (MpiTestWorld().IsRoot()) {  // as a killed job leaves them
    std::filesystem::create_directories(path / "data-77");
    std::ofstream(path / "data-77" / "field0.npy") << "half";
    std::ofstream(path / "checkpoint.json.1234567890abcdef.tmp") << "half";
  }
  small.Set(3);
  SaveCheckpoint(small.mesh, folder.Path());
  CHECK(first_saved() == 3);
  CHECK(FilesIn(folder.Path()).size() == 2);
  MpiTestWorld().Agree("");  // all have looked

  small.Set(4);
  std::string words;
  for (const auto& [most_bytes, file] : {std::pair{rlim_t{100}, "field0.npy"}, {rlim_t{400}, "checkpoint.json"}}) {
    words = WordsThrownBy([&] {
      const uit::testing::SmallFiles small_files(most_bytes);
      SaveCheckpoint(small.mesh, folder.Path());
    });
    CHECK((words.find(std::string(file) + ": cannot be written: ") != std::string::npos || words == "rank 0 failed"));
    CHECK(first_saved() == 3);
    CHECK(FilesIn(folder.Path()).size() == 2);
    MpiTestWorld().Agree("");  // all have looked
  }

  int lock = -1;
  if (MpiTestWorld().IsRoot()) {
    lock = open(path.c_str(), O_RDONLY);
    REQUIRE(flock(lock, LOCK_EX) == 0);
  }
  words = WordsThrownBy([&] { SaveCheckpoint(small.mesh, folder.Path()); });
  CHECK(words.find(MpiTestWorld().IsRoot() ? "another job is writing this checkpoint" : "rank 0 failed") != std::string::npos);
  if (lock >= 0) close(lock);
  SaveCheckpoint(small.mesh, folder.Path());
  CHECK(first_saved() == 4);
}

TEST_CASE("A run in which an update throws saves nothing, and names the last checkpoint") {
  Folder folder;
  Small small;
  const RunReport report = RunWithCheckpoints(small.mesh, EveryUpdate{.updates = 30}, [&](Node& node) {
    if (node.Update() == 25 && node.Id() == 3) throw std::runtime_error("as it is told");
    small.value[node] += 1;
  }, {.to = folder.Path(), .every_updates = 10});
  CHECK(report.stopped_by == StopReason::thrown);
  if (MpiTestWorld().IsRoot())
    CHECK(report.message.find("as it is told; the last checkpoint is " + folder.Path() + ", of update 20") != std::string::npos);
  Small other;
  CHECK(LoadCheckpoint(other.mesh, folder.Path()).num_updates == 20);
  CHECK(other.First() == 20);
}

TEST_CASE("What a checkpoint cannot save is refused before anything is written") {
  struct Unsaved {
    std::unique_ptr<int> number;
  };
  Folder folder;
  Small small;
  small.mesh.AddField<Unsaved>(Initial<Unsaved>([](NodeId) { return Unsaved{}; }));
  CheckThrows([&] { SaveCheckpoint(small.mesh, folder.Path()); }, "neither trivially copyable nor have a codec");
  CHECK_FALSE(std::filesystem::exists(folder.Path()));
  CheckThrows([&] { small.mesh.SetName(small.value, "with blank"); }, "letters, digits, '_' or '-'");
  CheckThrows([&] { small.mesh.SetName(small.value, "../up"); }, "letters, digits, '_' or '-'");
  const auto other = small.mesh.AddField<int>();
  small.mesh.SetName(small.value, "same");
  CheckThrows([&] { small.mesh.SetName(other, "same"); }, "another field named 'same'");
  CheckThrows([&] { small.mesh.SetName(other, "field7"); }, "without a name");
}

TEST_CASE("Runs with checkpoints refuse what they cannot do") {
  Folder folder;
  Small small;
  const auto run = [&](const CheckpointOptions& checkpoints, const RunOptions& options = {}) {
    RunWithCheckpoints(small.mesh, EveryUpdate{.updates = 3}, [](Node&) {}, checkpoints, options);
  };
  CheckThrows([&] { run({}); }, "needs a folder");
  CheckThrows([&] { run({.to = folder.Path(), .every = -1s}); }, "must not be negative");
  CheckThrows([&] { run({.to = folder.Path()}, {.record = folder.Path()}); }, "cannot be recorded or replayed");
  const uit::Team team = TeamWith(1);
  const auto periodic = [&](std::uint64_t first) {
    Mesh of{team, std::vector<NamedNetwork>{{"", MakeTorus(4, 5), {.period = 4}}}};
    return WordsThrownBy([&] { of.Run(EveryUpdate{.updates = 1}, [](Node&) {}, {.first_update = first}); });
  };
  CHECK(periodic(8).empty());
  CHECK(periodic(6).find("first_update must be a multiple of every network's period") != std::string::npos);
}
