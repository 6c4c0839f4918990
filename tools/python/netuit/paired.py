"""Rates of modes paired by replicate, and what a node costs: netuit paired [--markdown] FOLDER

A launch runs the modes of a replicate one after the other, and replicates come round in turn, so that a drift of the
machine meets all modes and cases alike: in ratios within a replicate there is little of it.
"""

from __future__ import annotations

import pathlib
import sys
from collections.abc import Sequence
from typing import Any

import numpy
import pandas

from netuit import InputError
from netuit.analysis import SILENT_MODE, by_run
from netuit.command import Parser, exit_code_of_command
from netuit.experiment_report import aligned
from netuit.intervals import bootstrap_interval
from netuit.loading import load

MODE = 3  #: whose costs are told
_INTERVAL = "95 %"  #: heads the column behind that of a median

Lines = list[Sequence[str]]  #: of a table, of which the first is its heading; none if there is nothing to tell


def median_interval(values: Any, level: float = 0.95, num_samples: int = 4000) -> tuple[float, float, float]:
    """The median with its bootstrapped interval, by percentiles: (median, low, high). Deterministic; NaN without values."""
    low, high = bootstrap_interval(values, level, num_samples, statistic=numpy.median)
    return float(numpy.median(values)) if len(values) else numpy.nan, low, high


def paired_ratios(runs: pandas.DataFrame, mode: int, base: int) -> Any:
    """The rate of `mode` over that of `base` in each replicate that has both. runs: by_run's, of one case and layout."""
    rates = runs.pivot(index="replicate", columns="mode", values="rate")
    if not {mode, base} <= set(rates.columns):
        return numpy.array([])
    return (rates[mode] / rates[base]).dropna().to_numpy()


def modes(rows: pandas.DataFrame) -> Lines:
    """A line for each case and layout: the rate of mode 3, what it is of that of mode 4, in which nothing leaves a worker,
    and of that of mode 0, medians over replicates with bootstrapped 95 % intervals; and the part of mode 3's time that
    messages take, by the first ratio. Empty if no replicate has two of these modes."""
    cells: Lines = []
    for (case, workers), runs in by_run(rows).groupby(["case", "workers"], observed=True, sort=False):
        kept, gained = (paired_ratios(runs, MODE, base) for base in (SILENT_MODE, 0))
        if not len(kept) and not len(gained):
            continue
        line = [str(case), workers + (" *" if runs["oversubscribed"].any() else ""), str(max(len(kept), len(gained)))]
        line += _with_interval(runs.loc[runs["mode"] == MODE, "rate"], "{:,.0f}")
        line += [*_with_interval(kept, "{:.3f}"), *_with_interval(gained, "{:.3f}")]
        cells.append([*line, f"{100 * (1 - float(numpy.median(kept))):.1f} %" if len(kept) else "-"])
    if not cells:
        return []
    heading = ["case", "workers", "replicates", "updates/s/worker", _INTERVAL, f"mode {MODE} / mode {SILENT_MODE}", _INTERVAL]
    return [[*heading, f"mode {MODE} / mode 0", _INTERVAL, "messages take"], *cells]


def sizes(rows: pandas.DataFrame) -> Lines:
    """A line for each number of nodes that a lone worker had in mode 3: nanoseconds for each node and update, and how the
    time of an update grew from the size before, by the exponent of nodes, of which 1 is linear: medians over replicates,
    of exponents paired by replicate, with bootstrapped 95 % intervals. Empty if there is one size alone, or the rows tell
    none."""
    if "num_nodes" not in rows:
        return []
    lone = rows[(rows["processes"] * rows["threads"] == 1) & (rows["mode"] == MODE)]
    times = (1e9 / lone["updates_per_second"]).groupby([lone["num_nodes"], lone["replicate"]]).mean()
    table = times.unstack("num_nodes")
    if len(table.columns) < 2:
        return []
    cells: Lines = []
    before = None
    for size in table.columns:
        grown = ("-", "-")
        if before is not None:
            exponents = numpy.log((table[size] / table[before]).dropna()) / numpy.log(size / before)
            grown = _with_interval(exponents, "{:.3f}")
        cost = table[size].dropna() / size
        cells.append([f"{size:,}", str(len(cost)), *_with_interval(cost, "{:.0f}"), *grown])
        before = size
    return [["nodes", "replicates", "ns per node and update", _INTERVAL, "exponent from the size before", _INTERVAL], *cells]


def report(rows: pandas.DataFrame, markdown: bool = False) -> str:
    """All of it, in columns to read or in Markdown. Raises InputError for rows that are no sweep's, or have nothing to
    compare."""
    if "case" not in rows:
        raise InputError(f"{rows.attrs['path']}: expected the rows of a sweep, which have a column case")
    missing = {"processes", "threads", "mode", "mode_name", "replicate", "oversubscribed"} - set(rows)
    if missing:
        raise InputError(f"{rows.attrs['path']}:1: no column {', '.join(sorted(missing))}")
    tables = [(lines, num_names) for lines, num_names in ((modes(rows), 2), (sizes(rows), 0)) if lines]
    if not tables:
        raise InputError(
            f"{rows.attrs['path']}: expected mode {MODE} beside mode {SILENT_MODE} or 0, or of a lone worker with several sizes"
        )
    return "\n".join(_as_markdown(lines) if markdown else _as_text(lines, num_names) for lines, num_names in tables)


def _as_text(lines: Lines, num_names: int) -> str:
    """In columns, of which the first few are of names."""
    told = aligned(lines[0], lines[1:], tuple(range(num_names)))
    if any(cell.endswith("*") for line in lines[1:] for cell in line[:num_names]):
        told.append("* oversubscribed: more workers than CPUs, which take turns")
    return "\n".join(told) + "\n"


def _as_markdown(lines: Lines) -> str:
    """With each interval behind its median, as 1.5 [1, 2]."""

    def joined(line: Sequence[str]) -> str:
        cells: list[str] = []
        for name, cell in zip(lines[0], line):
            if name != _INTERVAL:
                cells.append(cell)
            elif cell not in (_INTERVAL, "-"):
                cells[-1] += f" [{cell.replace(' to ', ', ')}]"
        return "| " + " | ".join(cells) + " |"

    heading, *others = map(joined, lines)
    return "\n".join([heading, "|---" * (heading.count("|") - 1) + "|", *others]) + "\n"


def _with_interval(values: Any, form: str) -> tuple[str, str]:
    """A median to read, and its interval, if there are several values."""
    if len(values) == 0:
        return "-", "-"
    median, low, high = (form.format(value) for value in median_interval(values))
    return median, f"{low} to {high}" if len(values) > 1 else "-"


def main(words: Sequence[str] | None = None) -> int:
    """The command. Gives the exit code."""

    def body() -> int:
        about = "Rates of the modes of a sweep paired by replicate, and what a node costs, with their intervals."
        parser = Parser(prog="netuit paired", allow_abbrev=False, description=about)
        parser.add_argument("folder", type=pathlib.Path, help="of tools/experiment, or its rows.csv")
        parser.add_argument("--markdown", action="store_true", help="tables in Markdown")
        options = parser.parse_args(words)
        sys.stdout.write(report(load(options.folder), options.markdown))
        return 0

    return exit_code_of_command(body)


if __name__ == "__main__":
    sys.exit(main())
