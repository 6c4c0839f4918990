#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fstream>
#include <istream>
#include <netuit/file/atomic_file.hpp>
#include <netuit/file/line_reader.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/on_root.hpp>
#include <span>
#include <string>
#include <type_traits>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/link/world.hpp>
#include <utility>
#include <vector>

#include "demos/digital_evolution/record/gathered.hpp"
#include "demos/digital_evolution/world/world.hpp"

namespace digital_evolution {

/// The header of a checkpoint.
struct CheckpointHeader {
  std::array<char, 32> magic{};     ///< identifies the file type
  std::uint64_t format = 0;         ///< version of the format, and sizes of its types
  std::uint64_t side = 0;           ///< of the torus: rows
  std::uint64_t width = 0;          ///< of the torus: columns
  std::uint64_t seed = 0;           ///< of the run
  std::uint64_t age = 0;            ///< of the world, in updates
  std::uint64_t rules = 0;          ///< that it has lived under, see HashOf
  Ledger ledger{};                  ///< of the world
  Counters counters{};              ///< of the world
  std::uint64_t num_bytes = 0;      ///< of the places that follow
  std::uint64_t hash = 0;           ///< of all else, see HashOf
};
static_assert(std::has_unique_object_representations_v<CheckpointHeader>);  // so it may be written and hashed as bytes

/// A world in a file: the header, then for each node, by id, the number of its bytes and the bytes of World::Save.
struct Checkpoint {
  CheckpointHeader header;
  std::vector<uit::Bytes> places{};  ///< by node
};

namespace detail {
inline constexpr std::array<char, 32> checkpoint_magic{"conduit digital_evolution world"};
inline constexpr std::uint64_t checkpoint_format =
    (std::uint64_t{3} << 48) + (std::uint64_t{sizeof(Cell)} << 24) + sizeof(Outbox) + sizeof(State) + sizeof(Counters);
}  // namespace detail

/// The hash of a whole checkpoint: of its header without `hash`, and of the sum of HashOfPlace over its places.
inline std::uint64_t HashOf(CheckpointHeader header, std::uint64_t places) {
  header.hash = places;
  return HashOfPlace(~netuit::NodeId{0}, uit::BytesOf(header));
}

/// Collective, between runs. Rank 0 saves a world, and replaces an old file in one step. Throws uit::OutputError if the file
/// cannot be written.
inline void SaveCheckpoint(const std::string& path, const World& cells, const uit::World& world, std::uint64_t side,
                           std::uint64_t width, std::uint64_t seed) {
  uit::Bytes mine;
  for (std::size_t local = 0; local < cells.NumPlaces(); ++local) {
    const std::size_t at = mine.size();
    mine.resize(at + 2 * sizeof(std::uint64_t));
    cells.Save(local, mine);
    const std::uint64_t id = cells.At(local).id;
    const std::uint64_t size = mine.size() - at - 2 * sizeof(std::uint64_t);
    std::memcpy(mine.data() + at, &id, sizeof id);
    std::memcpy(mine.data() + at + sizeof id, &size, sizeof size);
  }
  CheckpointHeader header{.magic = detail::checkpoint_magic,
                          .format = detail::checkpoint_format,
                          .side = side,
                          .width = width,
                          .seed = seed,
                          .age = cells.Age(),
                          .rules = HashOf(cells.GetRules()),
                          .ledger = SumOnRoot(world, cells.SumLedger()),
                          .counters = SumOnRoot(world, cells.SumCounters())};
  const std::vector<uit::Bytes> parts = world.Gather(mine);
  netuit::OnRoot(world, [&] {
    std::vector<uit::ByteView> places(side * width);
    for (const uit::Bytes& part : parts) {
      uit::ByteReader reader(part);
      std::uint64_t id = 0;
      std::uint64_t size = 0;
      while (reader.TryRead(id) && reader.TryRead(size) && reader.TryTake(size, places[id])) {
      }
    }
    std::uint64_t hash = 0;
    for (std::size_t id = 0; id < places.size(); ++id) {
      header.num_bytes += sizeof(std::uint64_t) + places[id].size();
      hash += HashOfPlace(static_cast<netuit::NodeId>(id), places[id]);
    }
    header.hash = HashOf(header, hash);
    netuit::WriteFileAtomically(path, [&](std::ostream& out) {
      const auto write = [&out](const void* data, std::size_t size) {
        out.write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
      };
      write(&header, sizeof header);
      for (const uit::ByteView place : places) {
        const std::uint64_t size = place.size();
        write(&size, sizeof size);
        write(place.data(), place.size());
      }
    });
    return 0;
  });
}

namespace detail {
/// Calls `refuse` with a message about the first invalid place, if any.
inline void CheckPlaces(const Checkpoint& checkpoint, std::invocable<const std::string&> auto&& refuse) {
  for (std::size_t id = 0; id < checkpoint.places.size(); ++id) {
    const std::string where = "is damaged at node " + std::to_string(id) + ": ";
    uit::ByteReader reader{checkpoint.places[id]};
    try {
      Place place;
      ReadPlace(reader, place);
    } catch (const uit::InputError& error) {
      refuse(where + error.what());
    }
    if (!reader.Rest().empty()) refuse(where + "it has data after its end");
  }
}
}  // namespace detail

/// Reads a checkpoint; messages call it `name`. Throws uit::InputError if it is not a checkpoint, of another version, or
/// incomplete. Stops reading as soon as the file is invalid.
inline Checkpoint ReadCheckpoint(std::istream& stream, const std::string& name) {
  const auto refuse = [&name](const std::string& why) { throw uit::InputError(name + ": " + why); };
  const auto try_read = [&](void* to, std::size_t num_bytes) {
    stream.read(static_cast<char*>(to), static_cast<std::streamsize>(num_bytes));
    if (stream.bad()) refuse("cannot be read");
    return static_cast<std::size_t>(stream.gcount()) == num_bytes;
  };
  Checkpoint checkpoint;
  CheckpointHeader& header = checkpoint.header;
  const bool has_header = try_read(&header, sizeof header);
  if (header.magic != detail::checkpoint_magic) refuse("is not a checkpoint of digital_evolution");
  if (!has_header) refuse("is cut short");
  if (header.format != detail::checkpoint_format) refuse("is of another version of digital_evolution");
  uit::Bytes rest;
  while (rest.size() < header.num_bytes) {
    constexpr std::uint64_t block_bytes = std::uint64_t{1} << 20U;  // in blocks, because the size in the header may be wrong
    const auto num_bytes = static_cast<std::size_t>(std::min(block_bytes, header.num_bytes - rest.size()));
    rest.resize(rest.size() + num_bytes);
    if (!try_read(rest.data() + rest.size() - num_bytes, num_bytes)) refuse("is cut short");
  }
  if (stream.peek() != std::istream::traits_type::eof()) refuse("has data after its end");
  if (header.side < 3 || header.width < 3 || header.side > header.num_bytes || header.width > header.num_bytes / header.side ||
      !IsSound(header.ledger))
    refuse("is damaged");
  uit::ByteReader reader{rest};
  std::uint64_t hash = 0;
  for (std::uint64_t id = 0; id < header.side * header.width; ++id) {
    std::uint64_t size = 0;
    uit::ByteView bytes;
    if (!reader.TryRead(size) || !reader.TryTake(size, bytes)) refuse("is damaged");
    hash += HashOfPlace(static_cast<netuit::NodeId>(id), bytes);
    checkpoint.places.emplace_back(bytes.begin(), bytes.end());
  }
  if (HashOf(header, hash) != header.hash || !reader.Rest().empty()) refuse("is damaged");
  detail::CheckPlaces(checkpoint, refuse);
  return checkpoint;
}

/// ReadCheckpoint from a file.
inline Checkpoint ReadCheckpoint(const std::string& path) {
  std::ifstream stream = netuit::OpenInput(path);
  return ReadCheckpoint(stream, path);
}

/// Collective. Gives every process its part of rank 0's checkpoint. Throws uit::InputError if it is invalid.
inline void LoadCheckpoint(const Checkpoint& checkpoint, World& cells, const uit::World& world) {
  std::vector<netuit::NodeId> mine;
  for (const Place& place : cells.Places()) mine.push_back(place.id);
  const auto bytes = std::as_bytes(std::span<const netuit::NodeId>(mine));
  std::vector<uit::Bytes> parts;
  for (const uit::Bytes& ids : world.Gather(bytes)) {
    uit::Bytes& part = parts.emplace_back();
    uit::ByteReader reader(ids);
    for (netuit::NodeId id = 0; reader.TryRead(id);) {
      const uit::Bytes& place = checkpoint.places[id];
      part.insert(part.end(), place.begin(), place.end());
    }
  }
  const uit::Bytes part = world.Scatter(std::move(parts));
  uit::ByteReader reader(part);
  std::string complaint;
  try {
    for (std::size_t local = 0; local < cells.NumPlaces(); ++local) cells.Load(local, reader);
  } catch (const std::exception& error) {
    complaint = error.what();
  }
  world.Agree(complaint);
  const auto header = FromRoot(world, checkpoint.header);
  cells.SetAge(header.age);
  if (world.IsRoot()) cells.AddToRecords(header.ledger, header.counters);
  cells.Announce();
}

}  // namespace digital_evolution
