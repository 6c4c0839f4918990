"""Figures that set one measurement beside another, as the notebooks in binder/ draw them."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import pandas
import seaborn

from netuit import InputError, analysis, footers
from netuit.analysis import SILENT_MODE, by_run
from netuit.experiment_plots import mode_key, mode_label, name_metric
from netuit.intervals import FEWEST, INTERVALS, ratio_interval
from netuit.style import MODE_COLORS, SINGLE, STYLE

PAPERS_FOUR_THREADS = 0.39  #: of one thread's rate, each of four had, in all modes alike; doi:10.1145/3449726.3463205
_SET_COLORS = ["#4C5B7A", "#C9A227"]
_CALIBRATED = {  # of analysis.CALIBRATED, what to call them
    "rate": "updates per second and process",
    "conflicts": "conflicts left",
    "simstep_latency_updates": "simstep latency, updates",
    "wall_latency_s": "wall-time latency",
    "age_p50_s": "age of what is read",
    "transit_p50_s": "transit time",
    "clumpiness": "delivery clumpiness",
    "skip_rate": "skip rate",
}


def rates_by_case(rows: pandas.DataFrame) -> Any:
    """By case, what each mode keeps of the rate that workers have in mode 4, where none communicates: ratios of means
    with bootstrapped 95 % intervals, or with each replicate where they are few; a panel for each layout of several workers. Gives the
    figure."""
    runs = by_run(rows)
    runs = runs[runs["processes"] * runs["threads"] > 1]
    names = dict(zip(runs["mode"], runs["mode_name"].astype(str)))
    shown = sorted(set(names) - {SILENT_MODE})
    if SILENT_MODE not in names or not shown:
        raise InputError(f"no rates of several workers in mode {SILENT_MODE} and another")
    layouts, cases = (list(dict.fromkeys(runs[key].astype(str))) for key in ("workers", "case"))
    has_few = _has_few(runs)
    with plt.rc_context(STYLE):
        size = (1.2 + 4.2 * len(layouts), 3.4)
        figure, axes = plt.subplots(1, len(layouts), figsize=size, squeeze=False, sharey=True, layout="constrained")
        for panel, layout in zip(axes.flat, layouts):
            here = runs[runs["workers"] == layout]
            for number, mode in enumerate(shown):
                aside = (number - (len(shown) - 1) / 2) * 0.5 / len(shown)
                for place, case in enumerate(cases):
                    part = here[here["case"].astype(str) == case]
                    rate, alone = (part.loc[part["mode"] == each, "rate"] for each in (mode, SILENT_MODE))
                    _point(panel, place + aside, rate, alone, MODE_COLORS[mode], has_few)
            _finish(panel, f"{layout} workers", [case.replace("_", " ") for case in cases])
        axes[0, 0].set_ylabel("rate, relative to mode 4")
        figure.legend(handles=mode_key(shown, names), ncol=len(shown), loc="outside upper center", frameon=False)
    footers.tell(figure, _reading(has_few, f"mode {SILENT_MODE}"), rows)
    return figure


def threads_by_case(rows: pandas.DataFrame) -> Any:
    """By number of threads and case, what is kept of one thread's rate per CPU: ratios of means with bootstrapped 95 %
    intervals, or with each replicate where they are few, beside what the founding paper's four threads kept. Gives the figure."""
    runs = by_run(rows)
    runs = runs[runs["processes"] == 1]
    alone = runs[runs["threads"] == 1]
    counts = sorted(set(runs["threads"]) - {1})
    if not len(alone) or not counts:
        raise InputError("expected rates of one thread and of several")
    cases = list(dict.fromkeys(runs["case"].astype(str)))
    crowded = set(runs.loc[runs["oversubscribed"], "threads"])
    colors = seaborn.color_palette("colorblind", len(cases))
    has_few = _has_few(runs)
    with plt.rc_context(STYLE):
        figure, panel = plt.subplots(figsize=(8.4, 4.0), layout="constrained")
        for number, (case, color) in enumerate(zip(cases, colors)):
            base = alone.loc[alone["case"].astype(str) == case, "rate_per_cpu"]
            aside = (number - (len(cases) - 1) / 2) * 0.7 / len(cases)
            for place, count in enumerate(counts):
                part = runs[(runs["case"].astype(str) == case) & (runs["threads"] == count)]
                _point(panel, place + aside, part["rate_per_cpu"], base, color, has_few)
            panel.plot([], [], "o", color=color, label=case.replace("_", " "))
        if 4 in counts:
            panel.plot(counts.index(4), PAPERS_FOUR_THREADS, "*", color="black", markersize=9, linestyle="", label="founding paper")
        _finish(panel, "", [f"{count}*" if count in crowded else str(count) for count in counts])
        panel.set_ylim(bottom=0)
        panel.set_xlabel("threads" + ("; * more than CPUs, so that they take turns" if crowded else ""))
        panel.set_ylabel("rate per CPU, relative to one thread")
        figure.legend(loc="outside right center", frameon=False)
    footers.tell(figure, _reading(has_few, "one thread"), rows)
    return figure


