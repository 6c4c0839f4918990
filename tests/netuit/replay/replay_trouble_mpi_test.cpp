// Records that were cut short, are of another run, or are damaged; and updates that wait, throw, or act differently.
#include <algorithm>
#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <memory>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/channel_layer.hpp>
#include <netuit/mesh/field_layer.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/placement/placement.hpp>
#include <netuit/mesh/network_part.hpp>
#include <netuit/mesh/partition.hpp>
#include <netuit/replay/record_format.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/run_record.hpp>
#include <string>
#include <uit/policy.hpp>
#include <uit/support/error.hpp>
#include <utility>
#include <vector>

#include "tests/netuit/replay/replays.hpp"
#include "tests/netuit/run/chaos.hpp"
#include "tests/netuit/run/policies.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/small_files.hpp"

using namespace netuit;
using namespace netuit::testing;
using uit::testing::MpiTestWorld;
using uit::testing::SmallFiles;

namespace {

using Word = std::uint64_t;

using Row = std::vector<Word>;
using Kinds = std::vector<Kind>;

const Kind heard = ValuesOfNodes();
const Kind each = ChannelsOf<Word, uit::every>();
const Kind each_row = ChannelsOf<Row, aggregated>();
const Kind newest = ChannelsOf<Word, uit::latest>();

/// Returns the files of this process's workers in the first run.
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

/// Returns the error of a replay on this process, or nothing.
std::string Refusal(const Topology& topology, const Kinds& kinds, const Plan& plan) {
  const uit::Team team{MpiTestWorld(), {.threads = plan.num_threads}};
  Mesh mesh{team, NetworksOf(topology, kinds), SmallBuffers(topology, plan.num_threads)};
  const Chaos chaos(mesh, kinds);
  try {
    mesh.Run(plan.Schedule(), [](Node&) {}, plan.Options());
  } catch (const uit::InputError& error) {
    return error.what();
  } catch (const uit::OutputError& error) {
    return error.what();
  }
  return "";
}

/// Returns layers of a mesh of one process: fields and channels, in the order of `whats`.
enum class What { values, channels };
std::vector<std::unique_ptr<LayerBase>> MakeLayers(const std::vector<What>& whats) {
  static const FieldMemory memory{.slot_bytes = sizeof(Word)};
  static const auto partitions = [] {
    std::vector<std::unique_ptr<Partition>> made;
    made.push_back(std::make_unique<Partition>(std::make_unique<NetworkPart>(WorkerGraph{}, 1, 0, 0, 0), 0));
    return made;
  }();
  std::vector<std::unique_ptr<LayerBase>> layers;
  for (const What what : whats) {
    if (what == What::values) layers.push_back(std::make_unique<FieldLayer>(memory, uit::TypeHash<Word>(), partitions, 0, true));
    else layers.push_back(std::make_unique<ChannelLayer<Word, uit::every>>(partitions, 0, Initial<Word>()));
  }
  return layers;
}

/// A partition that is alone in its process, with a part of one network.
Partition Alone(const WorkerGraph& graph) { return {std::make_unique<NetworkPart>(graph, 1, 0, 0, 0), 0}; }

}  // namespace

TEST_CASE("A record that was cut short is replayed up to its end") {
  const Topology topology = MakeTorus(6, 6);
  for (const unsigned share : {0U, 13U, 50U, 80U}) {
    CAPTURE(share);
    Folder folder;
    const Outcome recorded = RunChaos(topology, {heard, each, each_row}, {.record = folder.Path()});
    for (const fs::path& path : OwnFiles(folder, 2))
      fs::resize_file(path, first_event + (fs::file_size(path) - first_event) * share / 100);
    const Outcome replayed = RunChaos(topology, {heard, each, each_row}, {.replay = folder.Path()});
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
    CHECK(num_replayed < num_all);  // events have any size
    if (share == 0) CHECK(num_replayed == 0);
    if (share >= 50) CHECK(num_replayed > 0);
  }
}

