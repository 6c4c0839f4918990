"""How busy a machine is with work of others, which disturbs what is measured."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import resource
import time


@dataclasses.dataclass(frozen=True)
class Busy:
    """A moment: seconds of CPU time that the machine has been busy, and that our processes have taken."""

    when_s: float
    all_s: float | None  #: since it was started, over all CPUs; None where /proc does not tell
    own_s: float  #: of this process, and of those that it has started and that have ended


def now(stat: pathlib.Path = pathlib.Path("/proc/stat")) -> Busy:
    """This moment."""
    times = os.times()
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = times.user + times.system + children.ru_utime + children.ru_stime
    try:
        words = stat.read_text(encoding="ascii").split()
        user, nice, system, _idle, _iowait, irq, softirq, steal = map(int, words[1:9])
        ticks = user + nice + system + irq + softirq + steal  # guests are in user
        return Busy(time.monotonic(), ticks / os.sysconf("SC_CLK_TCK"), own)
    except (OSError, ValueError):
        return Busy(time.monotonic(), None, own)


def others_cpus(before: Busy, after: Busy) -> float | None:
    """CPUs that others kept busy between two moments, on average; None where it cannot be told."""
    span = after.when_s - before.when_s
    if before.all_s is None or after.all_s is None or span <= 0:
        return None
    others = (after.all_s - before.all_s) - (after.own_s - before.own_s)
    return round(max(0.0, others / span), 3)
