"""Figures of whole experiments, as the notebooks in binder/ draw them; result_plots.py has those of single results."""

from __future__ import annotations

import os
import pathlib
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy
import pandas
import seaborn
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullFormatter

from netuit import InputError, files, footers, units
from netuit.analysis import QUALITY_METRICS, by_replicate, regress, relative_rates, snapshots
from netuit.intervals import FEWEST, INTERVALS
from netuit.result_plots import plot_conflicts, plot_generations, plot_rates, without_zeros
from netuit.style import MODE_COLORS, SINGLE, STYLE

_LOGARITHMIC_FROM = 8  #: times that the greatest is the least

def keep(figure: Any, name: str, source: str = "") -> pathlib.Path:
    """Writes a figure as name.svg into $UIT_FIGURES (by default figures/), with the command that makes it again at
    its foot, and `source`, the one that measured. Of the same figure always the same bytes. Raises OutputError."""
    folder = pathlib.Path(os.environ.get("UIT_FIGURES", "figures"))
    again = f"drawn by: tools/figures {name}" + (f"     measured by: {source}" if source else "")
    footers.add(figure, again).set_family("monospace")
    path = folder / f"{name}.svg"
    files.make_folder(folder)
    with plt.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        files.write_figure(path, figure, bbox_inches="tight", pad_inches=0.12, metadata={"Date": None, "Creator": None})
    return path


def mode_label(mode: int, name: str) -> str:
    """`3 no barrier`."""
    return f"{mode} {name.replace('_', ' ')}"


def mode_key(modes: Sequence[int], names: Mapping[int, str]) -> list[Any]:
    """Handles of a legend of modes."""
    return [
        Line2D(
            [], [], color=MODE_COLORS[mode], marker="o", markersize=5, linestyle="", label=mode_label(mode, names[mode])
        )
        for mode in modes
    ]


def rates_and_conflicts(rows: pandas.DataFrame, title: str = "") -> Any:
    """Rates above and conflicts below, by workers and mode: threads of one process on the left, processes of one
    thread on the right, the single worker on both sides. Means with bootstrapped 95 % intervals. Rates are per CPU where
    workers outnumber them. Of digital evolution, generations take the place of conflicts. Where no run has any, the foot says so in
    place of the panels. Gives the figure."""
    panels = {
        "threads of one process": rows[rows["processes"] == 1],
        "processes of one thread": rows[rows["threads"] == 1],
    }
    panels = {name: part for name, part in panels.items() if len(part)}
    if not panels:
        raise InputError("no rows of threads alone or of processes alone")
    has_conflicts = "conflicts" in rows
    outcome = "conflicts" if has_conflicts else "mean_generation"
    num_lines = 2 if rows[outcome].any() else 1
    with plt.rc_context(STYLE):
        size = (5.4 * len(panels), 6.2 * num_lines / 2)
        figure, axes = plt.subplots(
            num_lines, len(panels), figsize=size, sharey="row", sharex="col", squeeze=False, layout="constrained"
        )
        for column, (name, part) in enumerate(panels.items()):
            plot_rates(part, axes[0, column], per_cpu=bool(rows["oversubscribed"].any()))
            axes[0, column].set_title(name)
            if num_lines == 2:
                (plot_conflicts if has_conflicts else plot_generations)(part, axes[1, column])
                axes[0, column].set_xlabel("")
            for panel in axes[:, column]:
                panel.get_legend().remove()
                if column:
                    panel.set_ylabel("")
        axes[0, 0].yaxis.set_major_formatter(lambda value, _: units.short(value))
        if num_lines == 1:
            footers.add(figure, f"{'conflicts left' if has_conflicts else 'generations'}: none in any run")
        elif has_conflicts:
            axes[1, 0].yaxis.set_major_formatter(lambda value, _: units.percent(value))
            axes[1, 0].set_ylabel("conflicts left, of pairs")
        names = dict(zip(rows["mode"], rows["mode_name"].astype(str)))
        figure.legend(handles=mode_key(sorted(names), names), ncol=5, loc="outside upper center", frameon=False)
        figure.suptitle(title)
    return figure


