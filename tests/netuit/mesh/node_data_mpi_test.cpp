// Fields filled from tables and from rank 0, and tables written from fields.
#include <netuit/mesh/mesh.hpp>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <netuit/file/edge_list.hpp>
#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/on_root.hpp>
#include <netuit/run/run.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using uit::testing::MpiTestWorld;

namespace {

/// A path of eight nodes whose labels do not show their order.
Topology MakeLabelledPath() {
  std::istringstream text("north (0, 1)\n(0, 1) 7\n7 south\nsouth a,b\na,b east\neast west\nwest 2\n");
  return ReadEdgeList(text, "path");
}
uit::Team Team() { return uit::Team{MpiTestWorld(), {.threads = 2}}; }
/// A path in a folder that all processes see; the same on all processes.
std::filesystem::path ScratchFile(const std::string& name) {
  return std::filesystem::temp_directory_path() / ("conduit-node-data." + std::to_string(MpiTestWorld().Size()) + "." + name);
}
/// On rank 0, writes the text.
std::filesystem::path WithText(const std::string& name, const std::string& text) {
  const auto path = ScratchFile(name);
  if (MpiTestWorld().IsRoot()) std::ofstream(path) << text;
  MpiTestWorld().AllGatherValue(0);
  return path;
}
std::string TextOf(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}
/// On rank 0, returns the error text; elsewhere returns "RootFailed".
std::string Complaint(Mesh& mesh, const std::filesystem::path& path, const std::string& column) {
  try {
    mesh.AddField<int>(FromTable(path, column));
  } catch (const RootFailed&) {
    return "RootFailed";
  } catch (const uit::InputError& error) {
    const std::string words = error.what();
    return words.substr(words.find(".csv:") + 5);
  }
  return "";
}
void CheckRefused(Mesh& mesh, const std::string& text, const std::string& why) {
  CHECK(Complaint(mesh, WithText("bad.csv", text), "x") == (MpiTestWorld().IsRoot() ? why : "RootFailed"));
}

}  // namespace

TEST_CASE("A field is filled from a table by the labels of its nodes") {
  const auto path = WithText("good.csv",
                             "name,\"the x\",load\r\nwest,6,0.5\n7,-2,\n\"(0, 1)\",1,1e300\nnorth,0,3\n\"a,b\",4,2\nsouth,3,1\n"
                             "\neast,5,-0\n2,\"7\",9\n");
  Mesh mesh{Team(), MakeLabelledPath()};
  const auto x = mesh.AddPublishedField<std::int64_t>(FromTable(path, "the x"));
  const auto load = mesh.AddField<double>(FromTable(path, "load"));
  mesh.Visit([&](Node& node) {
    const std::int64_t expected = node.Label() == "7" ? -2 : static_cast<std::int64_t>(node.Id());
    CHECK(x[node] == expected);
    CHECK((load[node] != load[node]) == (node.Label() == "7"));
    if (node.Label() == "(0, 1)") CHECK(load[node] == 1e300);
    for (const InEdge edge : node.In()) CHECK(x[edge] == (edge.Source() == 2 ? -2 : static_cast<std::int64_t>(edge.Source())));
  });
}

TEST_CASE("A table that does not fit its graph is refused on every process in the words of rank 0") {
  Mesh mesh{Team(), MakeLabelledPath()};
  const std::string rows = "x,x\nnorth,0\n\"(0, 1)\",0\n7,0\nsouth,0\n\"a,b\",0\neast,0\n2,0\n";
  CheckRefused(mesh, rows, "8: no row for node 'west'");
  CheckRefused(mesh, rows + "up,0\n", "9: the graph has no node 'up'");
  CheckRefused(mesh, rows + "east,0\n", "9: a second row for node 'east'");
  CheckRefused(mesh, rows + "west\n", "9: 1 fields, where the first line has 2");
  CheckRefused(mesh, rows + "west,1.5\n", "9: '1.5' is not a value for column 'x'");
  CheckRefused(mesh, rows + "west,\n", "9: '' is not a value for column 'x'");
  CheckRefused(mesh, rows + "west,\"1\n", "9: a quote that is never closed; a field has one line");
  CheckRefused(mesh, "x,y,z\n", "1: no column 'x' beside the labels, only 'y', 'z'");
  CheckRefused(mesh, "", "1: the table has no first line that names its columns");
  const auto missing = ScratchFile("there is none.csv");
  CHECK_THROWS_AS(mesh.AddField<int>(FromTable(missing, "x")), uit::Error);
  CheckRefused(mesh, rows + "west,99999999999\n", "9: '99999999999' is not a value for column 'x'");
}

TEST_CASE("A field is filled from values that rank 0 has") {
  Mesh mesh{Team(), MakeTorus(4, 4)};
  std::vector<double> by_node;
  for (int i = 0; MpiTestWorld().IsRoot() && i < 16; ++i) by_node.push_back(0.5 * i);
  const auto own = mesh.AddField<double>(FromRoot(by_node));
  const auto shown = mesh.AddPublishedField<double>(FromRoot(by_node));
  mesh.Visit([&](Node& node) {
    CHECK(own[node] == 0.5 * static_cast<double>(node.Id()));
    for (const InEdge edge : node.In()) CHECK(shown[edge] == 0.5 * static_cast<double>(edge.Source()));
  });
  CHECK_THROWS_AS(mesh.AddField<double>(FromRoot(std::vector<double>(15))), uit::Error);
}

TEST_CASE("Fields that are written as a table are read back unchanged") {
  const auto path = ScratchFile("written.csv");
  Mesh mesh{Team(), MakeLabelledPath()};
  const auto theta = mesh.AddPublishedField<double>([](NodeId id) { return 1.0 / (1.0 + id); });
  const auto is_odd = mesh.AddField<bool>([](NodeId id) { return id % 2 == 1; });
  const auto word = mesh.AddField<std::string>([](NodeId id) { return std::string(id, 'x') + ",\n"; });
  mesh.WriteTable(path, Column{"theta", theta}, Column{"is odd", is_odd});
  if (MpiTestWorld().IsRoot()) {
    CHECK(TextOf(path).starts_with("label,theta,is odd\nnorth,1,0\n\"(0, 1)\",0.5,1\n7,0.3333333333333333,0\nsouth,0.25,1\n"));
  }
  const auto theta_again = mesh.AddField<double>(FromTable(path, "theta"));
  const auto is_odd_again = mesh.AddField<bool>(FromTable(path, "is odd"));
  mesh.Visit([&](Node& node) {
    CHECK(theta_again[node] == theta[node]);
    CHECK(is_odd_again[node] == is_odd[node]);
  });
  mesh.WriteTable(path, Column{"word", word});
  if (MpiTestWorld().IsRoot()) CHECK(TextOf(path).starts_with("label,word\nnorth,\",\n\"\n\"(0, 1)\",\"x,\n\"\n"));
  CHECK_THROWS_AS(mesh.WriteTable("/no/such/folder/at.csv", Column{"theta", theta}), uit::Error);
}
