#include <algorithm>
#include <filesystem>
#include <fstream>
#include <netuit/file/adjacency_list.hpp>
#include <netuit/file/decimal.hpp>
#include <netuit/file/edge_list.hpp>
#include <netuit/file/graph_format.hpp>
#include <netuit/file/line_reader.hpp>
#include <netuit/file/metis_graph.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <time.h>
#include <unistd.h>

#include <netuit/file/load_graph.hpp>
#include <netuit/file/node_weights.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/placement/placement_file.hpp>

#include "tests/netuit/graph/graphs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"
#include "tests/uit/core/support/sanitized.hpp"

using namespace netuit;

namespace {

Topology LoadGood(const std::string& name, const GraphOptions& options = {}) {
  return ReadGraph(std::string{UIT_CORPUS} + "/good/" + name, options);
}

Topology Parse(const std::string& text, const GraphOptions& options = {}) {
  std::istringstream stream{text};
  return ReadEdgeList(stream, "text", options);
}

/// Returns the edges by label and weight, in sorted order.
std::vector<std::string> NamedEdges(const Topology& topology) {
  std::vector<std::string> names;
  for (EdgeId edge = 0; edge < topology.NumEdges(); ++edge) {
    names.push_back(topology.Label(topology.Source(edge)) + " > " + topology.Label(topology.Target(edge)) + " : " +
                    ShortestDecimal(topology.EdgeWeight(edge)));
  }
  std::sort(names.begin(), names.end());
  return names;
}

using Names = std::vector<std::string>;

/// Returns how long this thread takes to call `f`, in seconds of its CPU's time.
template <typename F>
double CpuSecondsOf(F&& f) {
  const auto seconds = [] {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  };
  const double before = seconds();
  f();
  return seconds() - before;
}

}  // namespace

TEST_CASE("NetworkX's torus is the same graph in each of its formats, tuple labels and all") {
  for (const char* name :
       {"torus_3x4.edgelist", "torus_3x4_plain.edgelist", "torus_3x4.adjlist", "torus_3x4.multiline_adjlist"}) {
    CAPTURE(name);
    const Topology topology = LoadGood(name);
    CHECK(topology.NumNodes() == 12);
    CHECK(CountOfDegree(topology, 4) == 12);
    CHECK(IsReciprocal(topology));
    CHECK(IsSimple(topology));
    CHECK(topology.Label(0) == "(0, 0)");
    CHECK(topology.Label(1) == "(1, 0)");
    CHECK(NamedEdges(topology) == NamedEdges(LoadGood("torus_3x4.edgelist")));
  }
  Names torus;
  const Topology made = MakeTorus(3, 4);
  const auto name = [](NodeId node) { return "(" + std::to_string(node / 4) + ", " + std::to_string(node % 4) + ")"; };
  for (EdgeId edge = 0; edge < made.NumEdges(); ++edge)
    torus.push_back(name(made.Source(edge)) + " > " + name(made.Target(edge)) + " : 1");
  std::sort(torus.begin(), torus.end());
  CHECK(NamedEdges(LoadGood("torus_3x4.edgelist")) == torus);
}

TEST_CASE("an adjacency list is recognised by its content if the extension does not tell") {
  const Names torus = NamedEdges(LoadGood("torus_3x4.edgelist"));
  CHECK(NamedEdges(LoadGood("torus_3x4.txt")) == torus);
  const Topology path = LoadGood("networkx.multiline");
  CHECK(NamedEdges(path) == Names{"a > b : 2", "b > a : 2", "b > c : 0.5", "c > b : 0.5"});
  const auto read = [](const std::string& text, const char* name) {
    std::istringstream stream{text};
    LineReader reader{stream, name};
    return RecogniseFormat(reader, name);
  };
  const std::string header = "#a.py\n# GMT Wed Nov 25 19:00:00 2026\n# \n";
  CHECK(read(header + "0 1 2\n", "x.txt") == GraphFormat::adjacency_list);
  CHECK(read(header, "x.txt") == GraphFormat::adjacency_list);
  CHECK(read(header + "0 2\n1 {}\n", "x") == GraphFormat::multiline_adjacency_list);
  CHECK(read("(0, 0) 1\n'a {b' {'weight': 1}\n", "x") == GraphFormat::multiline_adjacency_list);
  CHECK(read("0 1\n" + header, "x") == GraphFormat::edge_list);
  CHECK(read(header + "0 1\n", "x.edgelist") == GraphFormat::edge_list);
  CHECK(read(header + "0 0\n", "x.adjlist.gz") == GraphFormat::adjacency_list);
  CHECK(read("0 1 {'weight': 2}\n", "x.txt") == GraphFormat::edge_list);
  CHECK(read("3 2\n2\n1 3\n2\n", "x.graph") == GraphFormat::metis);
}

