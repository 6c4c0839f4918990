#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include "amount.hpp"
#include "program.hpp"
#include "tests/support/counted_memory.hpp"

namespace bench {

/// Adds the row of what a thousand updates allocate in a steady state: what 2000 allocate beyond 1000. `update(n)` makes n updates.
template <std::invocable<std::uint64_t> F>
void AddAllocations(Program& program, const std::string& name, F&& update) {
  const auto count = [&](std::uint64_t num_updates) {
    const std::size_t before = uit::testing::num_allocations;
    update(num_updates);
    return static_cast<double>(uit::testing::num_allocations - before);
  };
  // An end allocates its record at its first unread message, which may take several runs.
  double one = count(1000);
  for (int run = 0; run < 8; ++run) one = count(1000);
  program.Add(Amount(name, count(2000) - one, "allocations", 0));
}

}  // namespace bench
