// What channels of a mesh promise whatever carries their messages: within a thread, between threads, and between processes.
#include <netuit/mesh/channels.hpp>

#include <cstddef>
#include <cstdint>
#include <netuit/netuit.hpp>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using uit::testing::CountRanks;
using uit::testing::MpiTestWorld;

namespace {

using Row = std::vector<std::uint32_t>;
constexpr uit::Policy aggregated{.consolidate = uit::Consolidate::aggregated};

/// What the first run and the second run of a mesh warn of, with a channel for messages of that type.
template <typename T>
std::vector<std::string> Warnings(const MeshOptions& options) {
  uit::Team team{MpiTestWorld()};
  Mesh mesh{team, MakeRing(8), options};
  const auto channels = mesh.AddChannels<T, aggregated>();
  std::vector<std::string> warnings;
  RunOptions run;
  run.on_warning = [&](const std::string& words) { warnings.push_back(words); };
  for (int i = 0; i < 2; ++i) {
    mesh.Run(EveryUpdate{.updates = 3}, [&](Node& node) {
      for (const auto edge : node.Out()) channels[edge].TryPut(T{});
      for (const auto edge : node.In()) channels[edge].Jump();
    }, run);
  }
  return warnings;
}

/// Whether this rank has a peer that it shares memory with.
bool HasNearPeer() { return MpiTestWorld().NodeRanks().size() > 1; }

}  // namespace

TEST_CASE("By default an aggregated layer needs no warning") {
  CHECK(Warnings<int>({}).empty());
  CHECK(Warnings<Row>({}).empty());
}

TEST_CASE("A run warns once of exchanges that are too large for shared memory of their own") {
  const std::vector<std::string> warnings = Warnings<int>({.buffer_bytes = 200'000});
  CHECK(CountRanks(!warnings.empty()) == CountRanks(HasNearPeer()));
  if (warnings.empty()) return;
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find(" cannot have shared memory of their own") != std::string::npos);
  CHECK(warnings[0].find("buffer_bytes") != std::string::npos);
  if (MpiTestWorld().Size() == 2) {
    CHECK(warnings[0].starts_with("2 exchanges with rank " + std::to_string(1 - MpiTestWorld().Rank()) + " "));
  }
}