TEST_CASE("an edge list that resembles another format is read") {
  const auto num_nodes = [](const std::string& text) {
    std::istringstream stream{text};
    LineReader reader{stream, "x"};
    REQUIRE(RecogniseFormat(reader, "x") == GraphFormat::edge_list);
    return ReadEdgeList(reader).NumNodes();
  };
  CHECK(num_nodes("a,b c,d\n") == 2);
  CHECK(num_nodes("(0, 0) (0, 1) {'weight': 1, 'kind': 'x,y'}\n") == 2);
  CHECK(num_nodes("graph theory {'weight': 1}\n") == 2);
  CHECK(num_nodes("graph theory\n") == 2);
  CHECK(num_nodes("graphs [1]\n") == 2);
  CHECK(num_nodes("creator x\nversion y\n") == 4);
  CHECK(num_nodes("*vertex 2\n") == 2);
  CHECK(num_nodes("[1, 2] [3, 4]\n") == 2);
  CHECK(num_nodes("a;b c\n") == 2);
}

TEST_CASE("a graph that gzip has compressed is read") {
#if UIT_WITH_ZLIB
  const Names torus = NamedEdges(LoadGood("torus_3x4.edgelist"));
  CHECK(NamedEdges(LoadGood("torus_3x4_compressed.edgelist.gz")) == torus);
  CHECK(NamedEdges(LoadGood("torus_3x4.txt.gz")) == torus);
#else
  uit::testing::Skip("built without zlib");
#endif
}

TEST_CASE("weights are read from data and from a third word") {
  const Names expected{"10 > 3 : 0.25", "10 > 7 : 1.5",          "1000000000000 > 3 : 1",
                       "3 > 10 : 0.25", "3 > 1000000000000 : 1", "3 > 3 : 4",
                       "3 > 7 : 2",     "7 > 10 : 1.5",          "7 > 3 : 2"};
  CHECK(NamedEdges(LoadGood("weights_in_dict.edgelist")) == expected);
  CHECK(NamedEdges(LoadGood("weighted.edgelist")) == expected);
  CHECK(NamedEdges(LoadGood("isolated.multiline_adjlist")) == expected);
  CHECK(NamedEdges(LoadGood("numpy_weights.edgelist")) ==
        Names{"0 > 1 : 1.5", "0 > 2 : 0.002", "1 > 0 : 1.5", "1 > 2 : 3", "2 > 0 : 0.002", "2 > 1 : 3"});
}

TEST_CASE("isolated nodes survive in adjacency lists") {
  for (const char* name : {"isolated.adjlist", "isolated.multiline_adjlist"}) {
    CAPTURE(name);
    const Topology topology = LoadGood(name);
    CHECK(topology.NumNodes() == 5);
    CHECK(topology.NumEdges() == 9);
    CHECK(topology.Label(4) == "99");
    CHECK(topology.OutNeighbors(4).empty());
    CHECK(IsReciprocal(topology));
  }
}

