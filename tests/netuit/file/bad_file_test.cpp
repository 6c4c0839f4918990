#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <netuit/file/adjacency_list.hpp>
#include <netuit/file/edge_list.hpp>
#include <netuit/file/metis_graph.hpp>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <netuit/file/load_graph.hpp>
#include <netuit/file/node_weights.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/placement/placement_file.hpp>

#include "tests/support/catch.hpp"

using namespace netuit;
namespace fs = std::filesystem;

namespace {

const fs::path corpus = UIT_CORPUS;

/// Reads a file by its extension. Weights and placements are for the 3 × 4 torus on 2 × 2 workers.
void LoadAny(const fs::path& path) {
  const auto torus = [] { return ReadGraph(corpus / "good/torus_3x4.edgelist"); };
  if (path.extension() == ".weights")
    LoadNodeWeights(path, torus());
  else if (path.extension() == ".part")
    PlaceFromFile(torus(), {.processes = 2, .threads = 2}, path);
  else
    ReadGraph(path);
}

/// A reason of expected.tsv, in which "{path}" stands for the file and "{stem}" for it without its extension.
std::string Filled(std::string reason, fs::path path) {
  for (const std::string name : {"{path}", "{stem}"}) {
    if (const std::size_t at = reason.find(name); at != std::string::npos) reason.replace(at, name.size(), path.string());
    path.replace_extension();
  }
  return reason;
}

std::string MessageOf(auto&& act) {
  try {
    act();
  } catch (const uit::InputError& error) {
    return error.what();
  }
  return "no error";
}

/// CPU time, so that other load on the machine does not count.
double SecondsOf(auto&& act) {
  const std::clock_t begin = std::clock();
  act();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// A line without an end. Counts the bytes that are read from it.
class EndlessLine : public std::streambuf {
 public:
  std::size_t num_bytes = 0;

 protected:
  int_type underflow() override {
    block_.assign(4096, 'x');
    num_bytes += block_.size();
    setg(block_.data(), block_.data(), block_.data() + block_.size());
    return traits_type::to_int_type(block_[0]);
  }

 private:
  std::string block_;
};

}  // namespace

TEST_CASE("each bad file is refused in one line that names file, line and reason") {
  std::ifstream table{corpus / "bad/expected.tsv"};
  std::size_t num_cases = 0;
  std::string row;
  while (std::getline(table, row)) {
    const std::size_t first = row.find('\t');
    const std::size_t second = row.find('\t', first + 1);
    REQUIRE(second != std::string::npos);
    const fs::path path = corpus / "bad" / row.substr(0, first);
    REQUIRE(fs::exists(path));
    std::string message;
    const double seconds = SecondsOf([&] { message = MessageOf([&] { LoadAny(path); }); });
    CHECK(message == path.string() + ":" + row.substr(first + 1, second - first - 1) + ": " + Filled(row.substr(second + 1), path));
    CHECK(message.find('\n') == std::string::npos);
    CHECK(seconds < 1);
    ++num_cases;
  }
  const auto num_files = std::distance(fs::directory_iterator{corpus / "bad"}, fs::directory_iterator{});
  CHECK(num_cases + 1 == static_cast<std::size_t>(num_files));
  CHECK(num_cases >= 60);
}

TEST_CASE("what cannot be opened is named with the system's reason") {
  CHECK(MessageOf([] { ReadGraph("/nowhere/graph.edgelist"); }) ==
        "/nowhere/graph.edgelist: cannot be opened: No such file or directory");
  CHECK(MessageOf([] { ReadGraph(corpus); }) == corpus.string() + ": is a directory");
  CHECK(MessageOf([] { ReadGraph(""); }) == ": cannot be opened: No such file or directory");
}

TEST_CASE("a compressed graph that is damaged or cut short is refused") {
  const fs::path path = fs::temp_directory_path() / ("conduit_bad_file_test_" + std::to_string(::getpid()) + ".edgelist.gz");
  std::ifstream file{corpus / "good/torus_3x4_compressed.edgelist.gz", std::ios::binary};
  const std::string whole{std::istreambuf_iterator<char>(file), {}};
  const auto refusal = [&](const std::string& bytes) {
    std::ofstream{path, std::ios::binary} << bytes;
    const std::string message = MessageOf([&] { ReadGraph(path); });
    fs::remove(path);
    return message;
  };
#if UIT_WITH_ZLIB
  CHECK(refusal(whole) == "no error");
  std::string other = whole;
  other[whole.size() - 6] ^= 1;  // of the checksum
  CHECK(refusal(other) == path.string() + ": cannot be unpacked: its data is damaged");
  for (std::size_t length = 20; length < whole.size(); length += 7)
    CHECK(refusal(whole.substr(0, length)) == path.string() + ": cannot be unpacked: the file ends too early");
#else
  CHECK(refusal(whole) == path.string() + ":1: compressed by gzip: unpack it first");
#endif
}

TEST_CASE("a file of one byte, which could begin a compressed one, is refused like any other") {
  const fs::path path = fs::temp_directory_path() / ("conduit_bad_file_test_" + std::to_string(::getpid()) + ".edgelist");
  std::ofstream{path, std::ios::binary} << '\x1F';
  const std::string message = MessageOf([&] { ReadGraph(path); });
  fs::remove(path);
  CHECK(message == path.string() + ":1: a control character: '\\x1f'");
}

TEST_CASE("an endless line is refused after one megabyte") {
  EndlessLine endless;
  std::istream stream{&endless};
  std::string message;
  const double seconds = SecondsOf([&] { message = MessageOf([&] { ReadEdgeList(stream, "endless"); }); });
  CHECK(message == "endless:1: a line longer than 1048576 bytes");
  CHECK(endless.num_bytes < 4U << 20U);
  CHECK(seconds < 1);
}

TEST_CASE("a file of one gigabyte of zeros is refused") {
  const fs::path path = fs::temp_directory_path() / ("conduit_bad_file_test_" + std::to_string(::getpid()));
  std::ofstream{path} << "0 1\n";
  fs::resize_file(path, std::uintmax_t{1} << 30U);
  std::string message;
  const double seconds = SecondsOf([&] { message = MessageOf([&] { ReadGraph(path); }); });
  fs::remove(path);
  CHECK(message == path.string() + ":2: a NUL byte: this is not text");
  CHECK(seconds < 1);
}

TEST_CASE("a graph above a limit is refused at the line that exceeds it") {
  const auto read = [](const std::string& text, const GraphOptions& options) {
    return MessageOf([&] {
      std::istringstream stream{text};
      ReadEdgeList(stream, "text", options);
    });
  };
  CHECK(read("0 1\n1 2\n2 3\n", {.max_nodes = 3}) == "text:3: more than 3 nodes");
  CHECK(read("0 1\n1 2\n2 0\n", {.max_nodes = 3}) == "no error");
  CHECK(read("0 1\n1 2\n2 3\n", {.max_edges = 2}) == "text:3: more than 2 edges");
  CHECK(read("0 1\n1 2\n", {.max_edges = 2}) == "no error");
  CHECK(read("0 1\n1 22\n", {.max_line_bytes = 3}) == "text:2: a line longer than 3 bytes");
  CHECK(read("0 1\r\n1 2\n", {.max_line_bytes = 4}) == "no error");
  const auto read_metis = [](const GraphOptions& options) {
    return MessageOf([&] {
      std::istringstream stream{"3 2\n2\n1 3\n2\n"};
      ReadMetisGraph(stream, "text", options);
    });
  };
  CHECK(read_metis({.max_nodes = 3, .max_edges = 2}) == "no error");
  CHECK(read_metis({.max_nodes = 2}) == "text:1: more than 2 nodes");
  CHECK(read_metis({.max_edges = 1}) == "text:1: more than 1 edges");
}

TEST_CASE("a weight for a node one beyond the last is refused") {
  const auto read = [](const std::string& text) {
    return MessageOf([&] {
      std::istringstream stream{text};
      ReadNodeWeights(stream, "text", MakeRing(3));  // the labels are the node numbers
    });
  };
  CHECK(read("2 1\n1 1\n0 1\n") == "no error");
  CHECK(read("2 1\n3 1\n1 1\n0 1\n") == "text:2: the graph has no node '3'");
}

TEST_CASE("a damaged file is either read or refused") {
  std::vector<std::pair<fs::path, std::string>> samples;
  for (const auto& entry : fs::directory_iterator{corpus / "good"}) {
    std::ifstream file{entry.path(), std::ios::binary};
    samples.emplace_back(entry.path(), std::string{std::istreambuf_iterator<char>{file}, {}});
  }
  std::sort(samples.begin(), samples.end());
  REQUIRE(samples.size() >= 20);
  const std::string pieces[] = {"(",  ")",    "[",        "{",          "}",   "'",  "\"", "#", " ",
                                "\n", "\r",   "-",        "9999999999", "nan", "\\", ":",  ",", std::string(1, '\0'),
                                "%",  "\xff", "'weight':"};
  const Topology torus = ReadGraph(corpus / "good/torus_3x4.edgelist");
  const GraphOptions options{.max_nodes = 1000, .max_edges = 1000};
  RandomStream random{5};
  std::size_t num_refused = 0;
  constexpr std::size_t num_rounds = 15000;
  for (std::size_t round = 0; round < num_rounds; ++round) {
    const auto& [path, original] = samples[random.Below(static_cast<std::uint32_t>(samples.size()))];
    std::string text = original;
    for (std::uint32_t damage = 1 + random.Below(3); damage > 0; --damage) {
      const std::size_t at = random.Below(static_cast<std::uint32_t>(text.size()) + 1);
      switch (random.Below(4)) {
        case 0:
          text.insert(at, pieces[random.Below(std::size(pieces))]);
          break;
        case 1:
          text.erase(at, 1 + random.Below(4));
          break;
        case 2:
          text.resize(at);
          break;
        default:
          if (at < text.size()) text[at] = static_cast<char>(random.Below(256));
          break;
      }
    }
    std::istringstream stream{text};
    try {
      const std::string extension = path.extension().string();
      if (extension == ".weights")
        ReadNodeWeights(stream, "text", torus);
      else if (extension == ".part")
        ReadPlacement(stream, "text", torus, {.processes = 2, .threads = 2});
      else if (extension == ".graph")
        ReadMetisGraph(stream, "text", options);
      else if (extension == ".adjlist")
        ReadAdjacencyList(stream, "text", options);
      else if (extension == ".multiline_adjlist")
        ReadMultilineAdjacencyList(stream, "text", options);
      else
        ReadEdgeList(stream, "text", options);
    } catch (const uit::InputError& error) {
      ++num_refused;
      const std::string message = error.what();
      REQUIRE(message.starts_with("text:"));
      REQUIRE(message.find_first_of("0123456789") == 5);
      REQUIRE(message.find(": ", 5) != std::string::npos);
      REQUIRE(message.find('\n') == std::string::npos);
    }
  }
  CHECK(num_refused > num_rounds / 4);
  CHECK(num_refused < num_rounds);
}
