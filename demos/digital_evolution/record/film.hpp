#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <netuit/graph/random_stream.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/on_root.hpp>
#include <netuit/file/table.hpp>
#include <netuit/run/run_options.hpp>
#include <span>
#include <string>
#include <string_view>
#include <uit/link/world.hpp>
#include <utility>
#include <vector>

#include "demos/digital_evolution/record/gathered.hpp"
#include "demos/digital_evolution/world/world.hpp"

namespace digital_evolution {

/// Records pictures of the world during a run: the kin group, genome and stockpile of each place. Each worker records its own
/// places. If a worker was late, a picture shows its previous state.
class Film {
 public:
  /// Records a picture of `world` every `interval`. In a long run it keeps only every second, fourth, … picture, to bound memory:
  /// all processes together use 192 MB, or two pictures if that is more, at 24 bytes per place. On rank 0, Save temporarily uses
  /// three times as much in addition.
  Film(const World& world, std::size_t num_threads, std::size_t num_nodes, std::chrono::nanoseconds interval)
      : world_{world},
        interval_{interval},
        max_frames_{std::clamp<std::size_t>(max_pixels / std::max<std::size_t>(num_nodes, 1), 2, 200)},
        reels_(num_threads) {}

  /// Records a worker's places. Only that worker calls this.
  void Record(const netuit::Sample& sample) {
    Reel& reel = reels_[sample.worker.thread];
    const auto number = static_cast<std::uint64_t>(sample.elapsed / interval_);
    if (number % reel.stride != 0 || (!reel.numbers.empty() && reel.numbers.back() >= number)) return;
    reel.numbers.push_back(number);
    for (const Place& place : world_.Places(sample.first_node, sample.num_nodes)) reel.pixels.push_back(Look(place, number));
    if (reel.numbers.size() >= max_frames_) Thin(reel, sample.num_nodes);
  }
  /// Collective. Rank 0 saves the pictures as CSV: a row per time and property, with 8 hexadecimal digits per place. An empty
  /// place is 0. Otherwise it is an odd number that identifies the kin group or genome, or the stockpile.
  void Save(const uit::World& world, std::size_t num_nodes, std::size_t width, const std::string& path) const {
    std::uint64_t stride = 1;
    std::vector<Pixel> mine;
    for (const Reel& reel : reels_) {
      stride = std::max(stride, reel.stride);
      mine.insert(mine.end(), reel.pixels.begin(), reel.pixels.end());
    }
    for (const std::uint64_t theirs : Gathered(world, std::span<const std::uint64_t>(&stride, 1)))
      stride = std::max(stride, theirs);
    std::vector<Pixel> all = Gathered(world, std::span<const Pixel>(mine));
    const auto save = [&] { return SaveAll(std::move(all), stride, num_nodes, width, path), 0; };
    netuit::OnRoot(world, save);
  }

 private:
  struct Pixel {
    std::uint64_t frame = 0;
    netuit::NodeId node = 0;
    std::uint32_t kin = 0;
    std::uint32_t genome = 0;
    std::uint32_t stockpile = 0;
  };
  static_assert(sizeof(Pixel) == 24);
  struct Reel {
    std::uint64_t stride = 1;
    std::vector<std::uint64_t> numbers;  // of the pictures kept
    std::vector<Pixel> pixels;           // of each picture, the worker's places
  };

  void SaveAll(std::vector<Pixel> all, std::uint64_t stride, std::size_t num_nodes, std::size_t width,
               const std::string& path) const {
    std::erase_if(all, [stride](const Pixel& pixel) { return pixel.frame % stride != 0; });
    std::ranges::sort(all, {}, &Pixel::frame);  // a place has one pixel per frame
    netuit::Table table{{"elapsed_s", "width", "property", "cells"}};
    std::vector<Pixel> now(num_nodes);
    for (std::size_t begin = 0; begin < all.size();) {
      std::size_t end = begin;
      for (; end < all.size() && all[end].frame == all[begin].frame; ++end) now[all[end].node] = all[end];
      const double elapsed = std::chrono::duration<double>(interval_).count() * static_cast<double>(all[begin].frame);
      AddRow(table, elapsed, width, "kin", now, &Pixel::kin);
      AddRow(table, elapsed, width, "genome", now, &Pixel::genome);
      AddRow(table, elapsed, width, "stockpile", now, &Pixel::stockpile);
      begin = end;
    }
    table.Save(path);
  }
  static Pixel Look(const Place& place, std::uint64_t frame) {
    if (!place.cell.IsAlive()) return {.frame = frame, .node = place.id};
    const auto mixed = [](std::uint64_t number) { return static_cast<std::uint32_t>(netuit::MixBits(number)) | 1U; };
    return {.frame = frame,
            .node = place.id,
            .kin = mixed(place.cell.group.kin),
            .genome = mixed(place.program->Hash()),
            .stockpile = static_cast<std::uint32_t>(place.cell.stockpile)};
  }
  static void Thin(Reel& reel, std::size_t num_nodes) {
    reel.stride *= 2;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < reel.numbers.size(); ++i) {
      if (reel.numbers[i] % reel.stride != 0) continue;
      std::copy_n(reel.pixels.begin() + static_cast<std::ptrdiff_t>(i * num_nodes), num_nodes,
                  reel.pixels.begin() + static_cast<std::ptrdiff_t>(kept * num_nodes));
      reel.numbers[kept++] = reel.numbers[i];
    }
    reel.numbers.resize(kept);
    reel.pixels.resize(kept * num_nodes);
  }
  static void AddRow(netuit::Table& table, double elapsed, std::size_t width, std::string_view property,
                     const std::vector<Pixel>& pixels, std::uint32_t Pixel::* value) {
    std::string cells;
    cells.reserve(8 * pixels.size());
    for (const Pixel& pixel : pixels) {
      char digits[9];
      std::snprintf(digits, sizeof digits, "%08x", static_cast<unsigned>(pixel.*value));
      cells += digits;
    }
    table.Row().Add(elapsed).Add(width).Add(property).Add(std::string_view{cells});
  }

  static constexpr std::size_t max_pixels = std::size_t{1} << 23;

  const World& world_;
  std::chrono::nanoseconds interval_;
  std::size_t max_frames_;
  std::vector<Reel> reels_;  // by thread
};

}  // namespace digital_evolution