TEST_CASE("labels with blanks are read from adjacency lists if they are in brackets or quotes") {
  const auto parse = [](const std::string& text) {
    std::istringstream stream{text};
    return NamedEdges(ReadAdjacencyList(stream, "text"));
  };
  const std::string header = "#write_adjlist.py\n# GMT Thu Jan  1 00:00:00 1970\n# \n";
  CHECK(parse(header + "'Evelyn Jefferson' E1\nE1\n") ==
        Names{"'Evelyn Jefferson' > E1 : 1", "E1 > 'Evelyn Jefferson' : 1"});
  CHECK(parse(header + "('a', 1) ('b', 2)\n('b', 2)\n") ==
        Names{"('a', 1) > ('b', 2) : 1", "('b', 2) > ('a', 1) : 1"});
  CHECK(parse("'a b'\tc\n'd e' \t c\t# a comment\nc\n").size() == 4);
}

TEST_CASE("an adjacency list written by hand may leave out lines and repeat labels") {
  std::istringstream stream{"hub left right\nleft end\nhub end\nalone\n"};
  const Topology topology = ReadAdjacencyList(stream, "text");
  CHECK(topology.NumNodes() == 5);
  CHECK(topology.NumEdges() == 8);
}

TEST_CASE("a line is one edge in a directed file and two in an undirected one") {
  for (const char* name : {"directed.edgelist", "directed.adjlist", "directed.multiline_adjlist"}) {
    CAPTURE(name);
    const std::string weight = std::string{name} == "directed.adjlist" ? "1" : "3";  // an adjacency list has no weights
    CHECK(NamedEdges(LoadGood(name, {.directed = true})) ==
          Names{"a > b : 1", "b > c : " + weight, "c > b : 1", "d > d : 1"});
    Names both_ways{"a > b : 1", "b > a : 1", "b > c : 1", "b > c : " + weight, "c > b : 1", "c > b : " + weight, "d > d : 1"};
    std::sort(both_ways.begin(), both_ways.end());
    CHECK(NamedEdges(LoadGood(name)) == both_ways);
  }
}

TEST_CASE("an edge leads from the first label to the second in every format") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("conduit_good_file_test_formats_" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const auto load = [&folder](const std::string& name, const std::string& text, bool directed) {
    std::ofstream{folder / name} << text;
    return NamedEdges(ReadGraph(folder / name, {.directed = directed}));
  };
  const Names there{"hub > left : 1", "hub > right : 1", "left > end : 1"};
  Names both_ways{"end > left : 1", "left > hub : 1", "right > hub : 1"};
  both_ways.insert(both_ways.end(), there.begin(), there.end());
  std::sort(both_ways.begin(), both_ways.end());
  for (const auto& [name, text] :
       {std::pair{"star.edgelist", "hub left\nhub right\nleft end\n"}, {"star.txt", "hub left\nhub right\nleft end\n"},
        {"star.adjlist", "hub left right\nleft end\n"},
        {"star.multiline_adjlist", "hub 2\nleft\nright\nleft 1\nend\n"},
        {"star.madjlist", "hub 2\nleft\nright\nleft 1\nend\n"}}) {
    CAPTURE(name);
    CHECK(load(name, text, true) == there);
    CHECK(load(name, text, false) == both_ways);
  }
  for (const bool directed : {false, true})  // a METIS graph lists both directions of each edge, whatever the option is
    CHECK(load("star.graph", "4 3\n2 3\n1 4\n1\n2\n", directed) ==
          Names{"1 > 2 : 1", "1 > 3 : 1", "2 > 1 : 1", "2 > 4 : 1", "3 > 1 : 1", "4 > 2 : 1"});
  std::filesystem::remove_all(folder);
}

TEST_CASE("parallel edges stay apart") {
  for (const char* name : {"parallel.edgelist", "parallel.adjlist", "parallel.multiline_adjlist"}) {
    CAPTURE(name);
    const Topology topology = LoadGood(name);
    CHECK(topology.NumNodes() == 3);
    CHECK(topology.NumEdges() == 6);
    CHECK(topology.OutNeighbors(0).size() == 2);
    CHECK(IsReciprocal(topology));
    const bool is_weighted = std::string{name} != "parallel.adjlist";
    const std::string second = is_weighted ? "2" : "1";
    CHECK(NamedEdges(topology) ==
          Names{"x > y : 1", "x > y : " + second, "y > x : 1", "y > x : " + second, "y > z : 1", "z > y : 1"});
  }
}