def quality_by_case(quality: pandas.DataFrame, metrics: Mapping[str, str] | None = None) -> Any:
    """A panel for each metric, its distribution over workers and snapshots by case and layout, modes beside each other:
    the median, the middle half and the middle 95 %. A star marks more workers than CPUs, where rows tell. A metric that is
    0 everywhere has no panel; the foot names it. Gives the figure."""
    metrics = QUALITY_METRICS if metrics is None else metrics
    workers = snapshots(quality)
    present = [name for name in metrics if name in workers and workers[name].notna().any()]
    if not present:
        raise InputError("no quality of service in these rows")
    present, zeros = without_zeros(metrics, present, workers)
    names = dict(zip(workers["mode"], workers["mode_name"].astype(str)))
    keys = ["case", "processes", "threads"]
    if "oversubscribed" not in workers:
        workers = workers.assign(oversubscribed=False)
    groups = {
        f"{textwrap.fill(case.replace('_', ' '), 10)}\n{processes}x{threads}{'*' if table['oversubscribed'].any() else ''}": table
        for (case, processes, threads), table in workers.groupby(keys, sort=False, observed=True)
    }
    columns = 3 if len(groups) <= 4 else 2
    lines = -(-len(present) // columns)
    with plt.rc_context(STYLE):
        size = (columns * max(3.8, 0.9 + 0.8 * len(groups)), 2.8 * lines)
        figure, axes = plt.subplots(lines, columns, figsize=size, squeeze=False, sharex=True, layout="constrained")
        for panel, metric in zip(axes.flat, present):
            for place, table in enumerate(groups.values()):
                here = sorted(table["mode"].unique())
                for number, mode in enumerate(here):
                    aside = (number - (len(here) - 1) / 2) * 0.7 / len(names)
                    _interval(panel, place + aside, table[table["mode"] == mode][metric].dropna(), MODE_COLORS[mode])
            _finish_metric(panel, metrics[metric], metric)
            panel.set_xticks(range(len(groups)), list(groups), fontsize=8)
        crowded = "; * more than CPUs, so that they take turns" if workers["oversubscribed"].any() else ""
        figure.supxlabel(f"workers (processes x threads){crowded}", fontsize=9)
        for panel, above in zip(list(axes.flat)[len(present) :], list(axes.flat)[len(present) - columns :]):
            panel.set_visible(False)
            above.tick_params(labelbottom=True)
        figure.legend(handles=mode_key(sorted(names), names), ncol=5, loc="outside upper center", frameon=False)
    what = "dot: median over workers and snapshots of {}; thick line: middle half; thin line: middle 95 %"
    footers.tell(figure, what + zeros, workers)
    return figure


def _interval(panel: Any, x: float, values: Any, color: str) -> None:
    if len(values):
        ends = numpy.quantile(values, [0.025, 0.25, 0.5, 0.75, 0.975])
        panel.plot([x, x], [ends[0], ends[4]], color=color, linewidth=1.1)
        panel.plot([x, x], [ends[1], ends[3]], color=color, linewidth=3.6, solid_capstyle="butt")
        panel.plot(x, ends[2], "o", color=color, markeredgecolor="white", markeredgewidth=0.8, markersize=5)


def name_metric(panel: Any, label: str, metric: str) -> None:
    """Labels an axis with a metric, and spans of time with their units."""
    panel.set_ylabel(label.removesuffix(", s"))
    if metric.endswith("_s"):
        panel.yaxis.set_major_formatter(lambda value, _: units.seconds(value))


def _finish_metric(panel: Any, label: str, metric: str) -> None:
    low, high = panel.dataLim.ymin, panel.dataLim.ymax
    if metric.endswith(("_s", "_updates")) and 0 < _LOGARITHMIC_FROM * low < high:
        panel.set_yscale("log")
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 100 * low else (1,)))
        panel.yaxis.set_minor_formatter(NullFormatter())
        panel.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        top = max(0.05 if not metric.endswith("_s") else 0, panel.get_ylim()[1])
        panel.set_ylim(-0.03 * top, top)
    name_metric(panel, label, metric)


