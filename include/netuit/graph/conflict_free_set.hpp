#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <netuit/graph/topology.hpp>
#include <uit/config.hpp>

namespace netuit {

/// Returns the largest set of tasks found of which no two conflict, out of those that are ready, in ascending order. Tasks that run,
/// and those that conflict with one, are left out.
///
/// An edge of `conflicts`, in either direction, says that its ends must not run at once. The search first takes the task with the
/// fewest conflicts again and again, and then goes back to the last choices that may have been wrong, at most `budget` times. With an
/// unlimited budget the set is a largest one. The result depends on the arguments only. Takes O((n + m) log n) for n tasks and m
/// conflicts, and for each step back at most as long again.
///
/// Throws uit::InputError if a task is no node of `conflicts`.
std::vector<NodeId> LargestConflictFreeSet(const Topology& conflicts, std::span<const NodeId> ready,
                                           std::span<const NodeId> running = {}, std::size_t budget = 100);

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/graph/conflict_free_set.ipp>
#endif
