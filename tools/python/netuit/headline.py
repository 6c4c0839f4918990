"""The founding paper's headline figures beside ours, and why they differ.

The paper: Moreno, Papa, Ofria, "Conduit: a C++ library for best-effort high performance computing", 2021,
doi:10.1145/3449726.3463205. The follow-up study: arXiv 2211.10897.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy
import pandas

from netuit.analysis import by_run
from netuit.intervals import bootstrap_interval, deviation_ratio_interval, ratio_interval

Line = tuple[str, str, str, str, int]  #: experiment, figure, the paper's, ours, and the reason's number; 0: not run

ABSENT = "not run here"
_ENOUGH = 10  #: replicates of each mode, of fewer of which standard deviations are not compared
_INTENSIVE = "follow_up|intensive"  #: cases with hardly any work between messages, as in the follow-up study


_SERVICE = (("period", "simstep_period_s"), ("simstep latency", "simstep_latency_updates"), ("wall latency", "wall_latency_s"))


@dataclasses.dataclass
class Measured:
    """What a sweep measured: a row a run, and rows of quality of service, if there are any."""

    runs: pandas.DataFrame  #: of each layout, those of its first case
    quality: pandas.DataFrame | None
    repeated: pandas.DataFrame | None = None  #: of each layout, those of its case with the most replicates of modes 1 to 3

    def num_cpus(self, layout: str) -> int:
        """CPUs that the workers of a layout could use."""
        return int(self.runs.loc[self.runs["workers"] == layout, "cpus"].max())

    def values(self, layout: str, mode: int, column: str) -> Any:
        """One value a replicate."""
        chosen = self.runs[(self.runs["workers"] == layout) & (self.runs["mode"] == mode)]
        return chosen[column].to_numpy(dtype=float)

    def metric(self, layout: str, column: str, on_hosts: bool = False, case: str | None = None) -> Any:
        """A metric in mode 3, one value a worker and snapshot; of two hosts, or of one, and of one case where it is named."""
        if self.quality is None or column not in self.quality:
            return numpy.array([])
        quality = self.quality
        processes, threads = layout.split("x")
        chosen = quality[(quality["processes"] == int(processes)) & (quality["threads"] == int(threads))]
        chosen = chosen[(chosen["mode"] == 3) & (chosen["scope"] == "worker")]
        chosen = chosen[(chosen["launcher"] == "hosts") == on_hosts]
        chosen = chosen if case is None else chosen[chosen["case"] == case]
        is_intensive = chosen["case"].astype(str).str.contains(_INTENSIVE)
        chosen = chosen[is_intensive] if is_intensive.any() else chosen
        return chosen[column].dropna().to_numpy(dtype=float)


@dataclasses.dataclass(frozen=True)
class Headline:
    """One line of the table."""

    experiment: str
    figure: str
    paper: str
    ours: Callable[[Measured], str]
    why: int  #: which of REASONS
    sweep: str  #: that measures it on this machine
    simulated: str = ""  #: that measures it on simulated hosts; none where it is not of processes


REASONS = {
    1: "In the paper each process had a CPU of its own, and lost time to the network. On one machine messages pass through "
    "memory, and processes that outnumber its CPUs take turns: rates are per CPU, that is, the sum over workers for each CPU "
    "that they share, and what mode 4 loses too is not lost to messages. tools/experiment simulated has a host for each.",
    2: "The paper's barrier polled, and its mode 0 gave no guarantee of delivery; ours delivers all, and on one machine meets "
    "in memory. Where workers outnumber the CPUs, each must have had its turn before any goes on: the ratio shows that "
    "switching rather than a network. tools/experiment simulated has a network.",
    3: "The paper's sync points raced, and its clock ticked in seconds; ours do neither. Yet where processes outnumber the "
    "CPUs and take turns, modes 1 and 2 need not leave as many conflicts as mode 3, nor as evenly; and of a few replicates a "
    "spread tells little. tools/experiment simulated has a host for each, and 30 replicates.",
    4: "Threads beyond the CPUs take turns, so rates are per CPU; tools/experiment thread_cost takes the cost per thread "
    "apart. The paper's modes 1 to 3 were the same code within a process.",
    5: "Within a process or a host, messages go through shared memory here, through MPI in the study; a newer value "
    "replaces an older one, and none is refused. Other machine, other update: compare ratios.",
    6: "Most of an update computes, and little of it is messages. Workers that outnumber the CPUs take turns, and share "
    "their caches, so rates are per CPU; the programs that cells run are not the paper's. tools/experiment "
    "evolution_simulated has a host for each.",
    7: "Hosts are simulated, one for each process; their network, processors and noise are assumptions about the paper's "
    "cluster. What mode 3 loses is the processor's time for frames. Mode 0 waits for the slowest host and, by a fast barrier, "
    "for log2(hosts) messages in a row: its rate follows the latency that is assumed. binder/README.md has the figures.",
    8: "Two network namespaces of one machine stand in for two nodes: each packet passes the network's software, none a "
    "wire. Each update asks MPI for messages, which here is a call into the system.",
    9: "Two simulated processes of the machine that costs were measured on, over MPI; a newer value replaces an older one, "
    "and none is refused. Other machine, other update: compare ratios.",
    10: "The paper's sync points raced, and its clock ticked in seconds; ours do neither. Hosts are simulated, one for each "
    "process. How many times as much conflicts spread as in mode 3, with bootstrapped 95 % intervals, requires 10 replicates or "
    "more, as the case paper_spread has: an interval that holds 1 shows no difference.",
}


def percent(value: float) -> str:
    """A share to read."""
    return f"{100 * value:.0f} %" if abs(value) >= 0.0995 else f"{100 * value:.2g} %"


def _ratio(above: Any, below: Any) -> str:
    """Ratio of means with its bootstrapped 95 % interval."""
    if not len(above) or not len(below) or not below.mean() > 0:
        return ABSENT
    return "{:.2f}x ({:.2f} to {:.2f})".format(*ratio_interval(above, below))


def _kept(layout: str, of: str, mode: int) -> Callable[[Measured], str]:
    def figure(measured: Measured) -> str:
        here, there = (measured.values(each, mode, "rate_per_cpu") for each in (layout, of))
        if not len(here) or not len(there):
            return ABSENT
        share, low, high = (percent(value) for value in ratio_interval(here, there))
        return f"{share} ({low.removesuffix(' %')} to {high}) per CPU, {measured.num_cpus(layout)} CPUs"

    return figure


def _change(layout: str, of: str) -> Callable[[Measured], str]:
    def figure(measured: Measured) -> str:
        said = []
        for mode in (3, 4):
            here, there = (measured.values(each, mode, "rate_per_cpu") for each in (layout, of))
            if not len(here) or not len(there):
                return ABSENT
            change = here.mean() / there.mean() - 1
            said.append(f"mode {mode} {'+' if change > 0 else '-'}{percent(abs(change))}")
        return ", ".join(said) + f" per CPU, {measured.num_cpus(layout)} CPUs"

    return figure


def _against_barrier(layout: str) -> Callable[[Measured], str]:
    return lambda measured: _ratio(measured.values(layout, 3, "rate"), measured.values(layout, 0, "rate"))


def _disjoint(layout: str) -> Callable[[Measured], str]:
    def figure(measured: Measured) -> str:
        said, fewest = [], 0
        for column, name, sign in (("rate", "rate", 1), ("conflicts", "conflicts", -1)):
            if column not in measured.runs:
                continue
            free, barred = (measured.values(layout, mode, column) for mode in (3, 0))
            if len(free) < 2 or len(barred) < 2:
                return "requires two replicates or more" if len(free) and len(barred) else ABSENT
            fewest = min(len(free), len(barred))
            better = sign * (free.mean() - barred.mean()) > 0
            (low, high), (barred_low, barred_high) = bootstrap_interval(free), bootstrap_interval(barred)
            apart = high < barred_low or barred_high < low
            said.append(f"{name} {'better' if better else 'not better'}, {'disjoint' if apart else 'overlapping'}")
        return f"{'; '.join(said)}; {fewest} replicates"

    return figure


def _spread(layout: str) -> Callable[[Measured], str]:
    def figure(measured: Measured) -> str:
        runs = measured.runs if measured.repeated is None else measured.repeated
        by_mode = {mode: Measured(runs, None).values(layout, mode, "conflicts") for mode in (1, 2, 3)}
        fewest = min(map(len, by_mode.values()))
        if fewest < 2:
            return "requires two replicates or more" if fewest else ABSENT
        said = [f"mode {mode}: {left.mean():.0f} +- {left.std(ddof=1):.0f}" for mode, left in by_mode.items()]
        return f"conflicts {', '.join(said)}; {_spread_to_mode_3(by_mode, fewest)}"

    return figure


def _spread_to_mode_3(by_mode: dict[int, Any], fewest: int) -> str:
    if fewest < _ENOUGH:
        return f"{fewest} replicates, too few to compare spreads"
    ratios = [deviation_ratio_interval(by_mode[mode], by_mode[3]) for mode in (1, 2)]
    said = [f"{ratio:.1f}x ({low:.1f} to {high:.1f})" for ratio, low, high in ratios]
    return f"spread to mode 3's {' and '.join(said)}, {fewest} replicates"


def _quality(layout: str, column: str, scale: float, unit: str, on_hosts: bool = False) -> Callable[[Measured], str]:
    def figure(measured: Measured) -> str:
        values = measured.metric(layout, column, on_hosts) * scale
        if not len(values):
            return ABSENT
        return f"{_short(values.mean())}/{_short(float(numpy.median(values)))}{unit}"

    return figure


def _service(here: tuple[str, str], there: tuple[str, str], *measures: str) -> Callable[[Measured], str]:
    """Medians or means of one case and layout, of those of another."""

    def figure(measured: Measured) -> str:
        said = []
        for measure in measures:
            ratios = []
            for name, column in _SERVICE:
                above, below = (measured.metric(layout, column, case=case) for case, layout in (here, there))
                if not len(above) or not len(below):
                    return ABSENT
                ratios.append(f"{name} {getattr(numpy, measure)(above) / getattr(numpy, measure)(below):.2f}x")
            said.append(f"{measure} {', '.join(ratios)}")
        return "; ".join(said)

    return figure


def _short(value: float) -> str:
    return "0" if value == 0 else f"{value:.3g}" if math.isfinite(value) else str(value)


def _kept_in_modes(layout: str, of: str) -> Callable[[Measured], str]:
    def figure(measured: Measured) -> str:
        said, absent = [], []
        for mode in (1, 2, 3, 4):
            here, there = (measured.values(each, mode, "rate_per_cpu") for each in (layout, of))
            if len(here) and len(there):
                said.append(f"mode {mode} {percent(here.mean() / there.mean())}")
            else:
                absent.append(str(mode))
        if not said:
            return ABSENT
        missing = f"; of modes {', '.join(absent)} none" if absent else ""
        return f"{', '.join(said)} per CPU, {measured.num_cpus(layout)} CPUs{missing}"

    return figure


def _headlines() -> list[Headline]:
    processes, threads = "colouring, processes", "colouring, threads"
    both = ("paper", "simulated")
    lines = [
        Headline(processes, "mode 3 at 64, of one process' rate", "63 %", _kept("64x1", "1x1", 3), 1, *both),
        Headline(processes, "mode 3 / mode 0, rate, at 64", "7.8x", _against_barrier("64x1"), 2, *both),
    ]
    for count in (4, 16, 64):
        text = "rate and conflicts better, disjoint"
        lines.append(Headline(processes, f"mode 3 against mode 0 at {count}", text, _disjoint(f"{count}x1"), 2, *both))
    for count in (16, 64):
        text = "highly inconsistent"
        lines.append(Headline(processes, f"modes 1 and 2 at {count}", text, _spread(f"{count}x1"), 3, *both))
    lines += [
        Headline(threads, "rate, 1 to 4 threads", "-61 %, in mode 4 too", _change("1x4", "1x1"), 4, "paper"),
        Headline(threads, "rate, 4 to 64 threads", "-75 %, in mode 4 too", _change("1x64", "1x4"), 4, "paper"),
    ]
    metrics = (
        ("simstep period", "simstep_period_s", 1e6, " us", ("9.06 us", "4.60 us", "14.5 us")),
        ("wall latency", "wall_latency_s", 1e6, " us", ("7.70/6.94 us", "-/5 us", "600/551 us")),
        ("simstep latency", "simstep_latency_updates", 1.0, "", ("1.00/0.75", "-", "41.6/37.4")),
        ("clumpiness", "clumpiness", 1.0, "", ("0.014/0.002", "-/0.54", "0.96")),
        ("failure rate", "failure_rate", 1.0, "", ("0.33/0.30", "0", "0")),
    )
    places = (
        ("2 processes", "2x1", False, 5, "paper", "simulated"),
        ("2 threads", "1x2", False, 5, "paper", ""),
        ("2 hosts", "2x1", True, 8, "two_hosts", "two_hosts"),
    )
    for index, (place, layout, on_hosts, why, *sweeps) in enumerate(places):
        for name, column, scale, unit, papers in metrics:
            ours = _quality(layout, column, scale, unit, on_hosts)
            lines.append(Headline(f"quality, {place}", f"{name}, mean/median", papers[index], ours, why, *sweeps))
    grown = _service(("paper_256", "256x1"), ("paper", "16x1"), "median")
    faulty = _service(("paper_faulty", "64x1"), ("paper", "64x1"), "mean", "median")
    hosts = ("simulated", "simulated")
    lines += [
        Headline("quality, processes", "256, of 16 processes'", "medians stable", grown, 7, *hosts),
        Headline("quality, processes", "one faulty node of 64, of none", "means worse, no medians", faulty, 7, *hosts),
    ]
    return lines


def _headlines_of_evolution() -> list[Headline]:
    processes, threads = "evolution, processes", "evolution, threads"
    both = ("evolution", "evolution_simulated")
    lines = [
        Headline(processes, "mode 3 at 64, of one process' rate", "92 %", _kept("64x1", "1x1", 3), 6, *both),
        Headline(processes, "mode 3 / mode 0, rate, at 64", "2.1x", _against_barrier("64x1"), 6, *both),
    ]
    for count in (16, 64):
        text = "rate better, disjoint"
        lines.append(Headline(processes, f"mode 3 against mode 0 at {count}", text, _disjoint(f"{count}x1"), 6, *both))
    kept = _kept_in_modes("1x64", "1x1")
    lines += [
        Headline(threads, "modes 1-3 at 64, of one thread's rate", "43 %, mode 4 61 %", kept, 6, "evolution"),
        Headline(threads, "mode 3 / mode 0, rate, at 64", "2.1x", _against_barrier("1x64"), 6, "evolution"),
    ]
    return lines


HEADLINES = tuple(_headlines())
HEADLINES_OF_EVOLUTION = tuple(_headlines_of_evolution())


def table(*parts: tuple[pandas.DataFrame, pandas.DataFrame | None]) -> list[Line]:
    """A line for each headline of both benchmarks. parts: rows and quality of service, if any, of each benchmark that was
    run. What they do not tell says what measures it. Of each layout the first case counts; of how much replicates differ,
    the case with the most of them. What names no launcher is local."""
    is_simulated = all("launcher" in rows and (rows["launcher"] == "simulated").all() for rows, _ in parts)
    whys = {1: 7, 2: 7, 3: 10, 5: 9, 6: 7} if is_simulated else {}
    lines = []
    for headlines, of_colouring in ((HEADLINES, True), (HEADLINES_OF_EVOLUTION, False)):
        measured = [_measured(*part) for part in parts if ("conflicts" in part[0]) == of_colouring]
        for each in headlines:
            ours = next((text for text in map(each.ours, measured) if text != ABSENT), ABSENT)
            why = 0 if ours == ABSENT else whys.get(each.why, each.why)
            lines.append((each.experiment, each.figure, each.paper, _where(each, is_simulated) if not why else ours, why))
    return lines


def _measured(rows: pandas.DataFrame, quality: pandas.DataFrame | None) -> Measured:
    runs = by_run(rows[~rows["case"].astype(str).str.contains(_INTENSIVE)])
    cases = runs["case"].astype(str)
    own = runs[cases == cases.groupby(runs["workers"]).transform("first")]
    if quality is not None and "launcher" not in quality:
        quality = quality.assign(launcher="local")
    return Measured(own, quality, _most_repeated(runs))


def _most_repeated(runs: pandas.DataFrame) -> pandas.DataFrame:
    """Of each layout, the runs of the case that has most of modes 1, 2 and 3, whichever has fewest; the first of such."""
    runs = runs.assign(case=runs["case"].astype(str))  # no category, so that it can be held against another
    counts = runs.groupby(["workers", "case", "mode"], sort=False).size()
    most: dict[str, tuple[int, str]] = {}
    for layout, case in dict.fromkeys(zip(runs["workers"], runs["case"])):
        fewest = min(int(counts.get((layout, case, mode), 0)) for mode in (1, 2, 3))
        if layout not in most or fewest > most[layout][0]:
            most[layout] = (fewest, case)
    return runs[runs["case"] == runs["workers"].map({layout: case for layout, (_, case) in most.items()})]


def _where(headline: Headline, is_simulated: bool) -> str:
    """What measures a figure that was not."""
    sweep = (headline.simulated or headline.sweep) if is_simulated else headline.sweep
    note = ""
    if sweep == "two_hosts":
        note = " (as root)"
    elif is_simulated and not headline.simulated:
        note = " (a simulated process has one thread)"
    return f"{ABSENT}: tools/experiment {sweep}{note}"


def _cells(line: Line) -> tuple[str, ...]:
    return (*line[:4], str(line[4] or ""))


def as_text(lines: Sequence[Line]) -> str:
    """The table with the reasons below it, for a terminal."""
    cells = [("experiment", "figure", "the paper", "ours", "why"), *map(_cells, lines)]
    widths = [max(len(row[column]) for row in cells) for column in range(5)]
    text = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in cells]
    text.insert(1, "-" * max(map(len, text)))
    used = sorted({line[4] for line in lines} - {0})
    return "\n".join([*text, "", *(f"{number}  {REASONS[number]}" for number in used)]) + "\n"


def as_markdown(lines: Sequence[Line]) -> str:
    """The table for a page."""
    text = ["| experiment | figure | the paper | ours | why |", "|---|---|---|---|---|"]
    text += ["| " + " | ".join(_cells(line)) + " |" for line in lines]
    used = sorted({line[4] for line in lines} - {0})
    return "\n".join([*text, "", *(f"{number}. {REASONS[number]}" for number in used)]) + "\n"
