#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include <netuit/graph/random_stream.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>

#include "demos/digital_evolution/world/place.hpp"

namespace digital_evolution {

namespace detail {
inline void Append(uit::Bytes& bytes, uit::ByteView more) {
  const std::size_t at = bytes.size();
  bytes.resize(at + more.size());
  if (!more.empty()) std::memcpy(bytes.data() + at, more.data(), more.size());
}
template <uit::TriviallyCopyable V>
void Append(uit::Bytes& bytes, const V& value) {
  Append(bytes, uit::BytesOf(value));
}
template <uit::TriviallyCopyable V>
V Take(uit::ByteReader& reader) {
  V value{};
  if (!reader.TryRead(value)) throw uit::InputError("the cells of a checkpoint end too soon");
  return value;
}
/// Reads a number, and that many values, but no more than the remaining bytes.
template <typename C>
C TakeRow(uit::ByteReader& reader) {
  using Value = typename C::value_type;
  const auto count = Take<std::uint32_t>(reader);
  uit::ByteView bytes;
  if (count > reader.Rest().size() / sizeof(Value) || !reader.TryTake(count * sizeof(Value), bytes)) {
    throw uit::InputError("the cells of a checkpoint end too soon");
  }
  C row(count);
  if (!bytes.empty()) std::memcpy(static_cast<void*>(row.data()), bytes.data(), bytes.size());
  return row;
}
template <typename V>
void AppendRow(uit::Bytes& bytes, std::span<const V> row) {
  Append(bytes, static_cast<std::uint32_t>(row.size()));
  Append(bytes, std::as_bytes(row));
}
}  // namespace detail

/// Appends the whole state of a place, from which it can continue: its cell and genome, waiting messages, arrived messages, and
/// the state that neighbours see. For programs built alike, on machines of one kind.
inline void SavePlace(const Place& place, uit::Bytes& bytes) {
  using detail::Append;
  using detail::AppendRow;
  Append(bytes, place.cell);
  Append(bytes, place.outbox);
  Append(bytes, place.shown);
  Append(bytes, place.told);
  Append(bytes, place.mail.transferred);
  Append(bytes, static_cast<std::uint32_t>(place.mail.offspring.size()));
  for (const Mail::Offspring& offspring : place.mail.offspring) {
    Append(bytes, offspring.facing);
    AppendRow(bytes, std::span<const std::uint32_t>(offspring.words));
  }
  AppendRow(bytes, std::span<const Mail::Post>(place.mail.post));
  if (place.cell.IsAlive()) AppendRow(bytes, std::span<const Instruction>(place.program->GetGenome()));
}

namespace detail {
/// The largest count in a checkpoint, so that sums do not overflow: a world then adds only ones.
inline constexpr std::int64_t largest_count = std::int64_t{1} << 30U;
/// The same for resource that waits for a place, and for a world's ledger.
inline constexpr std::int64_t most_transferred = std::int64_t{1} << 38U;
inline constexpr std::int64_t most_resource = std::int64_t{1} << 59U;

constexpr bool IsWithin(std::int64_t amount, std::int64_t most) { return amount >= 0 && amount <= most; }
}  // namespace detail

/// Whether a birth from a checkpoint and its genome are valid.
inline bool IsSound(const Mail::Offspring& offspring) {
  Genome genome;
  const auto birth = DecodeBirth(offspring.words, genome);
  return birth && detail::IsWithin(birth->endowment, max_stockpile) && detail::IsWithin(birth->kin_generation, detail::largest_count);
}
/// Whether a ledger from a checkpoint can be added to others without overflow.
inline bool IsSound(const Ledger& ledger) {
  return std::ranges::all_of(
      std::to_array({ledger.initial, ledger.inflow, ledger.harvested, ledger.spent, ledger.decayed, ledger.forfeited,
                     ledger.crowded_out, ledger.lost_to_empty, ledger.transfers_sent, ledger.transfers_received,
                     ledger.endowments_sent, ledger.endowments_received}),
      [](std::int64_t amount) { return detail::IsWithin(amount, detail::most_resource); });
}
/// Whether all indices and counts of a place from a checkpoint are in range.
inline bool IsSound(const Place& place) {
  const Cell& cell = place.cell;
  const auto is_count = [](std::int64_t count) { return detail::IsWithin(count, detail::largest_count); };
  const auto is_from_neighbor = [](const auto& letter) { return letter.facing < num_facings; };
  return detail::IsWithin(cell.stockpile, max_stockpile) && is_count(cell.kin_generation) && is_count(cell.age) &&
         is_count(cell.state[Sensor::births_kin]) && is_count(cell.state[Sensor::births_new]) &&
         is_count(cell.state[Sensor::packets_received]) && is_count(cell.state[Sensor::packets_sent]) &&
         detail::IsWithin(std::int64_t{cell.state[Sensor::heir]} + 1, num_facings) && detail::IsWithin(cell.state[Sensor::endowment], 255) &&
         std::ranges::all_of(place.outbox.count, [](std::uint32_t count) { return count <= max_packets; }) &&
         detail::IsWithin(place.mail.transferred, detail::most_transferred) &&
         std::ranges::all_of(place.mail.offspring, is_from_neighbor) &&
         std::ranges::all_of(place.mail.offspring, [](const Mail::Offspring& offspring) { return IsSound(offspring); }) &&
         std::ranges::all_of(place.mail.post, is_from_neighbor);
}

/// Reads a state from SavePlace, except the program. Returns the genome; none if the place is empty. Throws uit::InputError if
/// the state is invalid.
inline Genome ReadPlace(uit::ByteReader& reader, Place& place) {
  using detail::Take;
  using detail::TakeRow;
  place.cell = Take<Cell>(reader);
  place.outbox = Take<Outbox>(reader);
  place.shown = Take<State>(reader);
  place.told = Take<KinSignal>(reader);
  place.mail.transferred = Take<std::int64_t>(reader);
  place.mail.offspring.clear();
  for (auto count = Take<std::uint32_t>(reader); count != 0; --count) {
    const auto facing = Take<std::uint32_t>(reader);
    place.mail.offspring.push_back({facing, TakeRow<std::vector<std::uint32_t>>(reader)});
  }
  place.mail.post = TakeRow<std::vector<Mail::Post>>(reader);
  if (!IsSound(place)) throw uit::InputError("a cell of a checkpoint is not valid");
  place.program = nullptr;
  if (!place.cell.IsAlive()) return {};
  auto genome = TakeRow<Genome>(reader);
  if (!IsValid(genome)) throw uit::InputError("a genome of a checkpoint is not valid");
  return genome;
}

/// The same, with the program from `shelf`.
inline void LoadPlace(uit::ByteReader& reader, ProgramShelf& shelf, Place& place) {
  if (const Genome genome = ReadPlace(reader, place); !genome.empty()) place.program = shelf.Find(genome);
}

/// A 64-bit hash of a place's state; `bytes` are those of SavePlace.
inline std::uint64_t HashOfPlace(netuit::NodeId id, uit::ByteView bytes) {
  std::uint64_t hash = netuit::MixBits(id + 1);
  while (bytes.size() >= sizeof(std::uint64_t)) {
    hash = netuit::MixBits(hash ^ uit::LoadBytes<std::uint64_t>(bytes)) + bytes.size();
    bytes = bytes.subspan(sizeof(std::uint64_t));
  }
  for (const std::byte byte : bytes) hash = netuit::MixBits(hash ^ static_cast<std::uint64_t>(byte));
  return hash;
}

}  // namespace digital_evolution
