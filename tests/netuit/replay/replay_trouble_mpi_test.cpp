// Records that were cut short, are of something else, or damaged; and updates that wait, fail, or do otherwise.
#include <netuit/netuit.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/netuit/replay/other_layers.hpp"
#include "tests/netuit/replay/replays.hpp"
#include "tests/netuit/run/chaos.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using namespace netuit::testing;
using uit::testing::MpiTestWorld;

namespace {

using Word = std::uint64_t;

struct Heard : Multicast<Word> {};
struct Each : Unicast<Word> {};
struct EachRow : Unicast<std::vector<Word>, uit::Policy{.consolidate = uit::Consolidate::aggregated}> {};
struct Newest : Unicast<Word, uit::Policy{.retain = uit::Retain::latest}> {};

/// The files of this process's workers, in the first run.
std::vector<fs::path> OwnFiles(const Folder& folder, std::size_t num_threads) {
  std::vector<fs::path> paths;
  for (std::size_t thread = 0; thread < num_threads; ++thread)
    paths.push_back(replay::RecordPath(folder.Path(), 1, static_cast<std::uint32_t>(MpiTestWorld().Rank() * num_threads + thread)));
  return paths;
}
constexpr std::size_t first_event = replay::block_grain + sizeof(replay::BlockHeader);

bool IsPrefix(const std::vector<std::vector<std::uint64_t>>& histories, const std::vector<std::vector<std::uint64_t>>& all) {
  bool is_prefix = histories.size() == all.size();
  for (std::size_t node = 0; is_prefix && node < all.size(); ++node) {
    is_prefix = histories[node].size() <= all[node].size() &&
                std::equal(histories[node].begin(), histories[node].end(), all[node].begin());
  }
  return is_prefix;
}

/// What a replay is refused with on this process, or nothing.
template <Layer... Ls>
std::string Refusal(const Topology& topology, const Plan& plan) {
  const Placement placement = PlaceRandom(topology, {.processes = MpiTestWorld().Size(), .threads = plan.num_threads}, 3);
  TaggedMesh<Ls...> mesh{topology, placement, MpiTestWorld(), small_buffers};
  try {
    Run(mesh, {.mode = plan.mode, .num_updates = 1, .seed = plan.seed, .record = plan.record, .replay = plan.replay}, [](auto&) {});
  } catch (const uit::InputError& error) {
    return error.what();
  } catch (const uit::OutputError& error) {
    return error.what();
  }
  return "";
}

/// Layers of a mesh of one process, as these tags name them.
template <Layer... Ls>
std::vector<std::unique_ptr<LayerBase>> Layers() {
  std::vector<std::unique_ptr<Partition>> partitions;
  partitions.push_back(std::make_unique<Partition>(PlaceGraph{}));
  std::vector<std::unique_ptr<LayerBase>> layers;
  (layers.push_back(std::make_unique<typename netuit::detail::BaseOfLayer<Ls>::Type>(partitions, 0, Ls::period)), ...);
  return layers;
}

}  // namespace

TEST_CASE("A record that was cut short is replayed up to its end") {
  const Topology topology = MakeTorus(6, 6);
  for (const unsigned share : {0U, 13U, 50U, 80U}) {
    CAPTURE(share);
    Folder folder;
    const Outcome recorded = RunChaos<Heard, Each, EachRow>(topology, {.record = folder.Path()});
    for (const fs::path& path : OwnFiles(folder, 2))
      fs::resize_file(path, first_event + (fs::file_size(path) - first_event) * share / 100);
    const Outcome replayed = RunChaos<Heard, Each, EachRow>(topology, {.replay = folder.Path()});
    CHECK(IsPrefix(replayed.histories, recorded.histories));
    CHECK(replayed.warnings.size() == 2);  // one per worker
    for (const std::string& words : replayed.warnings)
      CHECK(words.find(": was cut short, and is replayed up to byte ") != std::string::npos);
    std::size_t num_all = 0;
    std::size_t num_replayed = 0;
    for (std::size_t node = 0; node < replayed.histories.size(); ++node) {
      num_all += recorded.histories[node].size();
      num_replayed += replayed.histories[node].size();
    }
    CHECK(num_replayed < num_all);  // events are of any size
    if (share == 0) CHECK(num_replayed == 0);
    if (share >= 50) CHECK(num_replayed > 0);
  }
}

