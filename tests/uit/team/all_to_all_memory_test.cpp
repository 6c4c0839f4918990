// What an all-to-all among the threads of a team allocates.
#include <cstddef>
#include <string>
#include <vector>

#include <uit/link/world.hpp>
#include <uit/team/member.hpp>
#include <uit/team/team.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/counted_memory.hpp"
#include "tests/uit/team/members.hpp"

using namespace uit;
using namespace uit::testing;

TEST_CASE("In an all-to-all a member keeps the parts for itself alone, whatever their sizes and wherever they are cut") {
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
