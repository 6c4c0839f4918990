"""What simulated clusters came to, in tables of Markdown: means with bootstrapped 95 % intervals over replicates.

`python -m netuit.simulated_tables BINDER/DATA` prints them, as binder/README.md has them.
"""

from __future__ import annotations

import contextlib
import io
import pathlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas

from netuit import InputError, analysis, markdown
from netuit.analysis import QUALITY_METRICS, by_run
from netuit.command import exit_code_of_command
from netuit.intervals import ratio_interval

Tables = Mapping[str, pandas.DataFrame]  #: rows, or quality of service, by case

#: Cases that differ in their network, and what to call it.
NETWORKS = {
    "paper": "`paper`",
    "paper_8us": "`paper`, 8 us",
    "paper_2us": "`paper`, 2 us",
    "fast": "`fast`",
    "commodity": "`commodity`",
    "generations": "`paper`, 900 cells",
}
#: What a table of real and simulated processes tells: the quantity, its name, how to write it, and times what.
CALIBRATED = (
    ("conflicts", "conflicts left", "{:.0f}", 1),
    ("simstep_latency_updates", "latency in updates", "{:.3g}", 1),
    ("wall_latency_s", "wall latency, us", "{:.1f}", 1e6),
    ("age_p50_s", "age of what is read, us", "{:.1f}", 1e6),
    ("transit_p50_s", "transit time, us", "{:.1f}", 1e6),
    ("clumpiness", "clumpiness", "{:.3f}", 1),
    ("skip_rate", "skipped, %", "{:.1f}", 100),
)
LARGEST = 64  #: hosts of which more is told


def calibration(real: tuple[pandas.DataFrame, pandas.DataFrame], simulated: tuple[pandas.DataFrame, pandas.DataFrame]) -> str:
    """Two real processes beside two simulated ones, by mode: rows and quality of service of both."""
    halves = [analysis.medians(*half) for half in (real, simulated)]
    modes = [mode for mode in halves[0].index if mode in halves[1].index]
    lines = [markdown.row("two processes", *(f"mode {mode}" for mode in modes)), markdown.rule(1 + len(modes))]
    alone = [analysis.medians(*half, "1x1")["rate"] for half in (real, simulated)]
    for half, name in zip(halves, ("real", "simulated")):
        lines.append(markdown.row(f"updates/s, {name}", *(f"{round(half.loc[mode, 'rate'], -2):,.0f}" for mode in modes)))
    kept = [[half.loc[mode, "rate"] / one[mode] for half, one in zip(halves, alone)] for mode in modes]
    lines.append(markdown.row("of one process' rate: real / simulated", *("{:.2f} / {:.2f}".format(*pair) for pair in kept)))
    for quantity, name, form, times in CALIBRATED:
        pairs = [[half.loc[mode, quantity] * times for half in halves] for mode in modes]
        told = ("" if pandas.isna(pair).any() else " / ".join(map(form.format, pair)) for pair in pairs)
        lines.append(markdown.row(f"{name}: real / simulated", *told))
    return _text(lines)


def networks(clusters: Tables) -> str:
    """By network and number of hosts: the rate of one process, what is left of it in mode 3, how many times that is mode
    0's, and the conflicts left in both, of colouring."""
    lines: list[str] = []
    for case, network in NETWORKS.items():
        if case not in clusters or 1 not in set(clusters[case]["processes"]):
            continue
        runs = by_run(clusters[case])
        alone = runs[(runs["processes"] == 1) & (runs["mode"] == 3)]["rate"]
        one = f"{alone.mean():,.0f}" if alone.mean() < 10_000 else f"{round(alone.mean(), -2):,.0f}"
        for hosts, part in runs.groupby("processes"):
            ours, base = (part[part["mode"] == mode] for mode in (3, 0))
            if not len(ours) or not len(base):
                continue
            ratios = (_ratio(ours["rate"], alone, 2), _ratio(ours["rate"], base["rate"], 2 if "conflicts" not in part else 1))
            shares = (markdown.mean(100 * each["conflict_share"], form) for each, form in ((ours, "{:.2f}"), (base, "{:.1f}")) if "conflicts" in part)
            lines.append(markdown.row(f"{hosts}, {network}", one, *ratios, *(f"{share} %" for share in shares)))
            one = ""
    if not lines:
        raise InputError("no case of simulated hosts with modes 0 and 3")
    heading = ["hosts, network", "updates/s of one process", "mode 3 keeps", "mode 3 to mode 0", "conflicts left, mode 3", "mode 0"]
    heading = heading[: lines[0].count("|") - 1]
    return _text([markdown.row(*heading), markdown.rule(len(heading)), *lines])