TEST_CASE("carriage returns, a byte-order mark, comments and empty lines are accepted") {
  CHECK(LoadGood("crlf_and_byte_order_mark.edgelist") == Parse("0 1\n1 2\n2 0\n"));
  CHECK(Parse("\n  \t\n0\t1   {}#c\n#\n1 2 #") == Parse("0 1\n1 2\n"));
}

TEST_CASE("a label is a word, or what stands in brackets or quotes") {
  const Topology odd = LoadGood("odd_labels.edgelist");
  CHECK(odd.NumNodes() == 4);
  CHECK(odd.Label(0) == "('a b', 1)");
  CHECK(odd.Label(1) == "O'Brien");
  CHECK(odd.Label(2) == "('#', 2)");
  CHECK(odd.Label(3) == "(('nested',), (1,))");

  const Topology topology = Parse("\"new york\" 'l\\'aquila' 2\n[1, 2] (-1, 0)\nköln a-b_c.d:e 1\n-1.5 007\n1 01\n");
  Names labels;
  for (NodeId node = 0; node < topology.NumNodes(); ++node) labels.push_back(topology.Label(node));
  CHECK(labels ==
        Names{"\"new york\"", "'l\\'aquila'", "[1, 2]", "(-1, 0)", "köln", "a-b_c.d:e", "-1.5", "007", "1", "01"});
  CHECK(topology.EdgeWeight(0) == 2);
}

TEST_CASE("ids up to 2^63 are labels") {
  const Topology topology = Parse("1000000000000 5\n5 9223372036854775807\n");
  CHECK(topology.NumNodes() == 3);
  CHECK(topology.Label(0) == "1000000000000");
  CHECK(topology.Label(2) == "9223372036854775807");
}

TEST_CASE("a word that starts with a digit is a label among words, and in quotes anywhere") {
  CHECK(Parse("2nd 1st\n1st 3d\n").NumNodes() == 3);
  CHECK(Parse("a 2x\n").NumNodes() == 2);
  CHECK(Parse("1 \"2x\"\n").NumNodes() == 2);
}

TEST_CASE("METIS graphs are read with all their weights") {
  const Topology plain = LoadGood("plain.graph");
  CHECK(plain.NumNodes() == 5);
  CHECK(plain.NumEdges() == 10);
  CHECK(plain.Label(0) == "1");
  CHECK(plain.OutNeighbors(4).empty());
  CHECK(std::vector<NodeId>(plain.OutNeighbors(0).begin(), plain.OutNeighbors(0).end()) ==
        std::vector<NodeId>{1, 2, 3});
  CHECK(IsReciprocal(plain));

  const Topology weighted = LoadGood("weighted.graph");
  CHECK(NamedEdges(weighted) ==
        Names{"1 > 2 : 10", "2 > 1 : 10", "2 > 3 : 20", "3 > 2 : 20", "3 > 4 : 30", "4 > 3 : 30"});
  CHECK(weighted.NodeWeight(0) == 1);
  CHECK(weighted.NodeWeight(3) == 4);

  CHECK(LoadGood("node_weights.graph").NodeWeight(1) == 7);
  CHECK(LoadGood("node_weights.graph").NodeWeight(2) == 0);
  CHECK_FALSE(LoadGood("node_weights.graph").HasEdgeWeights());
  CHECK(NamedEdges(LoadGood("edge_weights.graph")) == Names{"1 > 2 : 5", "2 > 1 : 5", "2 > 3 : 7", "3 > 2 : 7"});
  CHECK_FALSE(LoadGood("edge_weights.graph").HasNodeWeights());
  CHECK_FALSE(LoadGood("sizes.graph").HasNodeWeights());
  CHECK(LoadGood("sizes.graph").NumEdges() == 4);
}

