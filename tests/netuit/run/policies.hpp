#pragma once

#include <uit/policy.hpp>

/// Policies of channels that tests of meshes share, in addition to uit::every, uit::latest and uit::summed.
namespace netuit::testing {

inline constexpr uit::Policy pooled{.consolidate = uit::Consolidate::pooled};
inline constexpr uit::Policy aggregated{.consolidate = uit::Consolidate::aggregated};
inline constexpr uit::Policy newest_pooled{.retain = uit::Retain::latest, .consolidate = uit::Consolidate::pooled};
inline constexpr uit::Policy newest_aggregated{.retain = uit::Retain::latest, .consolidate = uit::Consolidate::aggregated};
inline constexpr uit::Policy sum_pooled{.retain = uit::Retain::accumulate, .consolidate = uit::Consolidate::pooled};

}  // namespace netuit::testing