TEST_CASE("What goes on in a node when a record ends is not seen by it") {
  Folder folder;
  RunChaos<Each>(MakeTorus(6, 6), {.record = folder.Path()});
  for (const fs::path& path : OwnFiles(folder, 2)) fs::resize_file(path, first_event - 10);  // within the head of the block
  const Outcome replayed = RunChaos<Each>(MakeTorus(6, 6), {.replay = folder.Path()});
  for (const auto& history : replayed.histories) CHECK(history.empty());
}

TEST_CASE("In mode 0 a worker whose record is cut short holds no other worker up") {
  const Topology topology = MakeTorus(6, 6);
  Folder folder;
  const Plan plan{.mode = AsyncMode::every_update, .record = folder.Path(), .num_updates = 50};
  const Outcome recorded = RunChaos<Heard, Each>(topology, plan);
  const fs::path cut = OwnFiles(folder, 2).front();
  if (MpiTestWorld().IsRoot()) fs::resize_file(cut, first_event + (fs::file_size(cut) - first_event) / 2);
  const Outcome replayed = RunChaos<Heard, Each>(topology, {.mode = AsyncMode::every_update, .replay = folder.Path()});
  CHECK(replayed.histories == recorded.histories);
  CHECK(replayed.warnings.size() == (MpiTestWorld().IsRoot() ? 1 : 0));
}

TEST_CASE("A foreign or damaged record is refused on every process before anything runs") {
  const Topology topology = MakeTorus(6, 6);
  Folder folder;
  const Plan replay{.replay = folder.Path()};
  const auto contains = [](const std::string& text, const std::string& part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
    CHECK(text.find('\n') == std::string::npos);
  };
  contains(Refusal<Heard, Each>(topology, replay), "cannot be read");
  RunChaos<Heard, Each>(topology, {.record = folder.Path()});
  CHECK(Refusal<Heard, Each>(topology, replay).empty());
  contains(Refusal<Heard, Each>(topology, {.record = folder.Path()}), "cannot be written: File exists");
  contains(Refusal<Heard, Each>(topology, {.record = folder.Path(), .replay = folder.Path()}), "a replay cannot be recorded");
  contains(Refusal<Heard, Each>(topology, {.record = "/dev/null/none"}), "/dev/null/none");
  contains(Refusal<Heard, Each>(topology, {.seed = 2, .replay = folder.Path()}), "is of seed 1, where 2 is to be replayed");
  contains(Refusal<Heard, Each>(topology, {.mode = AsyncMode::rolling, .replay = folder.Path()}),
           "is of mode 3, where 1 is to be replayed");
  contains(Refusal<Heard, Each>(topology, {.num_threads = 1, .replay = folder.Path()}), "is of as many workers as");
  contains(Refusal<Heard, Each>(MakeTorus(4, 9), replay), "is of another graph, placement, or program");
  contains(Refusal<Heard, Newest>(topology, replay), "is of another graph, placement, or program");
  contains(Refusal<Each, Heard>(topology, replay), "is of another graph, placement, or program");

  for (const fs::path& path : OwnFiles(folder, 2)) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(path) - (fs::file_size(path) - first_event) / 2));
    const auto before = static_cast<char>(file.peek());
    file.put(static_cast<char>(before ^ 4));
  }
  contains(Refusal<Heard, Each>(topology, replay), "is damaged");
  for (const fs::path& path : OwnFiles(folder, 2)) fs::resize_file(path, 20);
  contains(Refusal<Heard, Each>(topology, replay), "is no record of a run");
}

TEST_CASE("A record that is damaged where its process was killed is replayed up to there with a warning") {
  const Topology topology = MakeTorus(6, 6);
  Folder folder;
  const Outcome recorded = RunChaos<Heard, Each>(topology, {.record = folder.Path()});
  for (const fs::path& path : OwnFiles(folder, 2)) {
    const auto size = fs::file_size(path);
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    const auto change = [&file](std::size_t at, char bits) {
      file.seekg(static_cast<std::streamoff>(at));
      const auto before = static_cast<char>(file.peek());
      file.seekp(static_cast<std::streamoff>(at));
      file.put(static_cast<char>(before ^ bits));
    };
    file.seekp(replay::block_grain + offsetof(replay::BlockHeader, seal));
    file.write("\0\0\0\0\0\0\0\0", 8);
    file.close();
    fs::resize_file(path, replay::block_grain + replay::block_bytes);  // as a process leaves it that is killed
    file.open(path, std::ios::in | std::ios::out | std::ios::binary);
    change(size - (size - first_event) / 2, 4);
  }
  const Outcome replayed = RunChaos<Heard, Each>(topology, {.replay = folder.Path()});
  CHECK(IsPrefix(replayed.histories, recorded.histories));
  CHECK(replayed.histories != recorded.histories);
  CHECK(replayed.warnings.size() == 2);
  for (const std::string& words : replayed.warnings) CHECK(words.find(": is damaged, and is replayed up to byte ") != std::string::npos);
}