TEST_CASE("node weights are read in node order or by label") {
  const Topology torus = LoadGood("torus_3x4.edgelist");
  const std::string folder = std::string{UIT_CORPUS} + "/good/";
  const auto in_order = LoadNodeWeights(folder + "torus_3x4.weights", torus);
  CHECK(in_order[0] == 0.5);
  CHECK(in_order[11] == 11.5);
  const auto by_label = LoadNodeWeights(folder + "torus_3x4_by_label.weights", torus);
  CHECK(by_label[0] == 0);
  CHECK(by_label[1] == 10);
  const Topology weighted = torus.WithNodeWeights(by_label);
  for (NodeId node = 0; node < 12; ++node) {
    if (weighted.Label(node) == "(2, 3)") CHECK(weighted.NodeWeight(node) == 23);
  }
}

TEST_CASE("a placement is read back as it was saved") {
  const Topology torus = LoadGood("torus_3x4.edgelist");
  const std::string folder = std::string{UIT_CORPUS} + "/good/";
  const Workers workers{.processes = 2, .threads = 2};
  const Placement placement = PlaceFromFile(torus, workers, folder + "torus_3x4.part");
  CHECK(placement == PlaceRoundRobin(torus, workers));
  CHECK(placement.Of(5) == WorkerId{0, 1});

  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("conduit_good_file_test_" + std::to_string(::getpid()));
  SavePlacement(PlaceRandom(torus, workers, 5), path);
  CHECK(PlaceFromFile(torus, workers, path) == PlaceRandom(torus, workers, 5));
  CHECK_THROWS_WITH(PlaceFromFile(torus, {.processes = 13}, path), "more workers (13) than nodes (12)");
  std::filesystem::remove(path);
}

TEST_CASE("what WriteEdgeList writes, ReadEdgeList reads") {
  RandomStream random{3};
  for (int round = 0; round < 300; ++round) {
    const NodeId num_nodes = 1 + random.Below(10);
    std::vector<Edge> edges = RandomEdges(num_nodes, 1 + random.Below(25), random);
    Labels labels;
    for (NodeId node = 0; node < num_nodes; ++node)
      labels.Add(node % 3 == 0 ? "(" + std::to_string(node) + ", 'x y')" : "n" + std::to_string(node));
    if (round % 3 == 0) {
      for (Edge& edge : edges) edge.weight = 1;
    }
    const Topology directed{num_nodes, edges, labels};
    std::stringstream text;
    WriteEdgeList(text, directed, {.directed = true});
    REQUIRE(NamedEdges(ReadEdgeList(text, "text", {.directed = true})) == NamedEdges(directed));

    std::vector<Edge> both_ways;
    for (const Edge& edge : edges) {
      both_ways.push_back(edge);
      if (edge.source != edge.target) both_ways.push_back({edge.target, edge.source, edge.weight});
    }
    const Topology undirected{num_nodes, both_ways, labels};
    std::stringstream lines;
    WriteEdgeList(lines, undirected);
    REQUIRE(NamedEdges(ReadEdgeList(lines, "text")) == NamedEdges(undirected));
  }
  std::stringstream text;
  CHECK_THROWS_WITH(WriteEdgeList(text, MakeProducerConsumer(2)),
                    "the edge from 0 to 1 has no reciprocal of the same weight");
  CHECK_THROWS_AS(WriteEdgeList(text, Topology{2, {{0, 1, 1}, {1, 0, 2}}}), uit::InputError);
}

