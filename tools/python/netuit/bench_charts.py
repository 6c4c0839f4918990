"""Charts of the curves that benchmarks measure: python -m netuit.bench_charts RESULT.json…"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")  # no display needed

import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from netuit import InputError, OutputError, files
from netuit.command import Parser, exit_code_of_command
from netuit.style import STYLE, save

# Okabe and Ito's palette, which colour-blind readers can tell apart, without its pale yellow.
LINE_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
MARKERS = "os^Dv<>"
POINT: dict[str, type[str] | type[float]] = {  # of a result
    "chart": str, "x_label": str, "y_label": str, "line": str, "x": float, "y": float, "class": str,
}  # fmt: skip

PROXIMITIES = {
    "HT": "ranks on two hyperthreads of a core",
    "NEAR": "cores that share a cache",
    "FAR": "cores that share no cache",
    "ONE": "one core",
}


def bytes_text(value: float, _: int | None = None) -> str:
    """A tick: 4 B, 16 KiB, 1 MiB."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if value >= factor:
            return f"{value / factor:g} {unit}"
    return f"{value:g} B"


def count_text(value: float, _: int | None = None) -> str:
    """A tick, in full down to thousandths: 1000, 0.05."""
    return f"{value:,.0f}" if value >= 1 else f"{value:.3f}".rstrip("0")


def power_text(value: float, _: int | None = None) -> str:
    """A tick: a power of ten."""
    return f"$10^{{{round(_log10(value))}}}$"


def _log10(value: float) -> int:
    return len(f"{round(value)}") - 1


def _x_axis(panel: Any, label: str, values: Sequence[float]) -> None:
    if label.endswith(", bytes"):
        panel.set_xscale("log", base=2)
        panel.set_xlabel(label.removesuffix(", bytes"))
        panel.xaxis.set_major_locator(LogLocator(base=4 if max(values) <= 4**6 * min(values) else 16, numticks=12))
        panel.xaxis.set_major_formatter(FuncFormatter(bytes_text))
    else:
        panel.set_xscale("log")
        panel.set_xlabel(label)
        panel.xaxis.set_major_formatter(FuncFormatter(power_text))
    panel.xaxis.set_minor_formatter(NullFormatter())


def _y_axis(panel: Any, label: str, values: Sequence[float]) -> None:
    panel.set_ylabel(label)
    low, high = min(values), max(values)
    if low <= 0 or high < 30 * low:  # a curve that is nearly flat should look so
        panel.set_ylim(0, 1.15 * high or 1)
        return
    panel.set_yscale("log")
    panel.yaxis.set_major_formatter(FuncFormatter(count_text))
    panel.yaxis.set_minor_formatter(NullFormatter())


def notes(record: Mapping[str, Any], points: Sequence[Mapping[str, Any]]) -> str:
    """What was measured where, in a line or two."""
    where = [f"{record['cpu']}, {record['num_cpus']} CPUs", record["compiler"]]
    if record["mpi"] != "none":
        where.append(record["mpi"])
    classes = [PROXIMITIES[p] for p in dict.fromkeys(point["class"] for point in points) if p in PROXIMITIES]
    if classes:
        where.append("; ".join(classes))
    return "; ".join(where) + f"; {record['date'][:10]}"


def draw(record: Mapping[str, Any], chart: str, path: str | os.PathLike[str]) -> None:
    """One chart of a benchmark's record: a panel for each quantity, a line for each competitor."""
    points = [point for point in record["points"] if point["chart"] == chart]
    quantities = list(dict.fromkeys(point["y_label"] for point in points))
    lines = list(dict.fromkeys(point["line"] for point in points))
    with plt.rc_context(STYLE | {"axes.grid.axis": "both"}):
        figure, axes = plt.subplots(1, len(quantities), figsize=(max(5.6, 4.4 * len(quantities)), 4.2), squeeze=False)
        for panel, quantity in zip(axes[0], quantities):
            here = [point for point in points if point["y_label"] == quantity]
            for index, line in enumerate(lines):
                curve = sorted((point["x"], point["y"]) for point in here if point["line"] == line)
                if curve:
                    panel.plot(*zip(*curve), color=LINE_COLORS[index % len(LINE_COLORS)],
                               marker=MARKERS[index % len(MARKERS)], markersize=4.5, linewidth=1.6)
            _x_axis(panel, here[0]["x_label"], [point["x"] for point in here])
            _y_axis(panel, quantity, [point["y"] for point in here])
        figure.suptitle(chart[0].upper() + chart[1:], fontsize=13, y=1.0)
        handles = [plt.Line2D([], [], color=LINE_COLORS[i % len(LINE_COLORS)], marker=MARKERS[i % len(MARKERS)],
                              markersize=4.5, linewidth=1.6, label=line) for i, line in enumerate(lines)]
        figure.legend(handles=handles, ncol=min(len(lines), 4), loc="upper center", bbox_to_anchor=(0.5, 0.955),
                      frameon=False)
        rows = -(-len(lines) // 4)
        figure.text(0.5, -0.005, notes(record, points), ha="center", va="top", fontsize=8, color="#444444")
        figure.tight_layout(rect=(0, 0, 1, 0.97 - 0.05 * rows))
        save(figure, path)


def draw_all(result: Path) -> list[Path]:
    """All charts of a result file, beside it; returns their paths. Raises InputError or OutputError."""
    record = files.read_json(result)
    points: list[dict[str, Any]]
    try:
        points = [{name: kind(point[name]) for name, kind in POINT.items()} for point in record.get("points", [])]
        record = {name: record[name] for name in ("cpu", "num_cpus", "compiler", "mpi", "date")} | {"points": points}
    except (AttributeError, KeyError, TypeError, ValueError):
        raise InputError(f"{result}: no result of tools/bench") from None
    suffix = ".mpich" if result.name.endswith(".mpich.json") else ""
    paths: list[Path] = []
    for chart in dict.fromkeys(point["chart"] for point in points):
        slug = re.sub(r"[^a-z0-9]+", "-", chart.lower()).strip("-")
        paths.append(result.parent / f"{slug}{suffix}.png")
        try:
            draw(record, chart, paths[-1])
        except OSError as error:
            raise OutputError(f"{paths[-1]}: {error.strerror}") from None
    return paths


def main(words: Sequence[str] | None = None) -> int:
    """The command. Gives the exit code."""

    def body() -> int:
        about = "Charts of the curves that tools/bench has measured, beside its results."
        parser = Parser(prog="python -m netuit.bench_charts", allow_abbrev=False, description=about)
        parser.add_argument("results", nargs="+", type=Path)
        for result in parser.parse_args(words).results:
            for picture in draw_all(result):
                print(picture)
        return 0

    return exit_code_of_command(body)


if __name__ == "__main__":
    sys.exit(main())
