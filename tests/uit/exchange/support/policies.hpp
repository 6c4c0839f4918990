#pragma once

#include <uit/policy.hpp>

namespace uit::testing {

// The policies that exchanges are tried with.
using uit::every;
using uit::latest;
inline constexpr Policy accumulate{.retain = Retain::accumulate};
inline constexpr Policy accumulate_pooled{.retain = Retain::accumulate, .consolidate = Consolidate::pooled};
inline constexpr Policy every_pooled{.consolidate = Consolidate::pooled};
inline constexpr Policy latest_pooled{.retain = Retain::latest, .consolidate = Consolidate::pooled};
inline constexpr Policy every_aggregated{.consolidate = Consolidate::aggregated};
inline constexpr Policy latest_aggregated{.retain = Retain::latest, .consolidate = Consolidate::aggregated};

}  // namespace uit::testing