def modes(clusters: Tables) -> str:
    """All modes on the most hosts of the paper's cluster, relative to one process in the same mode."""
    runs = by_run(clusters["paper"])
    alone = {mode: part["rate"] for mode, part in runs[runs["processes"] == 1].groupby("mode")}
    parts = {mode: part for mode, part in runs[runs["processes"] == LARGEST].groupby("mode") if mode > 0}
    lines = [markdown.row(f"{LARGEST} hosts, `paper`", *(f"mode {mode}" for mode in parts)), markdown.rule(1 + len(parts))]
    lines.append(markdown.row("rate relative to one process", *(_ratio(part["rate"], alone[mode], 2) for mode, part in parts.items())))
    shares = (markdown.mean(100 * part["conflict_share"], "{:.3f}") for part in parts.values())
    lines.append(markdown.row("conflicts left, %", *shares))
    return _text(lines)


def spread(clusters: Tables) -> str:
    """By number of hosts: how much replicates differ in the conflicts that they leave."""
    runs = by_run(clusters["paper_spread"])
    lines = []
    for hosts, part in runs.groupby("processes"):
        told = analysis.conflicts_spread(part)
        of_3 = part.loc[part["mode"] == 3, "conflicts"]
        relative = {mode: each.std() / each.mean() for mode, each in part.groupby("mode")["conflicts"]}
        cells = [f"{100 * relative[3]:.1f} % of the mean"]
        for mode, line in told.iterrows():
            cells.append(f"{100 * relative[mode]:.1f} %; {line['to mode 3']:.2f} [{line['low']:.2f}, {line['high']:.2f}] times mode 3's")
        lines.append(markdown.row(f"{hosts} hosts, {len(of_3)} replicates", *cells))
    heading = ["standard deviation of conflicts left", "mode 3", "mode 1 (2 ms)", "mode 2 (5 ms)"]
    return _text([markdown.row(*heading), markdown.rule(4), *lines])


def faulty(quality: Tables) -> str:
    """What one faulty host changes in mode 3, replicate beside replicate."""
    one, healthy = (table[(table["processes"] == LARGEST) & (table["mode"] == 3)] for table in (quality["paper_faulty"], quality["paper"]))
    table = analysis.paired_differences(one, healthy)
    lines = []
    for label in QUALITY_METRICS.values():
        cells = []
        for statistic in ("mean", "median"):
            base, *difference = table.loc[(label, statistic), ["healthy", "difference", "low", "high"]]
            cells.append(f"{base:.3g}" if base else "0")
            cells.append("{:+.1f} % [{:+.1f}, {:+.1f}]".format(*(100 * each / base for each in difference)) if base else "0")
        lines.append(markdown.row(label, *cells))
    heading = [f"{LARGEST} hosts, `paper`, mode 3", "mean, all healthy", "one faulty", "median, all healthy", "one faulty"]
    return _text([markdown.row(*heading), markdown.rule(5), *lines])


def tables(folder: pathlib.Path) -> list[str]:
    """All that the data beside the notebooks tell, in the order of binder/README.md; none of what was not measured.
    Raises InputError."""
    clusters, quality, evolution = (
        _quietly(lambda: analysis.simulated(str(folder / name), kind))
        for name, kind in (("simulated", "rows"), ("simulated", "quality"), ("evolution_simulated", "evolution_rows"))
    )
    real = _quietly(lambda: [analysis.data("calibration", file, str(folder)) for file in ("rows.csv", "quality.csv")])
    found = []
    if all(half is not None for half in real) and "machine" in clusters and "machine" in quality:
        found.append(calibration((real[0], real[1]), (clusters["machine"], quality["machine"])))
    if clusters:
        found.append(networks(clusters))
    if "paper" in clusters:
        found.append(modes(clusters))
    if "paper_spread" in clusters:
        found.append(spread(clusters))
    if {"paper", "paper_faulty"} <= set(quality):
        found.append(faulty(quality))
    if evolution:
        found.append(networks(evolution))
    if not found:
        raise InputError(f"{folder}: no results of simulated clusters")
    return found


def _quietly(read: Callable[[], Any]) -> Any:
    """Calls `read`, and discards what it prints about missing data."""
    with contextlib.redirect_stdout(io.StringIO()):
        return read()


def _ratio(one: Any, other: Any, digits: int) -> str:
    ratio, low, high = (f"{value:.{digits}f}" for value in ratio_interval(one, other))
    return f"{ratio} [{low}, {high}]"


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def main(words: Sequence[str]) -> int:
    """Prints the tables of a folder of data. Gives the exit code."""

    def body() -> int:
        if len(words) != 1:
            raise InputError("expected the folder of the notebooks' data")
        sys.stdout.write("\n".join(tables(pathlib.Path(words[0]))))
        return 0

    return exit_code_of_command(body)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