TEST_CASE("A node whose record ends does not complete its update") {
  Folder folder;
  RunChaos(MakeTorus(6, 6), {each}, {.record = folder.Path()});
  for (const fs::path& path : OwnFiles(folder, 2)) fs::resize_file(path, first_event - 10);  // within the header of the block
  const Outcome replayed = RunChaos(MakeTorus(6, 6), {each}, {.replay = folder.Path()});
  for (const auto& history : replayed.histories) CHECK(history.empty());
}

TEST_CASE("In mode 0 a worker whose record is cut short holds no other worker up") {
  const Topology topology = MakeTorus(6, 6);
  Folder folder;
  const Plan plan{.mode = AsyncMode::every_update, .record = folder.Path(), .num_updates = 50};
  const Outcome recorded = RunChaos(topology, {heard, each}, plan);
  const fs::path cut = OwnFiles(folder, 2).front();
  if (MpiTestWorld().IsRoot()) fs::resize_file(cut, first_event + (fs::file_size(cut) - first_event) / 2);
  const Outcome replayed = RunChaos(topology, {heard, each}, {.mode = AsyncMode::every_update, .replay = folder.Path()});
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
  contains(Refusal(topology, {heard, each}, replay), "cannot be read");
  RunChaos(topology, {heard, each}, {.record = folder.Path()});
  CHECK(Refusal(topology, {heard, each}, replay).empty());
  contains(Refusal(topology, {heard, each}, {.record = folder.Path()}), "cannot be written: File exists");
  contains(Refusal(topology, {heard, each}, {.record = folder.Path(), .replay = folder.Path()}), "a replay cannot be recorded");
  contains(Refusal(topology, {heard, each}, {.record = "/dev/null/none"}), "/dev/null/none");
  contains(Refusal(topology, {heard, each}, {.seed = 2, .replay = folder.Path()}), "its seed is 1, but this run needs 2");
  contains(Refusal(topology, {heard, each}, {.mode = AsyncMode::rolling, .replay = folder.Path()}),
           "its mode is 3, but this run needs 1");
  contains(Refusal(topology, {heard, each}, {.num_threads = 1, .replay = folder.Path()}), "its number of workers is");
  contains(Refusal(MakeTorus(4, 9), {heard, each}, replay), "was recorded with another graph, placement or program");
  contains(Refusal(topology, {heard, newest}, replay), "was recorded with another graph, placement or program");
  contains(Refusal(topology, {each, heard}, replay), "was recorded with another graph, placement or program");

  for (const fs::path& path : OwnFiles(folder, 2)) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(fs::file_size(path) - (fs::file_size(path) - first_event) / 2));
    const auto before = static_cast<char>(file.peek());
    file.put(static_cast<char>(before ^ 4));
  }
  contains(Refusal(topology, {heard, each}, replay), "is damaged");
  for (const fs::path& path : OwnFiles(folder, 2)) fs::resize_file(path, 20);
  contains(Refusal(topology, {heard, each}, replay), "is not a record of a run");
}

TEST_CASE("A replay of mode 0 is refused on every process where the record lacks messages that an earlier run left unread") {
  const Topology topology = MakeTorus(4, 4);
  const uit::Team team{MpiTestWorld(), {.threads = 2}};
  for (const bool leaves_unread : {false, true}) {
    const Folder folder;
    const auto run_both = [&](const RunOptions& options) {
      Mesh mesh{team, topology, SmallBuffers(topology, 2)};
      const auto channels = mesh.AddChannels<Word, uit::every>();
      mesh.Run(Free{.updates = 10}, [&](Node& node) {
        for (const OutEdge edge : node.Out()) if (leaves_unread) channels[edge].TryPut(node.Update());
      }, options);
      mesh.Run(EveryUpdate{.updates = 10}, [](Node&) {}, options);
    };
    RunOptions options;
    options.record = folder.Path();
    run_both(options);
    options.replay = std::exchange(options.record, "");
    if (leaves_unread) CHECK_THROWS_AS(run_both(options), uit::InputError);
    else CHECK_NOTHROW(run_both(options));
  }
}

