#include <netuit/file/csr_file.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <unistd.h>

#include <netuit/file/load_graph.hpp>
#include <netuit/graph/csr_rows.hpp>
#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <uit/support/error.hpp>

#include "tests/netuit/graph/graphs.hpp"
#include "tests/support/catch.hpp"

using namespace netuit;
namespace fs = std::filesystem;

namespace {

/// A file that is removed at the end.
class ScratchFile {
 public:
  ScratchFile() : path_(fs::temp_directory_path() / ("conduit_csr_file_test_" + std::to_string(::getpid()) + ".csr")) {}
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ~ScratchFile() { fs::remove(path_); }
  const fs::path& Path() const { return path_; }
  std::string Bytes() const {
    std::ifstream file{path_, std::ios::binary};
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Write(const std::string& bytes) const { std::ofstream{path_, std::ios::binary} << bytes; }

 private:
  fs::path path_;
};

/// Why a file is refused, without its name.
std::string Refusal(const ScratchFile& file) {
  try {
    ReadCsr(file.Path());
  } catch (const uit::InputError& error) {
    const std::string words = error.what();
    const std::string name = file.Path().string() + ": ";
    REQUIRE(words.starts_with(name));
    REQUIRE(words.find('\n') == std::string::npos);
    return words.substr(name.size());
  }
  return "";
}

template <typename V>
std::string With(std::string bytes, std::size_t at, V value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
  return bytes;
}

/// Where things are in the file of a path of three nodes with weights: four edges.
constexpr std::size_t at_version = 8;
constexpr std::size_t at_flags = 12;
constexpr std::size_t at_num_nodes = 16;
constexpr std::size_t at_num_edges = 24;
constexpr std::size_t at_rows = 32;
constexpr std::size_t at_targets = at_rows + 4 * 8;
constexpr std::size_t at_weights = at_targets + 4 * 4;

const Topology path{3, {{0, 1, 2}, {1, 0, 2}, {1, 2, 3}, {2, 1, 3}}};

}  // namespace

TEST_CASE("a graph that is written as CSR is read back with the same edges in the same order and the same weights") {
  const ScratchFile file;
  RandomStream random{7};
  for (const NodeId num_nodes : {0U, 1U, 2U, 5U, 40U}) {
    for (const bool has_weights : {false, true}) {
      std::vector<Edge> edges;
      if (num_nodes != 0) edges = RandomEdges(num_nodes, 3 * num_nodes, random);
      if (!has_weights) for (Edge& edge : edges) edge.weight = 1;
      const Topology given{num_nodes, std::move(edges)};
      WriteCsr(file.Path(), given);
      const Topology read = ReadCsr(file.Path());
      REQUIRE(read.NumNodes() == num_nodes);
      REQUIRE(read.NumEdges() == given.NumEdges());
      CHECK(read.HasEdgeWeights() == given.HasEdgeWeights());
      for (EdgeId edge = 0; edge < given.NumEdges(); ++edge) {
        CHECK(read.Source(edge) == given.Source(edge));
        CHECK(read.Target(edge) == given.Target(edge));
        CHECK(read.EdgeWeight(edge) == given.EdgeWeight(edge));
      }
      WriteCsr(file.Path(), read);
      CHECK(ReadCsr(file.Path()) == read);
      CHECK(ReadGraph(file.Path()) == read);
    }
  }
}

TEST_CASE("some nodes of a CSR file are read without the others") {
  const ScratchFile file;
  WriteCsr(file.Path(), path);
  CsrFile csr(file.Path());
  CHECK(csr.NumNodes() == 3);
  CHECK(csr.NumEdges() == 4);
  CHECK(csr.HasWeights());
  CHECK(csr.FirstEdge(3) == 4);
  const CsrRows rows = csr.Rows(1, 3);
  CHECK(rows.first_node == 1);
  CHECK(rows.first_out == std::vector<EdgeId>{0, 2, 3});
  CHECK(rows.targets == std::vector<NodeId>{0, 2, 1});
  CHECK(rows.weights == std::vector<double>{2, 3, 3});
  CHECK(csr.Rows(2, 2).NumNodes() == 0);
}

TEST_CASE("a graph with labels is not written as CSR") {
  const ScratchFile file;
  CHECK_THROWS_AS(WriteCsr(file.Path(), Topology(1, {}, Labels{"hub"})), uit::InputError);
  CHECK(!fs::exists(file.Path()));
}

TEST_CASE("each bad CSR file is refused in one line that names the file and the reason") {
  const ScratchFile file;
  WriteCsr(file.Path(), path);
  const std::string good = file.Bytes();
  const auto refusal = [&](const std::string& bytes) {
    file.Write(bytes);
    return Refusal(file);
  };
  CHECK(refusal(good).empty());
  CHECK(refusal("") == "is not a CSR file, but shorter than its header");
  CHECK(refusal(good.substr(0, at_rows - 1)) == "is not a CSR file, but shorter than its header");
  CHECK(refusal(With(good, 0, 'u')) == "is not a CSR file, as netuit::WriteCsr writes them");
  CHECK(refusal(With(good, at_version, std::uint32_t{2})) == "has version 2 of the CSR format, and only version 1 is read");
  CHECK(refusal(With(good, at_flags, std::uint32_t{2})) == "has unknown flags: 2");
  CHECK(refusal(With(good, at_num_nodes, std::uint64_t{1} << 32U)) == "has more than 2^32 - 1 nodes");
  const std::string size = "has " + std::to_string(good.size()) + " bytes, which ";
  CHECK(refusal(With(good, at_flags, std::uint32_t{0})) == size + "3 nodes and 4 edges without weights do not fill");
  CHECK(refusal(With(good, at_num_nodes, std::uint64_t{4})) == size + "4 nodes and 4 edges with weights do not fill");
  for (const std::uint64_t huge : {std::uint64_t{5}, std::uint64_t{1} << 62U, std::numeric_limits<std::uint64_t>::max()})
    CHECK(refusal(With(good, at_num_edges, huge)) ==
          size + "3 nodes and " + std::to_string(huge) + " edges with weights do not fill");
  CHECK(refusal(With(good, at_rows, std::uint64_t{1})) == "the first row does not begin at edge 0");
  CHECK(refusal(With(good, at_rows + 8, std::uint64_t{4})) == "the row of node 1 ends before it begins");
  CHECK(refusal(With(good, at_rows + 24, std::uint64_t{3})) == "the rows do not end at edge 4, the number of edges");
  CHECK(refusal(With(good, at_rows + 24, ~std::uint64_t{0})) == "the rows do not end at edge 4, the number of edges");
  CHECK(refusal(With(good, at_targets + 8, NodeId{3})) == "edge 1 -> 3 ends outside the 3 nodes");
  CHECK(refusal(With(good, at_weights + 8, -1.0)) == "edge 1 -> 0 has a weight that is negative or not finite");
  CHECK(refusal(With(good, at_weights, std::numeric_limits<double>::quiet_NaN())) ==
        "edge 0 -> 1 has a weight that is negative or not finite");
  for (std::size_t length = 0; length < good.size(); ++length) CHECK(!refusal(good.substr(0, length)).empty());
  CHECK(!refusal(good + '\0').empty());
}

TEST_CASE("rows beyond those of a process are not read, and rows of its own are checked by themselves") {
  const ScratchFile file;
  WriteCsr(file.Path(), path);
  file.Write(With(With(file.Bytes(), at_targets + 12, NodeId{9}), at_rows + 8, ~std::uint64_t{0}));
  CsrFile csr(file.Path());
  CHECK_THROWS_AS(csr.Rows(0, 1), uit::InputError);  // its end is beyond all edges
  CHECK_THROWS_AS(csr.Rows(1, 2), uit::InputError);
  CHECK_THROWS_AS(csr.Rows(2, 3), uit::InputError);  // the target
  file.Write(With(file.Bytes(), at_rows + 8, std::uint64_t{1}));
  CHECK(CsrFile(file.Path()).Rows(0, 2).targets == std::vector<NodeId>{1, 0, 2});
}

TEST_CASE("what is no regular file or cannot be opened is no CSR file") {
  CHECK_THROWS_AS(CsrFile("/nowhere/graph.csr"), uit::InputError);
  CHECK_THROWS_AS(CsrFile("/dev/zero"), uit::InputError);
  CHECK_THROWS_AS(CsrFile(fs::temp_directory_path()), uit::InputError);
}

TEST_CASE("limits of nodes and edges hold for CSR files") {
  const ScratchFile file;
  WriteCsr(file.Path(), path);
  CHECK(ReadGraph(file.Path(), {.max_nodes = 3, .max_edges = 4}) == path);
  CHECK_THROWS_AS(ReadGraph(file.Path(), {.max_nodes = 2}), uit::InputError);
  CHECK_THROWS_AS(ReadGraph(file.Path(), {.max_edges = 3}), uit::InputError);
}

TEST_CASE("a damaged CSR file is either read or refused") {
  const ScratchFile file;
  RandomStream random{11};
  WriteCsr(file.Path(), Topology{20, RandomEdges(20, 60, random)});
  const std::string good = file.Bytes();
  std::size_t num_refused = 0;
  constexpr std::size_t num_rounds = 3000;
  for (std::size_t round = 0; round < num_rounds; ++round) {
    std::string bytes = good;
    for (std::uint32_t damage = 1 + random.Below(3); damage > 0; --damage)
      bytes[random.Below(static_cast<std::uint32_t>(bytes.size()))] = static_cast<char>(random.Below(256));
    if (random.Below(8) == 0) bytes.resize(random.Below(static_cast<std::uint32_t>(bytes.size())));
    file.Write(bytes);
    if (!Refusal(file).empty()) ++num_refused;
  }
  CHECK(num_refused > num_rounds / 4);
  CHECK(num_refused < num_rounds);
}
