"""Figures of partitions and of results. Each function draws on the axes given, or on new ones, and gives them back."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import networkx
import numpy
import pandas
import seaborn
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from conduit_tools import InputError, footers
from conduit_tools.evolution import LAYERS
from conduit_tools.style import MODE_COLORS, STYLE

MAX_LAID_OUT = 1500  #: nodes of a graph that springs can lay out in seconds
_CUT = "#C22F2F"
_INSIDE = "#B8B8B8"

SILENT_MODE = 4  #: in which no message leaves its thread, so that there is no service

INTERVALS = "bootstrapped 95 % intervals"

QUALITY_METRICS = {  #: columns of quality rows and what to call them
    "simstep_period_s": "simstep period, s",
    "simstep_latency_updates": "simstep latency, updates",
    "wall_latency_s": "wall-time latency, s",
    "failure_rate": "delivery failure rate",
    "clumpiness": "delivery clumpiness",
    "skip_rate": "skip rate",
}


def bootstrap_interval(
    values: Any, level: float = 0.95, num_samples: int = 2000, seed: int = 1, statistic: Callable[..., Any] = numpy.mean
) -> tuple[float, float]:
    """The bootstrapped interval of the mean of `values`, or of another statistic that takes an axis, by percentiles.
    Deterministic in the seed; NaN without values.

    Of few values it is too short: at a level of 95 % it holds the mean of a normal distribution in 75 % of cases with 3
    values, 84 % with 5, 90 % with 10, and 93 % with 30."""
    values = numpy.asarray(values, dtype=float)
    if values.size == 0:
        return math.nan, math.nan
    generator = numpy.random.default_rng(seed)
    statistics = statistic(values[generator.integers(values.size, size=(num_samples, values.size))], axis=1)
    low, high = numpy.quantile(statistics, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def ratio_interval(one: Any, other: Any, level: float = 0.95, num_samples: int = 4000) -> tuple[float, float, float]:
    """Ratio of two means with its bootstrapped interval: (ratio, low, high)."""
    one, other = numpy.asarray(one, dtype=float), numpy.asarray(other, dtype=float)
    if one.size == 0 or other.size == 0:
        return math.nan, math.nan, math.nan
    ratios = _ratios(one, other, num_samples, numpy.random.default_rng(1))
    low, high = numpy.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return float(one.mean() / other.mean()), float(low), float(high)


def gain_interval(
    ours: tuple[Any, Any], base: tuple[Any, Any], level: float = 0.95, num_samples: int = 4000
) -> tuple[float, float, float]:
    """By how much one ratio of two means is above another, with its bootstrapped interval: (difference, low, high)."""
    arrays = [[numpy.asarray(values, dtype=float) for values in pair] for pair in (ours, base)]
    if any(values.size == 0 for pair in arrays for values in pair):
        return math.nan, math.nan, math.nan
    generator = numpy.random.default_rng(1)
    ratios = [_ratios(above, below, num_samples, generator) for above, below in arrays]
    low, high = numpy.quantile(ratios[0] - ratios[1], [(1 - level) / 2, (1 + level) / 2])
    here, there = (above.mean() / below.mean() for above, below in arrays)
    return float(here - there), float(low), float(high)


def _ratios(one: Any, other: Any, num_samples: int, generator: Any) -> Any:
    """Ratios of the means of samples that are drawn anew of both."""
    above = one[generator.integers(one.size, size=(num_samples, one.size))].mean(1)
    return above / other[generator.integers(other.size, size=(num_samples, other.size))].mean(1)


def deviation_ratio_interval(
    one: Any, other: Any, level: float = 0.95, num_samples: int = 4000
) -> tuple[float, float, float]:
    """Ratio of two standard deviations with its bootstrapped interval: (ratio, low, high). Of few samples one is often
    drawn again and again, so that an end may be infinite."""
    one, other = numpy.asarray(one, dtype=float), numpy.asarray(other, dtype=float)
    if one.size < 2 or other.size < 2 or other.std() == 0:
        return math.nan, math.nan, math.nan
    random = numpy.random.default_rng(1)
    above, below = (
        values[random.integers(values.size, size=(num_samples, values.size))].std(axis=1, ddof=1) for values in (one, other)
    )
    with numpy.errstate(divide="ignore", invalid="ignore"):
        ratios = above / below
    # Not between two of the ratios, some of which are infinite; without those of 0 to 0.
    low, high = numpy.nanquantile(ratios, [(1 - level) / 2, (1 + level) / 2], method="nearest")
    return float(one.std(ddof=1) / other.std(ddof=1)), float(low), float(high)


def by_run(rows: pandas.DataFrame) -> pandas.DataFrame:
    """One row a run (layout, mode, replicate): `rate`, the mean over workers in updates per second, `slowest`, the least
    of any, `rate_per_cpu`, the sum over workers for each CPU they had, and `conflicts`, or, of digital evolution,
    `generations`, births since a founder for each 1000 updates. For rows of a sweep also its case."""
    keys = [key for key in ("case", "graph", "processes", "threads", "mode", "mode_name", "replicate") if key in rows]
    if "mean_generation" in rows:
        rows = rows.assign(generations=1000 * rows["mean_generation"] / rows["updates"])
    own = [name for name in ("conflicts", "conflict_edges_total", "generations") if name in rows]
    frame = rows.groupby(keys, observed=True, sort=False, as_index=False).agg(
        rate=("updates_per_second", "mean"),
        slowest=("updates_per_second", "min"),
        total=("updates_per_second", "sum"),
        **{name: (name, "mean") for name in own},
        oversubscribed=("oversubscribed", "any"),
        cpus=("cpus" if "cpus" in rows else "threads", "first"),
    )
    workers = frame["processes"] * frame["threads"]
    if "cpus" not in rows:
        frame["cpus"] = workers
    frame["rate_per_cpu"] = frame["total"] / frame["cpus"].clip(upper=workers)
    if "conflicts" in frame:
        frame["conflict_share"] = frame["conflicts"] / frame["conflict_edges_total"]
    frame["workers"] = frame["processes"].astype(str) + "x" + frame["threads"].astype(str)
    return frame.drop(columns="total")


def _in_order(runs: pandas.DataFrame) -> list[str]:
    layouts = runs[["processes", "threads"]].drop_duplicates()
    pairs = sorted(zip(layouts["processes"], layouts["threads"]), key=lambda pair: (pair[0] * pair[1], pair[0]))
    return [f"{processes}x{threads}" for processes, threads in pairs]


def _bars(rows: pandas.DataFrame, column: str, label: str, ax: Any, layouts: list[str] | None, by: str) -> Any:
    if len(rows) == 0:
        raise InputError("no rows to draw")
    if by not in ("mode", "case") or by not in rows:
        raise InputError(f"by {by!r}: want mode, or, for rows of a sweep, case")
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
        seaborn.barplot(
            runs.assign(group=groups), x="workers", y=column, hue="group", order=layouts, hue_order=names, palette=palette,
            errorbar=("ci", 95), n_boot=1000, seed=1, err_kws={"linewidth": 1.1, "color": "#333333"}, saturation=1, ax=ax,
        )  # fmt: skip
        ax.set_xticks(range(len(layouts)), [name + ("*" if name in crowded else "") for name in layouts])
        ax.set_xlabel("processes x threads" + ("; * more than CPUs" if crowded else ""))
        ax.set_ylabel(label)
        ax.tick_params(axis="x", length=0)
        ax.legend(title=None, frameon=False, fontsize="small", ncol=min(len(names), 3), loc="lower left",
                  bbox_to_anchor=(0, 1.0), handlelength=1.1, columnspacing=1.4, borderaxespad=0.2)  # fmt: skip
    footers.tell(ax.figure.figure, f"bars: means over {{}}; lines: {INTERVALS}", rows)
    return ax


def plot_rates(
    rows: pandas.DataFrame, ax: Any = None, *, per_cpu: bool = False, layouts: list[str] | None = None, by: str = "mode"
) -> Any:
    """Updates per second and worker (per CPU where `per_cpu`) by workers and mode, means over replicates with
    bootstrapped 95 % intervals, as a line below the figure says. Gives the axes; `.figure.savefig(path,
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
    snapshots and workers with bootstrapped 95 % intervals. Where rows are of several layers, a line of panels for each
    metric and a column for each layer. layers: their names in order, by default those of digital_evolution. Gives the
    figure."""
    metrics = QUALITY_METRICS if metrics is None else metrics
    rows = quality[quality["scope"] == "worker"] if "scope" in quality else quality
    rows = rows.assign(workers=_layout_names(rows))
    rows = rows[rows["mode"] != SILENT_MODE] if (rows["mode"] != SILENT_MODE).any() else rows
    layouts = _in_order(rows) if {"processes", "threads"} <= set(rows) else sorted(rows["workers"].unique())
    modes = sorted(rows["mode"].unique())
    present = [name for name in metrics if name in rows and rows[name].notna().any()]
    if not present:
        raise InputError("no quality of service in these rows")
    numbers = sorted(rows["layer"].unique()) if "layer" in rows else []
    with plt.rc_context(STYLE):
        if len(numbers) > 1:
            size = (0.6 + max(2.6, 0.6 + 0.45 * len(layouts)) * len(numbers), 0.6 + 2.2 * len(present))
            figure, axes = plt.subplots(
                len(present), len(numbers), figsize=size, squeeze=False, sharex=True, sharey="row", layout="constrained"
            )
            for line, name in zip(axes, present):
                for panel, number in zip(line, numbers):
                    _plot_metric(panel, rows[rows["layer"] == number], name, metrics[name], layouts, modes)
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
                _plot_metric(panel, rows, name, metrics[name], layouts, modes)
            for panel in list(axes.flat)[len(present) :]:
                panel.set_visible(False)
        handles = [Line2D([], [], color=MODE_COLORS[mode], marker="o", markersize=4, linestyle="none", label=f"mode {mode}") for mode in modes]
        figure.legend(handles=handles, ncol=len(modes), loc="outside upper center", frameon=False)
    footers.tell(figure, f"dots: medians over workers and snapshots of {{}}; lines: {INTERVALS} of medians", rows)
    return figure


def _plot_metric(panel: Any, rows: pandas.DataFrame, name: str, label: str, layouts: list[str], modes: list[int]) -> None:
    seaborn.pointplot(
        rows, x="workers", y=name, hue="mode", order=layouts, hue_order=modes, estimator="median",
        palette=[MODE_COLORS[mode] for mode in modes], errorbar=("ci", 95), n_boot=300, seed=1, dodge=0.3 if len(modes) > 1 else False,
        linestyle="none", markersize=4, err_kws={"linewidth": 1.1}, legend=False, ax=panel,
    )  # fmt: skip
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


def draw_partition(
    graph: networkx.Graph, placement: Mapping[Hashable, int], ax: Any = None, *, pos: Mapping[Any, Any] | None = None
) -> Any:
    """The graph with its nodes coloured by worker; edges that join two workers stand out. Gives the axes.

    pos: where nodes are, as NetworkX' layouts give it; by default, pairs of whole numbers are rows and columns of a
    grid (edges round a torus are drawn as stubs), and other graphs are laid out by springs, or, where they are large,
    on a circle in the order of nodes.
    """
    missing = next((node for node in graph if node not in placement), None)
    if missing is not None:
        raise InputError(f"node {missing!r} is not placed")
    grid = pos is None and all(isinstance(node, tuple) and len(node) == 2 for node in graph)
    places = _places(graph, grid) if pos is None else {node: tuple(pos[node]) for node in graph}
    workers = sorted(set(placement.values()))
    palette = dict(zip(workers, seaborn.husl_palette(len(workers), l=0.62, s=0.8)))
    inside: list[Any] = []
    cut: list[Any] = []
    for one, other in graph.edges():
        lines = cut if placement[one] != placement[other] else inside
        lines += _segments(places[one], places[other], grid)
    if ax is None:
        _, ax = plt.subplots(figsize=(5.2, 5.2), layout="constrained")
    ax.add_collection(LineCollection(inside, colors=_INSIDE, linewidths=0.6, zorder=1))
    ax.add_collection(LineCollection(cut, colors=_CUT, linewidths=1.5, zorder=2))
    size = max(4.0, min(60.0, 22000 / len(graph)))
    xs, ys = zip(*(places[node] for node in graph))
    ax.scatter(xs, ys, s=size, c=[palette[placement[node]] for node in graph], linewidths=0, zorder=3)
    ax.set_aspect("equal")
    ax.axis("off")
    num_cut = sum(placement[one] != placement[other] for one, other in graph.edges())
    ax.set_title(
        f"{len(graph)} nodes on {len(workers)} workers, {num_cut} of {graph.number_of_edges()} edges cut", fontsize=10
    )
    return ax


def _places(graph: networkx.Graph, is_grid: bool) -> dict[Any, Any]:
    if is_grid:
        return {(row, column): (column, -row) for row, column in graph}
    if len(graph) > MAX_LAID_OUT:
        return {
            node: (math.sin(angle), math.cos(angle))
            for node, angle in zip(graph, numpy.linspace(0, 2 * math.pi, len(graph), endpoint=False))
        }
    start = networkx.circular_layout(graph)  # from which springs untangle rings and small worlds well
    return dict(networkx.spring_layout(graph, pos=start, seed=1, iterations=100))


def _segments(one: Any, other: Any, is_grid: bool) -> list[Any]:
    if not is_grid or math.dist(one, other) < 2:
        return [(one, other)]
    across = [(b > a) - (b < a) if abs(b - a) > 1 else 0 for a, b in zip(one, other)]
    return [
        (place, tuple(at - 0.6 * side * step for at, step in zip(place, across)))
        for place, side in ((one, 1), (other, -1))
    ]