TEST_CASE("A run whose record finds no room after the last update ends as one that threw, on every process") {
  const uit::Team team{MpiTestWorld(), {.threads = 2}};
  const Topology pairs = MakeDyadic(static_cast<NodeId>(2 * MpiTestWorld().Size()));
  const Placement placement = PlaceContiguous(pairs, {.processes = MpiTestWorld().Size(), .threads = 2});
  // A message of so many bytes is put in the first update, and recorded in the third.
  const auto run = [&](std::size_t num_bytes) {
    const Folder folder;
    RunOptions options;
    options.record = folder.Path();
    Mesh mesh{team, pairs, {.placement = placement, .max_message_bytes = replay::block_bytes}};
    const auto text = mesh.AddChannels<std::string, uit::every>();
    const std::string message(num_bytes, 'x');
    std::barrier both(2);
    mesh.Connect();  // opens what is larger than a small file
    const SmallFiles small(replay::block_grain + replay::block_bytes);
    return mesh.Run(Free{.updates = 3}, [&](Node& node) {
      if (node.Id() == 0 && node.Update() == 0) text[node.Out()[0]].TryPut(message);
      if (node.Id() == 1 && node.Update() == 2) text[node.In()[0]].TryStep();
      if (node.Update() < 2) both.arrive_and_wait();
    }, options);
  };
  std::size_t fits = 0;
  std::size_t fits_not = replay::block_bytes;
  while (fits_not - fits > 1) {
    const std::size_t middle = (fits + fits_not) / 2;
    const StopReason reason = run(middle).stopped_by;
    CHECK(CountRanks(reason == StopReason::thrown) % MpiTestWorld().Size() == 0);
    (reason == StopReason::count ? fits : fits_not) = middle;
  }
  const RunReport report = run(fits_not);
  CHECK(report.stopped_by == StopReason::thrown);
  if (MpiTestWorld().IsRoot()) CHECK(report.message.find("cannot be written: File too large") != std::string::npos);
  for (const WorkerReport& worker : report.workers) CHECK(worker.num_updates == 3);  // the message had room; what ends the record has none
}

TEST_CASE("A record that is damaged where its process was killed is replayed up to there with a warning") {
  const Topology topology = MakeTorus(6, 6);
  Folder folder;
  const Outcome recorded = RunChaos(topology, {heard, each}, {.record = folder.Path()});
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
    fs::resize_file(path, replay::block_grain + replay::block_bytes);  // as a killed process leaves it
    file.open(path, std::ios::in | std::ios::out | std::ios::binary);
    change(size - (size - first_event) / 2, 4);
  }
  const Outcome replayed = RunChaos(topology, {heard, each}, {.replay = folder.Path()});
  CHECK(IsPrefix(replayed.histories, recorded.histories));
  CHECK(replayed.histories != recorded.histories);
  CHECK(replayed.warnings.size() == 2);
  for (const std::string& words : replayed.warnings)
    CHECK(words.find(": is damaged, and is replayed up to byte ") != std::string::npos);
}

TEST_CASE("A record of layers that differ in any property is refused") {
  const Topology topology = MakeTorus(6, 6);
  Folder folder;
  RunChaos(topology, {heard, each}, {.record = folder.Path()});
  const auto check_refused = [&](const Kinds& kinds) {
    const std::string refusal = Refusal(topology, kinds, {.replay = folder.Path()});
    CAPTURE(refusal);
    CHECK(refusal.find("was recorded with another graph, placement or program") != std::string::npos);
  };
  check_refused({ValuesOfNodes(2), ChannelsOf<Word, uit::every>(2)});
  check_refused({heard, ChannelsOf<Word, uit::every>(2)});  // of another network
  check_refused({heard, each, each});
  check_refused({heard});
  check_refused({heard, each_row});
  CHECK(Refusal(topology, {heard, each}, {.replay = folder.Path()}).empty());
}