def regressions(
    quality: pandas.DataFrame,
    on: str = "log2_workers",
    metrics: Mapping[str, str] | None = None,
    label: str = "workers",
) -> Any:
    """What regress() fits: means and their line in blue, medians in orange, a panel a metric, but none for a metric that is
    0 everywhere; the foot names it. Gives the figure."""
    metrics = QUALITY_METRICS if metrics is None else metrics
    fits = regress(quality, on, metrics)
    fitted = [metric for metric, name in metrics.items() if name in set(fits["metric"])]
    shown, zeros = without_zeros(metrics, fitted, snapshots(quality))
    with plt.rc_context(STYLE):
        lines = -(-len(shown) // 3)
        figure, axes = plt.subplots(lines, 3, figsize=(11.4, 2.9 * lines), squeeze=False, layout="constrained")
        for panel, metric in zip(axes.flat, shown):
            table = by_replicate(quality, metric)
            for statistic, color, aside in (("mean", MODE_COLORS[0], -0.1), ("median", MODE_COLORS[3], 0.1)):
                fit = fits[(fits["metric"] == metrics[metric]) & (fits["statistic"] == statistic)].iloc[0]
                panel.plot(
                    table[on] + aside, table[statistic], "o", color=color, markersize=4, alpha=0.6, markeredgewidth=0
                )
                ends = numpy.array([table[on].min(), table[on].max()])
                is_clear = fit["p"] < 0.05
                panel.plot(
                    ends, fit["intercept"] + fit["slope"] * ends, color=color, linestyle="-" if is_clear else "--"
                )
            measured = table[["mean", "median"]].to_numpy()
            room = 0.06 * float(measured.max() - measured.min()) or 0.05
            panel.set_ylim(measured.min() - room, measured.max() + room)  # a line goes no further than the dots
            name_metric(panel, metrics[metric], metric)
            ticks = sorted(table[on].unique())
            panel.set_xticks(ticks, [f"{2**tick:g}" for tick in ticks])
            panel.set_xlabel(label)
        for panel in list(axes.flat)[len(shown) :]:
            panel.set_visible(False)
        handles = [
            Line2D([], [], color=MODE_COLORS[0], marker="o", markersize=4, label="mean of a replicate, least squares"),
            Line2D([], [], color=MODE_COLORS[3], marker="o", markersize=4, label="median, quantile regression"),
            Line2D([], [], color="#666666", linestyle="--", label="slope not apart from 0 (p ≥ 0.05)"),
        ]
        figure.legend(handles=handles, ncol=3, loc="outside upper center", frameon=False)
    footers.tell(figure, "dots: a mean and a median over workers and snapshots for each of {}" + zeros, snapshots(quality))
    return figure


def _lines(runs: pandas.DataFrame, column: str, label: str, ax: Any, has_few: bool) -> None:
    """A column of relative_rates by number of workers and mode: means with bootstrapped 95 % intervals, or with each of few values."""
    for mode, part in runs.groupby("mode"):
        aside = 1.03 ** (mode - 2)
        part = part.assign(num_workers=part["num_workers"] * aside)
        seaborn.lineplot(
            part, x="num_workers", y=column, ax=ax,
            color=MODE_COLORS[mode],
            errorbar=None if has_few else ("ci", 95), n_boot=500, seed=1, err_style="bars", marker="o", markersize=5,
        )  # fmt: skip
        if has_few:
            ax.plot(part["num_workers"], part[column], **SINGLE)
    every = sorted(runs["num_workers"].unique())
    ax.set_xscale("log", base=2)
    ax.set_xticks(every, [str(count) for count in every])
    ax.minorticks_off()
    ax.set_xlabel("processes")
    ax.set_ylabel(label)


def clusters(parts: Mapping[str, pandas.DataFrame]) -> Any:
    """Simulated clusters beside each other: above, the rate relative to a single process in the same mode; below, the
    share of pairs left in conflict (of colouring); both by number of processes and mode, with bootstrapped 95 % intervals, or with
    each replicate as a small dot where a cluster has fewer than five. Leaves out clusters of fewer than three sizes."""
    names: dict[int, str] = {}
    parts = {name: rows for name, rows in parts.items() if rows["processes"].nunique() > 2}
    if not parts:
        raise InputError("no cluster of three sizes or more")
    num_lines = 2 if all("conflicts" in rows for rows in parts.values()) and any(rows["conflicts"].any() for rows in parts.values()) else 1
    with plt.rc_context(STYLE):
        size = (max(5.4, 4.2 * len(parts)), 0.4 + 3 * num_lines)
        figure, axes = plt.subplots(
            num_lines, len(parts), figsize=size, squeeze=False, sharex=True, sharey="row", layout="constrained"
        )
        for column, (name, rows) in enumerate(parts.items()):
            names |= dict(zip(rows["mode"], rows["mode_name"].astype(str)))
            runs = relative_rates(rows)
            has_few = runs.groupby(["num_workers", "mode"]).size().min() < FEWEST
            _lines(runs, "relative", "rate, relative to one process" if column == 0 else "", axes[0, column], has_few)
            axes[0, column].set_title(name.replace("_", " "))
            if num_lines == 2:
                _lines(runs, "conflict_share", "conflicts left, of pairs" if column == 0 else "", axes[1, column], has_few)
                axes[0, column].set_xlabel("")
            beside = "small dots: single ones" if has_few else f"upright lines: {INTERVALS}"
            footers.tell(figure, f"dots: means over {{}}; {beside}", rows.assign(case=name))
        if num_lines == 2:
            axes[1, 0].yaxis.set_major_formatter(lambda value, _: units.percent(value))
        for panel in axes[:, 0]:
            panel.set_ylim(bottom=0)  # of its line of panels, after all have drawn
        figure.legend(handles=mode_key(sorted(names), names), ncol=5, loc="outside upper center", frameon=False)
    return figure
