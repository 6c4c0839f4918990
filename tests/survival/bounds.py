"""Limits on times: those in the table of goals, and those for a loaded machine."""

from __future__ import annotations

import dataclasses
import os
import statistics
from collections.abc import Sequence

NIGHT = os.environ.get("UIT_NIGHTLY", "0") not in ("", "0")  #: whether there is a night's time
SLOWNESS = float(os.environ.get("UIT_SURVIVAL_SLOWNESS", "1"))  #: how much longer all takes, under sanitizers

SLACK = 20.0 * SLOWNESS  #: seconds that a loaded machine may add
# When Open MPI ends a job, it waits this long before SIGTERM, and again before SIGKILL. It is long enough that the load of
# the machine does not matter. Its default of one second has a test case of its own.
PATIENCE = 2.0 * SLOWNESS
OWN_PATIENCE = 1.0  #: the default


@dataclasses.dataclass(frozen=True)
class Bound:
    """Seconds that something may take.

    The goals are about any kill and all results, so the longest time counts.
    """

    goal: float  #: by night, when the machine has nothing else to do
    loaded: float  #: per commit, beside other tests

    def limit(self) -> float:
        """Returns the limit that holds now. Under sanitizers there is no goal."""
        return self.goal if NIGHT and SLOWNESS == 1 else self.loaded * SLOWNESS

    def check(self, seconds: Sequence[float], what: str, about: str = "") -> str:
        """Returns the result in words. Fails if a time exceeds the limit."""
        longest = max(seconds)
        words = f"{what} at most {longest:.2f} s (median {statistics.median(seconds):.2f} s; goal {self.goal:g} s)"
        assert longest <= self.limit(), f"{words}, limit {self.limit():g} s: {about}"
        return words


# In a process's own time: without its waits for a CPU or a disk, so that the goal holds on a loaded machine, too.
SURVIVORS_LATE = Bound(goal=2.0, loaded=2.0)  #: R8: from the planned end to their end; without a planned end, from the death
SURVIVORS_LATE_ULFM = Bound(goal=1.0, loaded=1.0)  #: R8, if MPI notices the death
RESULTS_WRITTEN_OWN = Bound(goal=0.8, loaded=0.8)  #: R8: after Open MPI's SIGTERM; its SIGKILL follows after OWN_PATIENCE
# By the clock.
JOB_ENDED = Bound(goal=2.0, loaded=10.0)  #: R8: MPICH's exit after a death, which its launcher causes
#: R12: from the signal to a process until its results are written, before SIGKILL
RESULTS_WRITTEN = Bound(goal=0.8, loaded=PATIENCE / SLOWNESS)
CHECKPOINT_AGE = Bound(goal=1.0, loaded=5.0)  #: R8: of the last one, at the death
SET_UP_ENDED = Bound(goal=10.0, loaded=20.0)  #: the whole job after a death before the first update