TEST_CASE("The shape of a record covers every property of a layer") {
  const LayerShape base = ShapeOfChannels<Word, uit::every>(1);
  // Returns the numbers of the properties that differ from those of the first layer.
  const auto differing = [&base](const LayerShape& other) {
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < base.size(); ++i)
      if (base[i] != other[i]) which.push_back(i);
    return which;
  };
  using Which = std::vector<std::size_t>;
  CHECK(differing(ShapeOfChannels<std::array<int, 2>, uit::every>(1)) == Which{0});
  CHECK(differing(ShapeOfChannels<std::uint32_t, uit::every>(1)) == Which{0, 1});
  CHECK(differing(MakeLayers({What::values})[0]->Shape()) == Which{2, 4, 5});  // and its policy
  CHECK(differing(ShapeOfChannels<Word, uit::every>(1, 1)) == Which{2});
  CHECK(differing(ShapeOfChannels<Word, uit::Policy{.backlog = uit::Backlog::grow}>(1)) == Which{3});
  CHECK(differing(ShapeOfChannels<Word, uit::latest>(1)) == Which{4});
  CHECK(differing(ShapeOfChannels<Word, uit::Policy{.consolidate = uit::Consolidate::pooled}>(1)) == Which{5});
  CHECK(differing(ShapeOfChannels<Word, uit::every>(2)) == Which{6});
  CHECK(differing(MakeLayers({What::channels})[0]->Shape()).empty());
}

TEST_CASE("The shape of a record covers the partition and the options of the mesh") {
  const WorkerGraph graph{.worker = 1,
                         .nodes = {3, 5},
                         .first_out = {0, 1, 2},
                         .targets = {5, 3},
                         .target_workers = {1, 0},
                         .out_edges = {7, 8},
                         .first_in = {0, 1, 2},
                         .sources = {5, 3},
                         .source_workers = {1, 0},
                         .in_edges = {8, 7},
                         .out_weights = {1, 2},
                         .in_weights = {2, 1},
                         .label_ends = {1, 2},
                         .labels = {'a', 'b'}};
  const std::vector<What> both{What::values, What::channels};
  const auto shape = [&both](const WorkerGraph& of, const MeshOptions& options = {}) {
    return netuit::detail::DigestOfShape(Alone(of), MakeLayers(both), options);
  };
  std::vector<std::uint64_t> shapes{shape(graph)};
  const auto change = [&](auto member) {
    WorkerGraph other = graph;
    auto& changed = other.*member;
    if constexpr (requires { changed.back(); }) ++changed[changed.size() / 2];  // not the last limit: the graph stays valid
    else ++changed;
    shapes.push_back(shape(other));
  };
  change(&WorkerGraph::worker);
  change(&WorkerGraph::nodes);
  change(&WorkerGraph::first_out);
  change(&WorkerGraph::targets);
  change(&WorkerGraph::target_workers);
  change(&WorkerGraph::out_edges);
  change(&WorkerGraph::first_in);
  change(&WorkerGraph::sources);
  change(&WorkerGraph::source_workers);
  change(&WorkerGraph::in_edges);
  change(&WorkerGraph::out_weights);
  change(&WorkerGraph::in_weights);
  change(&WorkerGraph::label_ends);
  change(&WorkerGraph::labels);
  shapes.push_back(shape(graph, {.depth = 3}));
  shapes.push_back(shape(graph, {.max_message_bytes = 64}));
  const auto add_shape_of = [&](const Partition& partition, const std::vector<What>& layers) {
    shapes.push_back(netuit::detail::DigestOfShape(partition, MakeLayers(layers), {}));
  };
  const Partition alone = Alone(graph);
  add_shape_of(alone, {What::channels, What::values});
  add_shape_of(alone, {What::values});
  add_shape_of(alone, {What::values, What::channels, What::channels});
  WorkerGraph other = graph;
  ++other.in_edges.back();
  for (const std::uint64_t period : {1U, 2U}) {
    for (const WorkerGraph* const second : std::array<const WorkerGraph*, 2>{&graph, &other}) {
      Partition beside = Alone(graph);
      beside.networks.push_back(std::make_unique<NetworkPart>(*second, period, 0, 0, 0));
      add_shape_of(beside, both);
    }
  }
  std::ranges::sort(shapes);
  CHECK(std::ranges::adjacent_find(shapes) == shapes.end());
}