TEST_CASE("A record of layers that differ in any property is refused") {
  const Topology topology = MakeTorus(6, 6);
  Folder folder;
  RecordOtherLayers(topology, folder.Path());
  const std::string refusal = Refusal<Heard, Each>(topology, {.replay = folder.Path()});
  CAPTURE(refusal);
  CHECK(refusal.find("is of another graph, placement, or program") != std::string::npos);
}

TEST_CASE("The shape of a record covers every property of a layer") {
  struct Base : Unicast<Word> {};
  struct OtherMessage : Unicast<std::array<int, 2>> {};
  struct OtherSize : Unicast<std::uint32_t> {};
  struct OtherAddressing : Multicast<Word> {};
  struct OtherBacklog : Unicast<Word, uit::Policy{.backlog = uit::Backlog::grow}> {};
  struct OtherRetain : Unicast<Word, uit::Policy{.retain = uit::Retain::latest}> {};
  struct OtherConsolidate : Unicast<Word, uit::Policy{.consolidate = uit::Consolidate::pooled}> {};
  struct OtherPeriod : Unicast<Word, uit::Policy{}, LayerOptions{.period = 2}> {};
  // Which numbers differ from those of the first layer.
  const auto differing = []<Layer L>() {
    const LayerShape base = ShapeOfChannels<Word, Base::policy>(Base::period);
    LayerShape other = ShapeOfChannels<typename L::Message, L::policy>(L::period);
    if constexpr (MulticastLayer<L>) other = ShapeOfHalo<typename L::Message>(L::period);
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < base.size(); ++i)
      if (base[i] != other[i]) which.push_back(i);
    return which;
  };
  using Which = std::vector<std::size_t>;
  CHECK(differing.operator()<OtherMessage>() == Which{0});
  CHECK(differing.operator()<OtherSize>() == Which{0, 1});
  CHECK(differing.operator()<OtherAddressing>() == Which{2, 4, 5});  // and its policy
  CHECK(differing.operator()<OtherBacklog>() == Which{3});
  CHECK(differing.operator()<OtherRetain>() == Which{4});
  CHECK(differing.operator()<OtherConsolidate>() == Which{5});
  CHECK(differing.operator()<OtherPeriod>() == Which{6});
}

TEST_CASE("The shape of a record covers the partition and the options of the mesh") {
  const PlaceGraph graph{.worker = 1,
                         .nodes = {3, 5},
                         .first_out = {0, 1, 2},
                         .targets = {5, 3},
                         .target_workers = {1, 0},
                         .out_edges = {7, 8},
                         .first_in = {0, 1, 2},
                         .sources = {5, 3},
                         .source_workers = {1, 0},
                         .in_edges = {8, 7},
                         .label_ends = {1, 2},
                         .labels = {'a', 'b'}};
  const auto shape = [](const PlaceGraph& of, const MeshOptions& options = {}) {
    return netuit::detail::DigestOfShape(of, Layers<Heard, Each>(), options);
  };
  std::vector<std::uint64_t> shapes{shape(graph)};
  const auto change = [&](auto member) {
    PlaceGraph other = graph;
    auto& changed = other.*member;
    if constexpr (requires { changed.back(); }) ++changed.back();
    else ++changed;
    shapes.push_back(shape(other));
  };
  change(&PlaceGraph::worker);
  change(&PlaceGraph::nodes);
  change(&PlaceGraph::first_out);
  change(&PlaceGraph::targets);
  change(&PlaceGraph::target_workers);
  change(&PlaceGraph::out_edges);
  change(&PlaceGraph::first_in);
  change(&PlaceGraph::sources);
  change(&PlaceGraph::source_workers);
  change(&PlaceGraph::in_edges);
  change(&PlaceGraph::label_ends);
  change(&PlaceGraph::labels);
  shapes.push_back(shape(graph, {.depth = 3}));
  shapes.push_back(shape(graph, {.max_message_bytes = 64}));
  shapes.push_back(netuit::detail::DigestOfShape(graph, Layers<Each, Heard>(), {}));
  shapes.push_back(netuit::detail::DigestOfShape(graph, Layers<Heard>(), {}));
  shapes.push_back(netuit::detail::DigestOfShape(graph, Layers<Heard, Each, Each>(), {}));
  std::ranges::sort(shapes);
  CHECK(std::ranges::adjacent_find(shapes) == shapes.end());
}

