// The graph of a mesh, saved beside a checkpoint: a program that goes on gets the same networks, on any layout.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <netuit/checkpoint/checkpoint.hpp>
#include <netuit/checkpoint/digest.hpp>
#include <netuit/checkpoint/edge_order.hpp>
#include <netuit/checkpoint/saved_networks.hpp>
#include <netuit/graph/edge_delays.hpp>
#include <netuit/graph/label.hpp>
#include <netuit/graph/small_world.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run.hpp>
#include <netuit/run/schedules.hpp>
#include <uit/link/world.hpp>
#include <uit/team/team.hpp>

#include "tests/netuit/run/odd_graph.hpp"
#include "tests/netuit/run/random_delays.hpp"
#include "tests/netuit/run/workers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"
#include "tests/support/shared_folder.hpp"
#include "tests/support/thrown.hpp"

using namespace netuit;
using netuit::detail::OrderForTopology;
using netuit::testing::Folder;
using netuit::testing::MakeOddGraph;
using netuit::testing::Mix;
using netuit::testing::RandomDelays;
using netuit::testing::TeamWith;
using uit::testing::CheckThrows;
using uit::testing::MpiTestWorld;
using uit::testing::WordsThrownBy;

namespace {

constexpr NodeId num_nodes = 40;

/// A team of this process alone.
uit::Team TeamAlone(std::uint32_t threads) { return uit::Team{uit::World{}, {.threads = threads}}; }

/// Directed edges in no order, with weights, loops and parallels.
std::vector<Edge> MixedEdges(std::uint64_t seed) {
  std::vector<Edge> edges;
  for (std::uint64_t i = 0; i < 4 * std::uint64_t{num_nodes}; ++i) {
    const std::uint64_t drawn = Mix(seed, i);
    const auto target = static_cast<NodeId>(drawn / num_nodes % num_nodes);
    edges.push_back({static_cast<NodeId>(drawn % num_nodes), target, 0.5 + static_cast<double>(i % 7)});
    if (drawn % 11 < 3) edges.push_back({edges.back().target, edges.back().source, 2});
  }
  return edges;
}
Labels MakeLabels() {
  Labels labels;
  for (NodeId node = 0; node < num_nodes; ++node) labels.Add("town " + std::string(node % 5, 'x') + std::to_string(node));
  return labels;
}
std::vector<NamedNetwork> MakeNetworks(std::uint64_t seed) {
  const Labels labels = MakeLabels();
  return {{"roads", Topology{num_nodes, MixedEdges(seed), labels}, {.delays = RandomDelays(seed, 4)}},
          {"", Topology{num_nodes, MixedEdges(seed + 100), labels}, {.period = 3}},
          {"nothing", Topology{num_nodes, {}, labels}}};
}

/// Sums up values of neighbours. The result depends on the order of each node's inputs.
struct Sums {
  Sums(const uit::Team& team, const std::vector<NamedNetwork>& networks)
      : mesh(team, networks),
        value(mesh.AddPublishedField<double>([](NodeId id) { return 1.0 / (id + 3.0); })),
        weight(mesh.GetEdgeWeights()) {}
  void GoOn(std::uint64_t num_updates) {
    mesh.Run(Dataflow{.updates = num_updates}, [this](Node& node) {
      double sum = 0;
      for (const auto edge : node.In()) sum += 0.1 * weight[edge] * value[edge];
      for (const auto edge : node.In(Network{1})) sum += value[edge] / (1 + sum);
      value[node] = 0.4 * sum + 0.3 * value[node];
    }, {.first_update = mesh.NumUpdates()});
  }
  std::uint64_t Hash() {
    std::uint64_t sum = 0;
    mesh.Visit([&](Node& node) { sum += Mix(node.Id(), std::bit_cast<std::uint64_t>(value[node])); });
    std::uint64_t all = 0;
    for (const std::uint64_t theirs : mesh.GetWorld().AllGatherValue(sum)) all += theirs;
    return all;
  }
  Mesh mesh;
  PublishedField<double> value;
  EdgeWeights weight;
};

}  // namespace

TEST_CASE("Networks that were saved come back with the same edges in the same order, weights, labels, delays, names and periods") {
  for (const std::uint32_t threads : {1U, 2U}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(threads, seed);
      Folder folder;
      std::vector<NamedNetwork> saved = MakeNetworks(seed);
      if (seed == 4) saved = {{"odd", MakeOddGraph(num_nodes, 3)}, {"grid", MakeGrid(5, 8), {.delays = GaussSeidel()}}};
      if (seed == 5) saved = {{"ring", MakeSmallWorld(num_nodes, 4, 0.3, 2)}};
      if (seed % 2 == 0) SaveNetworks(Mesh{TeamWith(threads), MakeNetworks(seed + 10)}, folder.Path());  // is replaced
      const Mesh mesh{TeamWith(threads), saved};
      SaveNetworks(mesh, folder.Path());
      const std::vector<NamedNetwork> loaded = LoadNetworks(MpiTestWorld(), folder.Path());
      REQUIRE(loaded.size() == saved.size());
      for (std::size_t i = 0; i < saved.size(); ++i) {
        CHECK(loaded[i].name == saved[i].name);
        CHECK(loaded[i].options.period == saved[i].options.period);
        if (!MpiTestWorld().IsRoot()) continue;
        const Topology& graph = loaded[i].graph.Get();
        CHECK(graph == saved[i].graph.Get());
        CHECK(loaded[i].options.delays.Of(graph) == saved[i].options.delays.Of(saved[i].graph.Get()));
      }
    }
  }
}

