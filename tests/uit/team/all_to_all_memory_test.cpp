// What a member keeps of an all-to-all.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include <uit/link/world.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/team/collectives.hpp>
#include <uit/team/member.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/counted_memory.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;

TEST_CASE("A member's part of what another brings to an all-to-all is found wherever it is cut, and not if bytes are missing") {
  constexpr std::size_t num_members = 130;  // whose places take more than the smallest piece
  const auto part = [](std::size_t to) { return std::string(to % 3 == 0 ? 0 : to, static_cast<char>('a' + to % 26)); };
  Bytes all((num_members + 1) * sizeof(std::uint64_t));
  for (std::size_t to = 0; to <= num_members; ++to) {
    const std::uint64_t place = all.size();
    std::memcpy(all.data() + to * sizeof place, &place, sizeof place);
    if (to == num_members) break;
    const std::string text = part(to);
    const ByteView bytes = std::as_bytes(std::span(text));
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  const auto keep = [](std::size_t seat, ByteView bytes, std::size_t piece_bytes) {
    detail::PartForOne kept;
    for (std::size_t at = 0; at < bytes.size(); at += piece_bytes)
      kept.Keep(seat, at, bytes.subspan(at, std::min(piece_bytes, bytes.size() - at)));
    return kept;
  };
  for (const std::size_t piece_bytes : {1U, 7U, 1024U, 1U << 20U}) {
    CAPTURE(piece_bytes);
    bool is_right = true;
    for (std::size_t seat = 0; seat < num_members; ++seat) {
      const detail::PartForOne kept = keep(seat, all, piece_bytes);
      const ByteView found = kept.Get();
      is_right &= std::string(reinterpret_cast<const char*>(found.data()), found.size()) == part(seat);
    }
    CHECK(is_right);
    const ByteView cut = ByteView(all).first(all.size() - 1);
    const std::size_t last = num_members - 2;  // the last seat with a part of some bytes
    CHECK_THROWS_AS(keep(num_members - 1, cut.first(100), piece_bytes).Get(), Error);
    CHECK_THROWS_AS(keep(last, cut, piece_bytes).Get(), Error);
  }
}

TEST_CASE("In an all-to-all a member keeps the parts for itself alone, whatever their sizes") {
  constexpr std::size_t num_members = 16;
  const Team team{World{}, {.threads = num_members}};
  const auto part = [](std::size_t from, std::size_t to) {  // some are empty, some longer than what is brought at once
    const std::size_t num_bytes = from == to ? 0 : (from * 7 + to * 13) % 29 == 0 ? 150'000 : 1'000 * (from + to);
    return std::string(num_bytes, static_cast<char>('a' + (from + 3 * to) % 26));
  };
  std::size_t num_part_bytes = 0;
  for (std::size_t from = 0; from < num_members; ++from)
    for (std::size_t to = 0; to < num_members; ++to) num_part_bytes += part(from, to).size();
  Checks checks;
  const std::size_t before = num_allocated_bytes.load();
  team.Run([&](Member& me) {
    std::vector<std::string> parts;
    for (std::size_t to = 0; to < me.Size(); ++to) parts.push_back(part(me.Rank(), to));
    const std::vector<std::string> received = me.AllToAll(parts);
    bool is_right = received.size() == me.Size();
    for (std::size_t from = 0; is_right && from < me.Size(); ++from) is_right = received[from] == part(from, me.Rank());
    THAT(is_right);
  });
  // The parts here twice, encoded alone and together, which grows, received and decoded. All of all would be 16 times as much again.
  CHECK(num_allocated_bytes.load() - before < 16 * num_part_bytes);
}
