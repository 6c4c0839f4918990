#pragma once

#include <uit/config.hpp>

namespace uit {

class Team;

/// Prints on which CPU each thread of this process stays, as one line on stderr, such as
/// `conduit: binding: rank 1: thread 0 on CPU 4, thread 1 on CPU 6`. Prints nothing if the team's threads are not pinned.
/// Not collective.
void PrintBinding(const Team& team);

}  // namespace uit

#if !UIT_COMPILED
#include <uit/app/print_binding.ipp>
#endif
