// Promises of a mesh's channels that hold on every transport: within a thread, between threads, and between processes.
#include <netuit/mesh/channels.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <netuit/graph/topologies.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/run/run.hpp>
#include <uit/codec/span_codec.hpp>
#include <uit/policy.hpp>
#include <uit/support/error.hpp>
#include <uit/team/team.hpp>

#ifdef UIT_WITH_CEREAL
#include <cereal/types/string.hpp>
#include <uit/codec/cereal_codec.hpp>
#endif

#include "tests/netuit/run/policies.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/mpi_world.hpp"

using namespace netuit;
using netuit::testing::aggregated;
using uit::testing::CountRanks;
using uit::testing::MpiTestWorld;

namespace {

using Row = std::vector<std::uint32_t>;

/// Returns the warnings of a mesh's first and second run. The mesh has a channel for messages of that type.
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

/// Returns whether this rank shares memory with another rank.
bool HasNearPeer() { return MpiTestWorld().HostRanks().size() > 1; }

/// Checks that messages of three updates that wait are visited in order and stay. `message(i)` is put in update i.
template <typename T, uit::Policy policy>
void CheckUnread(std::uint32_t threads, auto&& message, const std::vector<T>& expected) {
  uit::Team team{MpiTestWorld(), {.threads = threads}};
  Mesh mesh{team, MakeRing(8), {.depth = 3}};
  const auto channels = mesh.AddChannels<T, policy>();
  mesh.Run(EveryUpdate{.updates = 3}, [&](Node& node) {
    for (const auto edge : node.Out()) channels[edge].TryPut(message(node.Update()));
  });
  for (const bool stays : {true, true, false}) {
    mesh.Visit([&](Node& node) {
      for (const auto edge : node.In()) {
        std::vector<T> found;
        channels.ForEachUnread(edge, [&](const T& unread) { found.push_back(unread); });
        CHECK(found == expected);
        if (stays) continue;
        std::vector<T> read;
        while (channels[edge].TryStep() != 0) read.push_back(channels[edge].Get());
        CHECK(read == expected);
        channels.ForEachUnread(edge, [&](const T&) { FAIL("it was read"); });
      }
    });
  }
}

/// Returns the text of MessageTooLarge, or "no error".
std::string WordsOf(auto&& put) {
  try {
    put();
  } catch (const uit::MessageTooLarge& error) {
    return error.what();
  }
  return "no error";
}

/// Nodes form a ring, one node for each thread of each process. Each puts several messages that are too large and one that is
/// not. Returns the exception texts of all puts of this process's nodes.
template <typename T, uit::Policy policy>
std::vector<std::string> WordsOfLargePuts(std::uint32_t threads, const T& small, const T& large) {
  uit::Team team{MpiTestWorld(), {.threads = threads}};
  const auto num_nodes = static_cast<NodeId>(MpiTestWorld().Size() * threads);
  std::vector<Edge> edges;
  for (NodeId node = 0; node < num_nodes; ++node) edges.push_back({node, (node + 1) % num_nodes});
  Mesh mesh{team, Topology{num_nodes, edges}, {.max_message_bytes = 400}};
  const auto channels = mesh.AddChannels<T, policy>();
  std::vector<std::vector<std::string>> words(num_nodes);
  std::vector<char> are_right(num_nodes, 0);  // only messages that are too large are dropped, and none is moved from
  mesh.Run(EveryUpdate{.updates = 2}, [&](Node& node) {
    auto& inlet = channels[node.Out()[0]];
    auto& outlet = channels[node.In()[0]];
    char& is_right = are_right[node.Id()];
    if (node.Update() == 0) {
      T moved = large;
      words[node.Id()] = {WordsOf([&] { inlet.TryPut(large); }), WordsOf([&] { inlet.TryPut(std::move(moved)); }),
                          WordsOf([&] { inlet.Put(large); }), WordsOf([&] { inlet.TryStage(large); })};
      is_right = moved == large && inlet.Tally().dropped == 4 && inlet.TryPut(small);
    } else {
      is_right = is_right && outlet.Step() && outlet.Get() == small && !outlet.TryStep();
    }
  });
  std::vector<std::string> all;
  mesh.Visit([&](Node& node) {
    CHECK(are_right[node.Id()]);
    all.insert(all.end(), words[node.Id()].begin(), words[node.Id()].end());
  });
  return all;
}

template <typename T, uit::Policy policy>
void CheckLargePuts(const T& small, const T& large) {
  for (const std::uint32_t threads : {1U, 2U}) {
    CAPTURE(threads);
    const std::string expected = "a message of 404 bytes is larger than the 400 that its conduit carries; see max_message_bytes";
    CHECK(WordsOfLargePuts<T, policy>(threads, small, large) == std::vector<std::string>(4 * threads, expected));
  }
}

#ifdef UIT_WITH_CEREAL
/// Serialised by cereal: a count of eight bytes, and the text.
struct Letter {
  std::string text;
  bool operator==(const Letter&) const = default;
  template <typename Archive>
  void serialize(Archive& archive) {
    archive(text);
  }
};
#endif

}  // namespace

#ifdef UIT_WITH_CEREAL
template <>
inline constexpr uit::CerealCodec<Letter> uit::codec_for<Letter>{};
#endif

TEST_CASE("By default aggregated channels need no warning") {
  CHECK(Warnings<int>({}).empty());
  CHECK(Warnings<Row>({}).empty());
}

TEST_CASE("A run warns once of exchanges that are too large for shared memory of their own") {
  CHECK(Warnings<int>({.buffer_bytes = 200'000}).empty());  // so many messages cannot wait
  const std::vector<std::string> warnings = Warnings<Row>({.buffer_bytes = 200'000});
  CHECK(CountRanks(!warnings.empty()) == CountRanks(HasNearPeer()));
  if (warnings.empty()) return;
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find(" cannot have shared memory of their own") != std::string::npos);
  CHECK(warnings[0].find("buffer_bytes") != std::string::npos);
  if (MpiTestWorld().Size() == 2) {
    CHECK(warnings[0].starts_with("2 exchanges with rank " + std::to_string(1 - MpiTestWorld().Rank()) + " "));
  }
}

TEST_CASE("Messages that wait between runs can be looked at, and stay") {
  for (const std::uint32_t threads : {1U, 2U}) {
    CAPTURE(threads);
    const auto number = [](std::uint64_t update) { return static_cast<std::uint32_t>(update + 5); };
    const auto row = [](std::uint64_t update) { return Row(update, 7); };
    CheckUnread<std::uint32_t, uit::every>(threads, number, {5, 6, 7});
    CheckUnread<std::uint32_t, uit::latest>(threads, number, {7});
    CheckUnread<std::uint32_t, uit::summed>(threads, number, {18});
    CheckUnread<Row, uit::every>(threads, row, {{}, {7}, {7, 7}});
  }
}

TEST_CASE("A message that is too large throws in the same words wherever its edge leads") {
  CheckLargePuts<Row, uit::every>(Row(100, 7), Row(101, 7));
  CheckLargePuts<Row, uit::latest>(Row(100, 7), Row(101, 7));
  CheckLargePuts<Row, aggregated>(Row(100, 7), Row(101, 7));
  CheckLargePuts<std::string, uit::every>(std::string(400, 'a'), std::string(404, 'a'));
#ifdef UIT_WITH_CEREAL
  CheckLargePuts<Letter, uit::every>({std::string(392, 'a')}, {std::string(396, 'a')});
#endif
}