TEST_CASE("A program goes on without its graph, on another layout, bit for bit") {
  Sums whole{TeamAlone(1), MakeNetworks(3)};
  whole.GoOn(30);
  const std::uint64_t expected = whole.Hash();
  for (const std::uint32_t threads : {1U, 2U}) {
    Folder folder;
    {
      Sums first{TeamWith(threads), MakeNetworks(3)};
      SaveNetworks(first.mesh, folder.Path());
      SaveCheckpoint(first.mesh, folder.Path());
      first.GoOn(9);
      SaveCheckpoint(first.mesh, folder.Path());  // removes the older checkpoint, and not the graph
    }
    const auto go_on = [&](const uit::Team& team) {
      Sums second{team, LoadNetworks(team.GetWorld(), folder.Path())};
      LoadCheckpoint(second.mesh, folder.Path());
      second.GoOn(21);
      CHECK(second.Hash() == expected);
    };
    go_on(TeamWith(3 - threads));
    go_on(TeamAlone(threads));
    MpiTestWorld().Agree("");
  }
}

TEST_CASE("A graph that is damaged or not there is refused, in words that say why") {
  Folder folder;
  const bool is_root = MpiTestWorld().IsRoot();
  const auto refuses = [&](const std::string& words) {
    CheckThrows([&] { LoadNetworks(MpiTestWorld(), folder.Path()); }, is_root ? words : "rank 0 failed");
  };
  refuses("has no graph: graph.json is missing");
  {
    const Mesh mesh{TeamWith(2), MakeNetworks(2)};
    SaveNetworks(mesh, folder.Path());
  }
  CHECK(LoadNetworks(MpiTestWorld(), folder.Path()).size() == 3);
  const auto change = [&](const std::filesystem::path& path, auto&& changes) {
    MpiTestWorld().Agree("");
    if (!is_root) return;
    std::ifstream in(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    changes(bytes);
    std::ofstream(path, std::ios::binary) << bytes;
  };
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.Path() + "/graph-0")) files.push_back(entry.path());
  CHECK(files.size() == 14);
  for (const auto& file : files) {
    CAPTURE(file);
    change(file, [](std::string& bytes) { bytes.back() = static_cast<char>(bytes.back() ^ 1); });
    refuses("has changed since");
    change(file, [](std::string& bytes) { bytes.back() = static_cast<char>(bytes.back() ^ 1); });
  }
  CHECK(LoadNetworks(MpiTestWorld(), folder.Path()).size() == 3);
  const std::filesystem::path manifest = folder.Path() + "/graph.json";
  change(manifest, [](std::string& bytes) { bytes.replace(bytes.find("\"nodes\": 40"), 11, "\"nodes\": 30"); });
  refuses("has changed since");
  change(manifest, [](std::string& bytes) { bytes.replace(bytes.find("\"targets\""), 9, "\"targetz\""); });
  refuses("has changed since");
  change(manifest, [](std::string& bytes) { bytes.replace(bytes.find("\"nodes\": 30"), 11, "\"nodes\": 40"); });
  refuses("has no graph that this program can read: it lacks network0.targets");
  change(manifest, [](std::string& bytes) { bytes.replace(bytes.find("\"nodes\": 40"), 11, "\"nodes\": 4294967295"); });
  refuses("it is too large");
  change(manifest, [](std::string& bytes) { bytes.resize(bytes.size() / 2); });
  refuses("is no graph, or damaged");
}

TEST_CASE("The digest of a value is the same in every version, because files have it") {
  uit::Bytes value;
  for (int i = 0; i < 11; ++i) value.push_back(static_cast<std::byte>(i * 7));
  CHECK(DigestOfValue(0, {}) == 0x5692161d100b05e5U);
  CHECK(DigestOfValue(0, value) == 0xd5adbb32a8753f86U);
  CHECK(DigestOfValue(1, {value.data(), 8}) == 0xafb8c467b140ac83U);
}

TEST_CASE("Edges and positions that no topology has are refused") {
  const auto order = [](const std::vector<Edge>& edges, const std::vector<std::uint32_t>& positions) {
    return WordsThrownBy([&] { OrderForTopology(3, edges, positions); });
  };
  CHECK(order({{0, 2}, {1, 2}}, {1, 0}).empty());
  for (const auto& [edges, positions] : std::vector<std::pair<std::vector<Edge>, std::vector<std::uint32_t>>>{
           {{{0, 2}, {1, 2}}, {0}},                                 // too few
           {{{0, 2}, {1, 2}}, {0, 0}},                              // the same twice
           {{{0, 2}, {1, 2}}, {0, 2}},                              // beyond the inputs
           {{{1, 2}, {0, 2}}, {0, 1}},                              // edges not by source
           {{{0, 3}}, {0}},                                         // beyond the nodes
           {{{0, 1}, {0, 2}, {0, 1}, {0, 2}}, {1, 1, 0, 0}}}) {     // each before another
    CAPTURE(edges.size(), positions);
    CHECK(order(edges, positions).find("its edges are not in the order of a graph") != std::string::npos);
  }
}