TEST_CASE("two megabytes in any format are read in linear time, however they are arranged") {
  constexpr std::size_t num_bytes = 2'000'000;
  GraphOptions options;
  options.max_line_bytes = 2 * num_bytes;
  const auto filled = [](const std::string& begin, auto&& piece, const std::string& end = "") {
    return [=](std::size_t size) {
      std::string text = begin;
      for (std::size_t i = 0; text.size() < size; ++i) text += piece(i);
      return text + end;
    };
  };
  const auto number = [](std::size_t i) { return std::to_string(i); };
  // Checks that two megabytes take less than 40 times as long as a quarter of one: five times the share, because a quarter fits
  // into caches (21 times was seen). If each pair of words took time, it would be 64 times. Returns the number of edges of two megabytes.
  const auto linearly = [&](auto&& read, auto&& write) {
    const std::string part = write(num_bytes / 8);
    const std::string whole = write(num_bytes);
    double seconds_of_part = 1e9;
    double seconds_of_whole = 1e9;
    std::size_t num_edges = 0;
    // The least times are those that other programs have disturbed least.
    constexpr int least_times = uit::testing::is_slow_build ? 1 : 3;
    for (int i = 0; i < 10 && (i < least_times || seconds_of_whole >= 40 * seconds_of_part); ++i) {
      seconds_of_part = std::min(seconds_of_part, CpuSecondsOf([&] { read(part); }));
      seconds_of_whole = std::min(seconds_of_whole, CpuSecondsOf([&] { num_edges = read(whole); }));
    }
    CAPTURE(whole.substr(0, 40), seconds_of_part, seconds_of_whole);
    CHECK(seconds_of_whole < 40 * seconds_of_part);
    return num_edges;
  };
  const auto edges = [&](const std::string& text) { return Parse(text, options).NumEdges(); };
  CHECK(linearly(edges, filled("", [&](std::size_t i) { return number(i) + ' ' + number(i + 1) + '\n'; })) > 100'000);
  CHECK(linearly(edges, filled("", [&](std::size_t i) { return "0 " + number(i) + '\n'; })) > 200'000);  // a star
  CHECK(linearly(edges, filled("", [](std::size_t) { return "0 1\n"; })) > 400'000);                     // one pair
  CHECK(linearly(edges, filled("", [&](std::size_t i) { return "('a', " + number(i) + ") ['b c'] {'weight': 2}\n"; })) > 50'000);
  CHECK(linearly(edges, filled("0 1\n", [](std::size_t) { return "#\n"; })) == 2);
  CHECK(linearly(edges, filled("0 1 {", [&](std::size_t i) { return '\'' + number(i) + "': 1, "; }, "'weight': 1}\n")) == 2);

  const auto adjacent = [&](const std::string& text) {
    std::istringstream stream{text};
    return ReadAdjacencyList(stream, "text", options).NumEdges();
  };
  CHECK(linearly(adjacent, filled("0", [&](std::size_t i) { return ' ' + number(i + 1); })) > 200'000);
  CHECK(linearly(adjacent, filled("", [&](std::size_t i) { return number(i) + ' ' + number(i + 1) + '\n'; })) > 100'000);
  const auto multiline = [&](const std::string& text) {
    std::istringstream stream{text};
    return ReadMultilineAdjacencyList(stream, "text", options).NumEdges();
  };
  CHECK(linearly(multiline, filled("", [&](std::size_t i) { return number(i) + " 1\n" + number(i + 1) + "\n"; })) > 100'000);
  const auto one_list = [&](std::size_t size) {
    const std::size_t num_neighbors = size / 20;
    return filled("0 " + number(num_neighbors) + '\n',
                  [&](std::size_t i) { return i < num_neighbors ? number(i) + '\n' : "#\n"; })(size);
  };
  CHECK(linearly(multiline, one_list) >= 100'000);
  const auto metis = [&](const std::string& text) {
    std::istringstream stream{text};
    return ReadMetisGraph(stream, "text", options).NumEdges();
  };
  const auto star = [&](std::size_t size) {
    const std::size_t num_leaves = size * 3 / 40;
    std::string text = number(num_leaves + 1) + ' ' + number(num_leaves) + '\n';
    for (std::size_t i = 0; i < num_leaves; ++i) text += number(i + 2) + ' ';
    for (std::size_t i = 0; i < num_leaves; ++i) text += "\n1";
    return text;
  };
  CHECK(linearly(metis, star) == 2 * 150'000);
}
