"""How long things may take: the figures of the table of goals, and what a loaded machine is allowed."""

from __future__ import annotations

import dataclasses
import os
import statistics
from collections.abc import Sequence

NIGHT = os.environ.get("UIT_NIGHTLY", "0") not in ("", "0")  #: whether there is a night's time
SLOWNESS = float(os.environ.get("UIT_SURVIVAL_SLOWNESS", "1"))  #: how much longer all takes, under sanitizers

SLACK = 20.0 * SLOWNESS  #: seconds that a loaded machine may take for what is no matter of waiting
# How long Open MPI waits before its SIGTERM, and again before SIGKILL, when it ends a job. What it takes is measured rather
# than left to the load of the machine; the launcher's own second has a case of its own.
PATIENCE = 2.0 * SLOWNESS
OWN_PATIENCE = 1.0  #: the same, if Open MPI is told nothing


@dataclasses.dataclass(frozen=True)
class Bound:
    """Seconds that something may take, every time: the goals speak of any kill and all results, so the longest counts."""

    goal: float  #: by night, when the machine has nothing else to do
    loaded: float  #: per commit, beside other tests

    def limit(self) -> float:
        """What holds now. Under sanitizers there is no goal."""
        return self.goal if NIGHT and SLOWNESS == 1 else self.loaded * SLOWNESS

    def check(self, seconds: Sequence[float], what: str, about: str = "") -> str:
        """What came out, in words. Fails if any is beyond."""
        longest = max(seconds)
        words = f"{what} at most {longest:.2f} s (median {statistics.median(seconds):.2f} s; goal {self.goal:g} s)"
        assert longest <= self.limit(), f"{words}, limit {self.limit():g} s: {about}"
        return words


# Of a process's own time: without what it has waited for a CPU or a disk, so that the goal holds on a loaded machine, too.
SURVIVORS_LATE = Bound(goal=2.0, loaded=2.0)  #: R8: their end after the planned one; where there is none, after the death
SURVIVORS_LATE_ULFM = Bound(goal=1.0, loaded=1.0)  #: R8, where MPI hears of the death
RESULTS_WRITTEN_OWN = Bound(goal=0.8, loaded=0.8)  #: R8: after Open MPI's SIGTERM, which its SIGKILL follows after OWN_PATIENCE
# By the clock.
JOB_ENDED = Bound(goal=2.0, loaded=10.0)  #: R8: MPICH's exit after a death, which is its launcher's doing
RESULTS_WRITTEN = Bound(goal=0.8, loaded=PATIENCE / SLOWNESS)  #: R12: after a process has its signal, before SIGKILL
CHECKPOINT_AGE = Bound(goal=1.0, loaded=5.0)  #: R8: of the last one, at the death
SET_UP_ENDED = Bound(goal=10.0, loaded=20.0)  #: the whole job after a death before the first update
