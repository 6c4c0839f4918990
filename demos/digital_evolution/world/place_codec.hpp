#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include <uit/codec/codec.hpp>
#include <uit/support/bytes.hpp>

#include "demos/digital_evolution/world/birth.hpp"
#include "demos/digital_evolution/world/place.hpp"

namespace digital_evolution {

namespace detail {
/// The largest count in a checkpoint, so that sums do not overflow: a world then adds only ones.
inline constexpr std::int64_t largest_count = std::int64_t{1} << 30U;

constexpr bool IsWithin(std::int64_t amount, std::int64_t most) { return amount >= 0 && amount <= most; }
}  // namespace detail

/// Whether a birth message from a checkpoint and its genome are valid.
inline bool IsSound(std::span<const std::uint32_t> words) {
  Genome genome;
  const auto birth = DecodeBirth(words, genome);
  return birth && detail::IsWithin(birth->endowment, max_stockpile) &&
         detail::IsWithin(birth->kin_generation, detail::largest_count);
}
/// Whether all indices and counts of a cell and its packets from a checkpoint are in range.
inline bool IsSound(const Cell& cell, const Outbox& outbox) {
  const auto is_count = [](std::int64_t count) { return detail::IsWithin(count, detail::largest_count); };
  return detail::IsWithin(cell.stockpile, max_stockpile) && is_count(cell.kin_generation) && is_count(cell.age) &&
         is_count(cell.state[Sensor::births_kin]) && is_count(cell.state[Sensor::births_new]) &&
         is_count(cell.state[Sensor::packets_received]) && is_count(cell.state[Sensor::packets_sent]) &&
         detail::IsWithin(std::int64_t{cell.state[Sensor::heir]} + 1, num_facings) &&
         detail::IsWithin(cell.state[Sensor::endowment], 255) &&
         std::ranges::all_of(outbox.count, [](std::uint32_t count) { return count <= max_packets; });
}

/// Copies the bytes of a place's cell, outbox and genome, from which it can continue. For programs built alike, on machines of one
/// kind.
struct PlaceCodec {
  /// Bytes of all three.
  std::size_t Size(const Place& place) const { return sizeof(Cell) + sizeof(Outbox) + GenomeOf(place).size_bytes(); }
  /// Copies them; the genome comes last.
  void Encode(const Place& place, uit::MutableByteView to) const {
    for (const uit::ByteView part : {uit::BytesOf(place.cell), uit::BytesOf(place.outbox), std::as_bytes(GenomeOf(place))}) {
      if (!part.empty()) std::memcpy(to.data(), part.data(), part.size());
      to = to.subspan(part.size());
    }
  }
  /// Copies them back if they are valid; the node and its worker stay. The program is not made for the rules of a world, so
  /// World::Load replaces it.
  bool TryDecode(uit::ByteView from, Place& into) const {
    uit::ByteReader reader(from);
    Cell cell;
    Outbox outbox;
    if (!reader.TryRead(cell) || !reader.TryRead(outbox) || !IsSound(cell, outbox)) return false;
    std::shared_ptr<const Program> program;
    if (cell.IsAlive()) {
      Genome genome(reader.Rest().size() / sizeof(Instruction));
      uit::ByteView bytes;
      if (!reader.TryTake(genome.size() * sizeof(Instruction), bytes)) return false;
      if (!bytes.empty()) std::memcpy(static_cast<void*>(genome.data()), bytes.data(), bytes.size());
      if (!IsValid(genome)) return false;
      program = std::make_shared<const Program>(std::move(genome), MachineOptions{});
    }
    if (!reader.Rest().empty()) return false;
    into.cell = cell;
    into.outbox = outbox;
    into.program = std::move(program);
    return true;
  }

 private:
  static std::span<const Instruction> GenomeOf(const Place& place) {
    return place.cell.IsAlive() ? std::span<const Instruction>(place.program->GetGenome()) : std::span<const Instruction>{};
  }
};

}  // namespace digital_evolution

/// The codec of places in checkpoints.
template <>
inline constexpr digital_evolution::PlaceCodec uit::codec_for<digital_evolution::Place>{};
