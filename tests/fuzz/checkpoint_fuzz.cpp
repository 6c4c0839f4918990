// Checkpoints of digital_evolution are read or refused. One that was read is loaded into a world, which then runs.
#include <cstring>
#include <optional>
#include <span>
#include <sstream>

#include "demos/digital_evolution/record/checkpoint.hpp"
#include "tests/demos/digital_evolution/world/worlds.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace uit::fuzz;
using namespace digital_evolution;

constexpr std::uint64_t side = 3;

/// Returns the same bytes with a matching header, so that the reader gets past it.
std::string Repaired(std::string text) {
  CheckpointHeader header;
  if (text.size() < sizeof header) return text;
  const uit::ByteView bytes = std::as_bytes(std::span(text));
  uit::LoadBytes(header, bytes);
  header.magic = detail::checkpoint_magic;
  header.format = detail::checkpoint_format;
  header.side = header.width = side;
  header.num_bytes = text.size() - sizeof header;
  std::uint64_t hash = 0;
  uit::ByteReader reader{bytes.subspan(sizeof header)};
  for (netuit::NodeId id = 0; id < side * side; ++id) {
    std::uint64_t size = 0;
    uit::ByteView place;
    if (reader.TryRead(size) && reader.TryTake(size, place)) hash += HashOfPlace(id, place);
  }
  header.hash = HashOf(header, hash);
  std::memcpy(text.data(), &header, sizeof header);
  return text;
}

void Try(const std::string& text) {
  std::istringstream stream{text};
  std::optional<Checkpoint> checkpoint;
  if (!Accepts([&] { checkpoint = ReadCheckpoint(stream, "text"); }, "text: ", false)) return;
  if (checkpoint->header.side != side || checkpoint->header.width != side) return;
  static const netuit::Topology torus = netuit::MakeTorus(side, side);
  static const netuit::Placement placement = netuit::PlaceContiguous(torus, {.processes = 1, .threads = 1});
  digital_evolution::testing::Scene scene{torus, placement, uit::World{}, digital_evolution::testing::BusyRules(), 1};
  LoadCheckpoint(*checkpoint, scene.world, {});
  for (std::size_t local = 0; local < scene.world.NumPlaces(); ++local) {
    uit::Bytes bytes;
    scene.world.Save(local, bytes);
    const uit::Bytes& place = checkpoint->places[scene.world.At(local).id];
    // except the machine, which restarts if it does not fit the genome
    Demand(bytes.size() == place.size(), "a place comes back as large as it was");
  }
  static_cast<void>(scene.world.UnderWay());
  scene.RunInStep(32);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = TextOf(data, size);
  Try(text);
  Try(Repaired(text));
  return 0;
}
