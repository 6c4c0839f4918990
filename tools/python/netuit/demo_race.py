"""Modes 0 and 3 on workers that are slow in turn: rates, and times to a solution."""

from __future__ import annotations

import csv
import dataclasses
import pathlib
import statistics
import sys

from netuit import results

SOLVED = 0.05  #: of the adjacent pairs may still have one colour


@dataclasses.dataclass(frozen=True)
class Race:
    """What each replicate of both modes came to."""

    name: str  #: graph and layout
    rates: dict[int, list[float]]  #: updates of nodes per second, by mode
    times: dict[int, list[float | None]]  #: seconds until a solution, by mode; None if there was none

    def verdict(self) -> str:
        """A line that says which mode was faster, and how sure that is."""
        rate = statistics.mean(self.rates[3]) / statistics.mean(self.rates[0])
        words = f"mode 3 makes {rate:.2f} x the node updates of mode 0"
        times = {mode: [time for time in self.times[mode] if time is not None] for mode in (0, 3)}
        if any(len(times[mode]) < len(self.times[mode]) for mode in (0, 3)):
            return f"{words}; not every run came to a solution"
        median = {mode: statistics.median(times[mode]) for mode in (0, 3)}
        if not median[0] or not median[3]:
            return f"{words}; the times to a solution are too short to compare"
        words += f", and needs {median[3] / median[0]:.2f} x its time to a solution"
        return words + (" (every run of mode 3 was faster)" if max(times[3]) < min(times[0]) else " (single runs overlap)")


def read_race(folder: pathlib.Path, name: str) -> Race:
    """The comparison of what channel_selection has left in a folder: rows.csv and frames.csv. Raises InputError or OSError."""
    summaries = {summary.mode: summary for summary in results.summarize(results.read_rows(folder / "rows.csv"))}
    goals = {mode: SOLVED * summary.edges for mode, summary in summaries.items()}
    first: dict[int, dict[str, float | None]] = {mode: {} for mode in summaries}
    csv.field_size_limit(sys.maxsize)  # a frame has a digit for each node
    with open(folder / "frames.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            mode = int(row["mode"])
            seen = first[mode].setdefault(row["replicate"], None)
            if seen is None and int(row["conflicts"]) <= goals[mode]:
                first[mode][row["replicate"]] = float(row["elapsed_s"])
    rates = {mode: summary.rates for mode, summary in summaries.items()}
    return Race(name, rates, {mode: list(times.values()) for mode, times in first.items()})
