#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace uit::testing {

/// Runs a scenario under every order of its events, depth first. Each order starts from the beginning.
///
/// A scenario has `NumEvents()`, the number of events that can come next (0: it is over), `Do(n)`, which makes the n-th of
/// them happen, and `Finish()`. `make()` creates a scenario. Returns the number of orders, or `max_orders` + 1 if there were
/// more.
template <typename Make>
std::uint64_t ForEachOrder(Make&& make, std::uint64_t max_orders) {
  struct Choice {
    std::size_t chosen, num_events;
  };
  std::vector<Choice> choices;
  for (std::uint64_t num_orders = 1; num_orders <= max_orders; ++num_orders) {
    auto scenario = make();
    for (std::size_t depth = 0; const std::size_t num_events = scenario.NumEvents(); ++depth) {
      if (depth == choices.size()) choices.push_back({0, num_events});
      scenario.Do(choices[depth].chosen);
    }
    scenario.Finish();
    while (!choices.empty() && choices.back().chosen + 1 == choices.back().num_events) choices.pop_back();
    if (choices.empty()) return num_orders;
    ++choices.back().chosen;
  }
  return max_orders + 1;
}

}  // namespace uit::testing