def _has_few(runs: pandas.DataFrame) -> bool:
    """Whether a case, layout and mode of by_run has too few replicates for an interval."""
    return bool(runs.groupby(["case", "workers", "mode"], observed=True).size().min() < FEWEST)


def _reading(has_few: bool, base: str) -> str:
    """How to read ratios to the mean of a base."""
    return "dots: ratios of means over {}; " + (f"small dots: single ones to the mean of {base}" if has_few else f"lines: {INTERVALS}")


def _point(panel: Any, x: float, values: Any, base: Any, color: Any, has_few: bool) -> None:
    """A ratio of means with its interval, or with each of few values over the mean of `base`, if there are both."""
    if len(values) and len(base):
        ratio, low, high = ratio_interval(values, base)
        if has_few:
            panel.plot([x] * len(values), values / base.mean(), **SINGLE)
        else:
            panel.plot([x, x], [low, high], color=color, linewidth=1.6)
        panel.plot(x, ratio, "o", color=color, markeredgecolor="white", markeredgewidth=0.8, markersize=6)


def _finish(panel: Any, title: str, ticks: list[str]) -> None:
    panel.axhline(1, color="#888888", linewidth=1, zorder=0)
    panel.set_title(title)
    panel.set_xticks(range(len(ticks)), ticks)
    panel.set_xlim(-0.5, len(ticks) - 0.5)


def real_and_simulated(
    real_rows: pandas.DataFrame,
    real_quality: pandas.DataFrame,
    simulated_rows: pandas.DataFrame,
    simulated_quality: pandas.DataFrame,
) -> Any:
    """Two real processes and two simulated ones beside each other: medians, a panel a quantity, by mode. Gives the
    figure."""
    halves = [analysis.medians(real_rows, real_quality), analysis.medians(simulated_rows, simulated_quality)]
    table = analysis.set_beside(*halves)
    shown = list(dict.fromkeys(table.index.get_level_values("quantity")))
    if not shown:
        raise InputError("no quantity of two processes that was measured and simulated")
    names = dict(zip(real_rows["mode"], real_rows["mode_name"].astype(str)))
    with plt.rc_context(STYLE):
        lines = -(-len(shown) // 4)
        figure, axes = plt.subplots(lines, 4, figsize=(13.6, 2.9 * lines), squeeze=False, layout="constrained")
        for panel, quantity in zip(axes.flat, shown):
            part = table.loc[quantity]
            for of, aside, color in (("real", -0.2, _SET_COLORS[0]), ("simulated", 0.2, _SET_COLORS[1])):
                panel.bar(part.index + aside, part[of], 0.4, color=color, label=of)
            name_metric(panel, _CALIBRATED[quantity], quantity)
            panel.set_xticks(part.index)
            panel.tick_params(axis="x", length=0)
        for panel in list(axes.flat)[len(shown) :]:
            panel.set_visible(False)
        modes = sorted(set(table.index.get_level_values("mode")))
        figure.supxlabel("mode: " + ", ".join(mode_label(mode, names[mode]) for mode in modes), fontsize=9)
        figure.legend(*axes[0, 0].get_legend_handles_labels(), ncol=2, loc="outside upper center", frameon=False)
    for of, rows in (("real", real_rows), ("simulated", simulated_rows)):
        two = rows[rows["processes"] * rows["threads"] == 2]
        footers.tell(figure, f"bars, {of}: medians over {{}}, of quality of service over processes and snapshots too", two)
    return figure