TEST_CASE("A replay of a program that acts differently ends with an error") {
  const Topology topology = MakeTorus(6, 6);
  Folder folder;
  RunChaos(topology, {each}, {.record = folder.Path()});
  const uit::Team team{MpiTestWorld(), {.threads = 2}};
  Mesh mesh{team, topology, SmallBuffers(topology, 2)};
  const auto channels = mesh.AddChannels<Word>();
  const RunReport report = mesh.Run(Free{.updates = 1}, [&](Node& node) {
    for (const auto edge : node.Out()) channels[edge].TryFlush();
    for (const auto edge : node.Out()) channels[edge].TryPut(1);
    for (const auto edge : node.In()) channels[edge].TryStep();
  }, Plan{.replay = folder.Path()}.Options());
  CHECK(report.stopped_by == StopReason::thrown);
  if (MpiTestWorld().IsRoot()) CHECK(report.message.find("by a program that behaved differently") != std::string::npos);
}

TEST_CASE("A replay repeats puts and steps that wait, the results of polls and flushes, and refusals of large messages") {
  const Topology topology = MakeTorus(6, 6);
  Folder folder;
  const auto run = [&](const Plan& plan) {
    const uit::Team team{MpiTestWorld(), {.threads = 2}};
    Mesh mesh{team, topology, SmallBuffers(topology, 2)};
    const auto words = mesh.AddChannels<Word>();
    const auto rows = mesh.AddChannels<Row, aggregated>();
    const auto states = mesh.AddField<Word>();
    const RunReport report = mesh.Run(plan.Schedule(), [&](Node& node) {
      Word& state = states[node];
      for (const auto edge : node.Out()) {
        auto& inlet = words[edge];
        state = Mix(state, inlet.Put(Mix(state, 1), uit::After(std::chrono::microseconds(20))));
        state = Mix(state, inlet.TryFlush());
        state = Mix(state, inlet.Poll());
      }
      for (const auto edge : node.In()) {
        state = Mix(state, words[edge].Step(uit::After(std::chrono::microseconds(20))));
        state = Mix(state, words[edge].Get());
      }
      for (const auto edge : node.In()) state = Mix(state, rows[edge].Jump());
      for (const auto edge : node.Out()) {
        try {
          state = Mix(state, rows[edge].TryPut(Row(state % 12, state)));
        } catch (const uit::MessageTooLarge&) {
          state = Mix(state, 3);
        }
      }
    }, plan.Options());
    CHECK(report.ExitCode() == 0);
    CHECK((report.Balanced() || !MpiTestWorld().IsRoot()));
    return mesh.Gather(states);
  };
  const std::vector<Word> recorded = run({.record = folder.Path(), .num_updates = 30});
  CHECK(run({.replay = folder.Path()}) == recorded);
}

TEST_CASE("An update that throws does so again in its replay, at the same node and update") {
  const Topology topology = MakeTorus(6, 6);
  Folder folder;
  const auto run = [&](const RunOptions& options) {
    const uit::Team team{MpiTestWorld(), {.threads = 2}};
    const Kinds kinds{heard, each};
    Mesh mesh{team, NetworksOf(topology, kinds), SmallBuffers(topology, 2)};
    const Chaos chaos(mesh, kinds);
    const RunReport report = mesh.Run(Free{}, [&](Node& node) {
      chaos.Update(node);
      const Word state = chaos.state[node];
      if (node.Id() == 17 && node.Update() > 20 && state % 16 == 0) throw uit::Error("state " + std::to_string(state));
    }, options);
    CHECK(report.stopped_by == StopReason::thrown);
    return std::pair(report.message, mesh.Gather(chaos.state));
  };
  const auto recorded = run(Plan{.record = folder.Path()}.Options());
  CHECK(run(Plan{.replay = folder.Path()}.Options()) == recorded);
}
