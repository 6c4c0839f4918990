"""Figures of single results. Each function draws on the axes given, or on new ones, and gives them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy
import pandas
import seaborn
from matplotlib.lines import Line2D

from netuit import InputError, footers
from netuit.analysis import QUALITY_METRICS, SILENT_MODE, by_run
from netuit.evolution_records import LAYERS
from netuit.intervals import FEWEST, INTERVALS
from netuit.style import MODE_COLORS, SINGLE, STYLE


def _in_order(runs: pandas.DataFrame) -> list[str]:
    layouts = runs[["processes", "threads"]].drop_duplicates()
    pairs = sorted(zip(layouts["processes"], layouts["threads"]), key=lambda pair: (pair[0] * pair[1], pair[0]))
    return [f"{processes}x{threads}" for processes, threads in pairs]


def _bars(rows: pandas.DataFrame, column: str, label: str, ax: Any, layouts: list[str] | None, by: str) -> Any:
    if len(rows) == 0:
        raise InputError("no rows to draw")
    if by not in ("mode", "case") or by not in rows:
        raise InputError(f"by {by!r}: expected mode, or, for rows of a sweep, case")
    runs = by_run(rows)
    layouts = _in_order(runs) if layouts is None else layouts
    crowded = set(runs.loc[runs["oversubscribed"], "workers"])
    if by == "mode":
        runs = runs.sort_values("mode", kind="stable")
        groups = runs["mode"].astype(str) + " " + runs["mode_name"].astype(str).str.replace("_", " ")
        palette: Any = [MODE_COLORS[mode] for mode in runs["mode"].unique()]
    else:
        groups = runs["case"].astype(str).str.replace("_", " ")
        palette = seaborn.color_palette("colorblind", groups.nunique())
    names = list(dict.fromkeys(groups))
    with plt.rc_context(STYLE):
        if ax is None:
            _, ax = plt.subplots(figsize=(max(5.0, 1.6 + 1.1 * len(layouts)), 3.6), layout="constrained")
        told: dict[str, Any] = dict(data=runs.assign(group=groups), x="workers", y=column, hue="group", order=layouts, hue_order=names, ax=ax)
        has_few = runs.groupby(["workers", groups], observed=True).size().min() < FEWEST
        seaborn.barplot(
            **told, palette=palette, errorbar=None if has_few else ("ci", 95), n_boot=1000, seed=1,
            err_kws={"linewidth": 1.1, "color": "#333333"}, saturation=1,
        )  # fmt: skip
        if has_few:
            seaborn.stripplot(**told, palette=["#333333"] * len(names), dodge=len(names) > 1, jitter=False, size=2.5, legend=False)
        ax.set_xticks(range(len(layouts)), [name + ("*" if name in crowded else "") for name in layouts])
        ax.set_xlabel("processes x threads" + ("; * more than CPUs" if crowded else ""))
        ax.set_ylabel(label)
        ax.tick_params(axis="x", length=0)
        ax.legend(title=None, frameon=False, fontsize="small", ncol=min(len(names), 3), loc="lower left",
                  bbox_to_anchor=(0, 1.0), handlelength=1.1, columnspacing=1.4, borderaxespad=0.2)  # fmt: skip
    footers.tell(ax.figure.figure, "bars: means over {}; " + ("dots: single ones" if has_few else f"lines: {INTERVALS}"), rows)
    return ax


def plot_rates(
    rows: pandas.DataFrame, ax: Any = None, *, per_cpu: bool = False, layouts: list[str] | None = None, by: str = "mode"
) -> Any:
    """Updates per second and worker (per CPU where `per_cpu`) by workers and mode, means over replicates with
    bootstrapped 95 % intervals, or, below five replicates, with each as a dot, as a line below the figure says. Gives the axes; `.figure.savefig(path,
    bbox_inches="tight")` keeps them. by: "case" compares the cases of a sweep instead of modes."""
    label = "updates per second and CPU" if per_cpu else "updates per second and worker"
    return _bars(rows, "rate_per_cpu" if per_cpu else "rate", label, ax, layouts, by)


def plot_conflicts(
    rows: pandas.DataFrame, ax: Any = None, *, layouts: list[str] | None = None, by: str = "mode"
) -> Any:
    """Share of adjacent pairs that are of one colour at the end, by workers and mode, likewise."""
    return _bars(rows, "conflict_share", "conflicts left, share of pairs", ax, layouts, by)


def plot_generations(
    rows: pandas.DataFrame, ax: Any = None, *, layouts: list[str] | None = None, by: str = "mode"
) -> Any:
    """Of digital evolution, births since a founder for each 1000 updates, mean over cells, likewise."""
    return _bars(rows, "generations", "generations per 1000 updates", ax, layouts, by)


def plot_quality(
    quality: pandas.DataFrame, metrics: Mapping[str, str] | None = None, *, layers: Sequence[str] = LAYERS
) -> Any:
    """The metrics of quality of service by workers and mode, a panel each, in modes that communicate: medians over
    snapshots and workers with bootstrapped 95 % intervals, or, below five replicates, with the median of each as a small dot. A metric
    that is 0 everywhere has no panel; the foot names it. Where rows are of several layers, a line of panels for each metric and a
    column for each layer. layers: their names in order, by default those of digital_evolution. Gives the figure. Raises InputError if
    no panel is left."""
    metrics = QUALITY_METRICS if metrics is None else metrics
    rows = quality[quality["scope"] == "worker"] if "scope" in quality else quality
    rows = rows.assign(workers=_layout_names(rows))
    rows = rows[rows["mode"] != SILENT_MODE] if (rows["mode"] != SILENT_MODE).any() else rows
    layouts = _in_order(rows) if {"processes", "threads"} <= set(rows) else sorted(rows["workers"].unique())
    modes = sorted(rows["mode"].unique())
    present = [name for name in metrics if name in rows and rows[name].notna().any()]
    if not present:
        raise InputError("no quality of service in these rows")
    present, zeros = without_zeros(metrics, present, rows)
    has_few = _has_few(rows)
    numbers = sorted(rows["layer"].unique()) if "layer" in rows else []
    with plt.rc_context(STYLE):
        if len(numbers) > 1:
            size = (0.6 + max(2.6, 0.6 + 0.45 * len(layouts)) * len(numbers), 0.6 + 2.2 * len(present))
            figure, axes = plt.subplots(
                len(present), len(numbers), figsize=size, squeeze=False, sharex=True, sharey="row", layout="constrained"
            )
            for line, name in zip(axes, present):
                for panel, number in zip(line, numbers):
                    _plot_metric(panel, rows[rows["layer"] == number], name, metrics[name], layouts, modes, has_few)
                    panel.label_outer()
            for panel, number in zip(axes[0], numbers):
                panel.set_title(layers[number] if number < len(layers) else f"layer {number}")
        else:
            num_columns = min(3, len(present))
            num_lines = -(-len(present) // num_columns)
            figure, axes = plt.subplots(
                num_lines, num_columns, figsize=(3.9 * num_columns, 3.0 * num_lines), squeeze=False, layout="constrained"
            )
            for panel, name in zip(axes.flat, present):
                _plot_metric(panel, rows, name, metrics[name], layouts, modes, has_few)
            for panel in list(axes.flat)[len(present) :]:
                panel.set_visible(False)
        handles = [Line2D([], [], color=MODE_COLORS[mode], marker="o", markersize=4, linestyle="none", label=f"mode {mode}") for mode in modes]
        figure.legend(handles=handles, ncol=len(modes), loc="outside upper center", frameon=False)
    beside = "small dots: those of single ones" if has_few else f"lines: {INTERVALS} of medians"
    footers.tell(figure, f"dots: medians over workers and snapshots of {{}}; {beside}{zeros}", rows)
    return figure


def without_zeros(metrics: Mapping[str, str], names: Sequence[str], table: pandas.DataFrame) -> tuple[list[str], str]:
    """The metrics that are not 0 in all rows, and what the foot says of the others. Raises InputError if each is 0."""
    shown = [name for name in names if table[name].fillna(0).any()]
    zeros = ", ".join(metrics[name].removesuffix(", s") for name in names if name not in shown)
    if not shown:
        raise InputError(f"nothing to draw; 0 everywhere: {zeros}")
    return shown, f"; 0 everywhere: {zeros}" if zeros else ""


def _has_few(rows: pandas.DataFrame) -> bool:
    """Whether some workers and mode have too few replicates for an interval."""
    return "replicate" not in rows or bool(rows.groupby(["workers", "mode"], observed=True)["replicate"].nunique().min() < FEWEST)


def _plot_metric(
    panel: Any, rows: pandas.DataFrame, name: str, label: str, layouts: list[str], modes: list[int], has_few: bool
) -> None:
    if rows[name].notna().any() and not rows[name].fillna(0).any():  # of one of several layers
        panel.text(0.5, 0.5, "0 everywhere", transform=panel.transAxes, ha="center", va="center", fontsize=9, color="#666666")
        rows = rows[:0]
    apart = 0.3 if len(modes) > 1 else 0
    seaborn.pointplot(
        rows, x="workers", y=name, hue="mode", order=layouts, hue_order=modes, estimator="median",
        palette=[MODE_COLORS[mode] for mode in modes], errorbar=None if has_few else ("ci", 95), n_boot=300, seed=1, dodge=apart or False,
        linestyle="none", markersize=4, err_kws={"linewidth": 1.1}, legend=False, ax=panel,
    )  # fmt: skip
    if has_few and "replicate" in rows:
        for mode, aside in zip(modes, numpy.linspace(-apart / 2, apart / 2, len(modes))):
            medians = rows[rows["mode"] == mode].groupby(["workers", "replicate"], observed=True)[name].median().dropna()
            panel.plot([layouts.index(workers) + aside for workers, _ in medians.index], medians, **SINGLE)
    panel.set_ylabel(label)
    panel.set_xlabel("workers (processes x threads)")
    if name.endswith("_s") or name.endswith("_updates"):
        panel.set_yscale("log")
    else:
        panel.set_ylim(-0.03, 1.03)


def _layout_names(rows: pandas.DataFrame) -> Any:
    if {"processes", "threads"} <= set(rows):
        return rows["processes"].astype(str) + "x" + rows["threads"].astype(str)
    return "workers"