TEST_CASE("A replay of a program that acts differently ends with an error") {
  const Topology topology = MakeTorus(6, 6);
  Folder folder;
  RunChaos<Each>(topology, {.record = folder.Path()});
  const Placement placement = PlaceRandom(topology, {.processes = MpiTestWorld().Size(), .threads = 2}, 3);
  TaggedMesh<Each> mesh{topology, placement, MpiTestWorld(), small_buffers};
  const RunReport report = Run(mesh, {.replay = folder.Path()}, [&](auto& node) {
    for (auto& inlet : node.template Out<Each>()) inlet.TryFlush();
    for (auto& inlet : node.template Out<Each>()) inlet.TryPut(1);
    for (auto& outlet : node.template In<Each>()) outlet.TryStep();
  });
  CHECK(report.stopped_by == StopReason::thrown);
  if (MpiTestWorld().IsRoot()) CHECK(report.message.find("is of a program that did otherwise") != std::string::npos);
}

TEST_CASE("Puts and steps that wait, and what polls and flushes answer, come again; and so does what is too large") {
  const Topology topology = MakeTorus(6, 6);
  Folder folder;
  const auto run = [&](const RunOptions& options) {
    TaggedMesh<Each, EachRow> mesh{topology, PlaceRandom(topology, {.processes = MpiTestWorld().Size(), .threads = 2}, 3), MpiTestWorld(),
                             small_buffers};
    std::vector<std::uint64_t> states(mesh.NumLocalNodes());
    const RunReport report = Run(mesh, options, [&](auto& node) {
      std::uint64_t& state = states[node.Index()];
      for (auto& inlet : node.template Out<Each>()) {
        state = Mix(state, inlet.Put(Mix(state, 1), uit::After(std::chrono::microseconds(20))));
        state = Mix(state, inlet.TryFlush());
        state = Mix(state, inlet.Poll());
      }
      for (auto& outlet : node.template In<Each>()) {
        state = Mix(state, outlet.Step(uit::After(std::chrono::microseconds(20))));
        state = Mix(state, outlet.Get());
      }
      for (auto& outlet : node.template In<EachRow>()) state = Mix(state, outlet.Jump());
      for (auto& inlet : node.template Out<EachRow>()) {
        try {
          state = Mix(state, inlet.TryPut(std::vector<Word>(state % 12, state)));
        } catch (const uit::MessageTooLarge&) {
          state = Mix(state, 3);
        }
      }
    });
    CHECK(report.ExitCode() == 0);
    CHECK((report.Balanced() || !MpiTestWorld().IsRoot()));
    return states;
  };
  const std::vector<std::uint64_t> recorded = run({.num_updates = 30, .record = folder.Path()});
  CHECK(run({.replay = folder.Path()}) == recorded);
}

TEST_CASE("An update that throws does so again in its replay, at the same node and update") {
  const Topology topology = MakeTorus(6, 6);
  Folder folder;
  const auto run = [&](const RunOptions& options) {
    TaggedMesh<Heard, Each> mesh{topology, PlaceRandom(topology, {.processes = MpiTestWorld().Size(), .threads = 2}, 3), MpiTestWorld()};
    std::vector<std::uint64_t> states(mesh.NumLocalNodes());
    const RunReport report = Run(mesh, options, [&](auto& node) {
      std::uint64_t& state = states[node.Index()];
      state = UpdateChaotically<Heard, Each>(node, state);
      if (node.Id() == 17 && node.Update() > 20 && state % 16 == 0) throw uit::Error("state " + std::to_string(state));
    });
    CHECK(report.stopped_by == StopReason::thrown);
    return std::pair(report.message, states);
  };
  const auto recorded = run({.record = folder.Path()});
  CHECK(run({.replay = folder.Path()}) == recorded);
}
