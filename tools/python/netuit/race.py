"""Modes 0 and 3 beside each other: rates, and times to a solution."""

from __future__ import annotations

import dataclasses
import statistics
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # pandas takes its time
    import pandas

MODES = (0, 3)
SOLVED = 0.05  #: of the adjacent pairs may still have one colour
CLEAR = 0.6  #: of mode 0's time, from which on mode 3 wins clearly, if every run of it is faster
FEWER = 0.95  #: of mode 0's updates until a solution, below which mode 3 has the gain that NEWER_VALUES explains
NEWER_VALUES = ", as when a node reads newer values of its own worker's nodes"  #: where mode 0 shows those of the previous update
FEWEST = 3  #: runs of each mode, without which a verdict says nothing of all


@dataclasses.dataclass(frozen=True)
class Race:
    """What each replicate of both modes came to."""

    name: str  #: graph and layout
    rates: dict[int, list[float]]  #: updates of nodes per second, by mode
    times: dict[int, list[float | None]]  #: seconds until a solution, by mode; None if there was none

    def verdict(self) -> str:
        """A line that says which mode was faster, why, and how sure that is."""
        rate = statistics.mean(self.rates[3]) / statistics.mean(self.rates[0])
        if not rate:
            return "mode 3 made no update"
        words = f"mode 3 makes {rate:.2f} x the node updates of mode 0"
        times = {mode: [time for time in self.times[mode] if time is not None] for mode in MODES}
        if any(len(times[mode]) < len(self.times[mode]) for mode in MODES):
            return f"{words}; not every run came to a solution"
        median = {mode: statistics.median(times[mode]) for mode in MODES}
        if not median[0] or not median[3]:
            return f"{words}; the times to a solution are too short to compare"
        ratio = median[3] / median[0]
        is_faster = max(times[3]) < min(times[0]) and min(len(times[mode]) for mode in MODES) >= FEWEST
        words += f", and needs {ratio:.2f} x its time to a solution"
        words += f" ({1 / rate:.2f} x by its rate, {ratio * rate:.2f} x by the number of updates that it needs"
        words += f"{NEWER_VALUES}); " if is_faster and ratio * rate < FEWER else "); "
        words += "every run of mode 3 was faster" if is_faster else "single runs overlap, or are few"
        return words if is_faster and ratio <= CLEAR else f"{words}, so this is no clear win"


def race_of(name: str, rows: pandas.DataFrame, frames: pandas.DataFrame) -> Race | None:
    """The comparison of rows and colours over time of channel_selection; None unless they have both modes, of one layout, and tell
    how many nodes each worker has."""
    layouts = rows[[key for key in ("graph", "case", "processes", "threads") if key in rows]].drop_duplicates()
    if "num_nodes" not in rows or not set(MODES) <= set(rows["mode"]) & set(frames["mode"]) or len(layouts) != 1:
        return None
    speeds = (rows["num_nodes"] * rows["updates_per_second"]).groupby([rows["mode"], rows["replicate"]]).sum()
    goal = SOLVED * float(rows["conflict_edges_total"].iloc[0])
    solved = frames[frames["conflicts"] <= goal].groupby(["mode", "replicate"])["elapsed_s"].min().to_dict()
    runs = {mode: sorted(frames.loc[frames["mode"] == mode, "replicate"].unique()) for mode in MODES}
    times = {mode: [solved.get((mode, replicate)) for replicate in runs[mode]] for mode in MODES}
    return Race(name, {mode: speeds[mode].tolist() for mode in MODES}, times)
