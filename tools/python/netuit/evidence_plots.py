"""The evidence of evolution in a figure and in numbers: means over seeds with bootstrapped 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy
import pandas

from netuit import units
from netuit.intervals import FEWEST, INTERVALS, bootstrap_interval
from netuit.style import MODE_COLORS, SINGLE, STYLE

COLUMNS = ("experiment", "case", "seed", "measure", "value")

_KNOCKED_COLOR, _EVOLVED_COLOR, _CONTROL_COLOR, _ANCESTOR_COLOR = "#CC79A7", "#0072B2", "#999999", "#D55E00"
_WAVE_COLORS = {"wave": "#0072B2", "even": "#E69F00"}

#: Measures in the figure, and what to call them.
_OF_HARVESTS = (
    ("births_within_kin", "births that stay in\nthe kin group, share"),
    ("kin_cells", "kin group of a cell\nat the end, cells"),
    ("shared", "resource shared per 1000\nupdates and cell"),
    ("shared_to_kin", "share of that which\ngoes to kin"),
)
_OF_MODES = (
    ("rate", "updates per second\nand worker"),
    ("generations", "generations per\n1000 updates"),
    ("kin_cells", "kin group of a cell\nat the end, cells"),
    ("harvested", "harvested per 1000\nupdates and cell"),
    ("births_within_kin", "births that stay in\nthe kin group, share"),
)


def values(table: pandas.DataFrame, experiment: str, case: str, measure: str) -> Any:
    """One value a seed, without those that could not be had."""
    is_it = (table["experiment"] == experiment) & (table["case"] == case) & (table["measure"] == measure)
    return table.loc[is_it, "value"].dropna().to_numpy(dtype=float)


def knocked(table: pandas.DataFrame, case: str, has_any: bool = True) -> Any:
    """Shares of those without a class of instructions, one value a seed whose genome had any to lose; or of those that had
    none, and so competed with themselves."""
    is_it = (table["experiment"] == "knock-out") & (table["case"] == case)
    by_seed = table[is_it].pivot_table(index="seed", columns="measure", values="value")
    if "num_replaced" not in by_seed or "share" not in by_seed:
        return values(table, "knock-out", case, "share") if has_any else numpy.array([])
    return by_seed.loc[(by_seed["num_replaced"] > 0) == has_any, "share"].dropna().to_numpy(dtype=float)


def against_themselves(table: pandas.DataFrame) -> Any:
    """Shares in knock-outs of nothing, over all classes: what chance alone makes of a half."""
    found = [knocked(table, case, has_any=False) for case in cases(table, "knock-out")]
    return numpy.concatenate(found) if found else numpy.array([])


def never_filled(table: pandas.DataFrame, case: str) -> int:
    """How many seeds' populations never filled half of an empty world."""
    is_it = (table["experiment"] == "filling") & (table["case"] == case)
    return int(table.loc[is_it, "value"].isna().sum())


def cases(table: pandas.DataFrame, experiment: str) -> list[str]:
    """The cases of an experiment, in order."""
    return list(dict.fromkeys(table.loc[table["experiment"] == experiment, "case"]))


def base_mode(table: pandas.DataFrame, experiment: str = "modes") -> str:
    """The case of mode 0, against which others are held; empty if it was not run."""
    return next((case for case in cases(table, experiment) if case.startswith("0 ")), "")


def differences(table: pandas.DataFrame, experiment: str, case: str, base: str, measure: str) -> Any:
    """What a case has more than another of the same seed: one value a seed that both have."""
    is_it = (table["experiment"] == experiment) & (table["measure"] == measure)
    first, second = (table[is_it & (table["case"] == name)].set_index("seed")["value"] for name in (case, base))
    return (first - second).dropna().to_numpy(dtype=float)


def summary(table: pandas.DataFrame) -> pandas.DataFrame:
    """A row for each experiment, case and measure: mean over seeds, bootstrapped 95 % interval, and how many seeds."""
    lines = []
    for (experiment, case, measure), part in table.dropna(subset=["value"]).groupby(["experiment", "case", "measure"], sort=False, observed=True):
        low, high = bootstrap_interval(part["value"])
        lines.append([experiment, case, measure, part["value"].mean(), low, high, len(part)])
    return pandas.DataFrame(lines, columns=["experiment", "case", "measure", "mean", "low", "high", "seeds"])


def draw(table: pandas.DataFrame) -> Any:
    """The evidence as a figure: each seed a dot, means with bootstrapped 95 % intervals of five seeds or more; of modes also the
    differences from mode 0, which are taken seed by seed."""
    with plt.rc_context(STYLE):
        figure = plt.figure(figsize=(13.2, 11.6), layout="constrained")
        above, middle, below = figure.subfigures(3, 1, height_ratios=[1.1, 1, 1.85])
        shares, filling = above.subplots(1, 2, width_ratios=[2, 1])
        _draw_shares(shares, table)
        colors = {"ancestor": _ANCESTOR_COLOR, "evolved": _EVOLVED_COLOR}
        _draw_cases(filling, table, "filling", "doubling_time", "doubling time in an empty world, updates", colors)
        never = {case: never_filled(table, case) for case in colors}
        filling.set_xticks(range(len(colors)), [case + (f"\n({never[case]} never fill half)" if never[case] else "") for case in colors])
        _draw_row(middle, table, "evolution", _OF_HARVESTS, {case: (case, color) for case, color in _WAVE_COLORS.items()}, "harvest")
        _draw_modes(below, table)
        num_seeds = table["seed"].nunique()
        means = f"means, with {INTERVALS} from {FEWEST} seeds on"
        figure.suptitle(f"Digital evolution over {num_seeds} seeds: each a dot; {means}; differences are seed by seed", fontsize=12)
    return figure


def _draw_row(
    figure: Any, table: pandas.DataFrame, experiment: str, measures: Sequence[tuple[str, str]], names: dict[str, tuple[str, str]], of: str
) -> None:
    """Panels beside each other, a measure each; names: label and colour by case."""
    for panel, (measure, label) in zip(figure.subplots(1, len(measures)), measures):
        _draw_cases(panel, table, experiment, measure, label, {case: color for case, (_, color) in names.items()})
        panel.set_xticks(range(len(names)), [name for name, _ in names.values()])
        panel.set_xlabel(of, fontsize=9)


def _draw_modes(figure: Any, table: pandas.DataFrame) -> None:
    """Each measure by mode, and below it how far modes are from mode 0: all outcomes on one scale, so that what is no difference
    looks like none, and the rate, which the machine has a say in, on its own."""
    modes, base = cases(table, "modes"), base_mode(table)
    colors = {case: MODE_COLORS[int(case[0])] for case in modes}
    for_outcomes, panels = [], figure.subplots(2, len(_OF_MODES), sharex=True)
    for (measure, label), panel, apart in zip(_OF_MODES, *panels):
        _draw_cases(panel, table, "modes", measure, label, colors)
        apart.axhline(0, color="#444444", linewidth=1, linestyle=":")
        found = values(table, "modes", base, measure)
        for place, (case, color) in enumerate(colors.items()):
            if case != base and len(found):
                _bar(apart, place, 100 * differences(table, "modes", case, base, measure) / found.mean(), color)
        apart.set_xticks(range(len(modes)), [case[0] for case in modes])
        apart.set_xlabel("asynchronicity mode, 2 processes", fontsize=9)
        apart.set_title("difference from mode 0, %", fontsize=10, loc="left")
        apart.yaxis.set_major_formatter(lambda value, _: f"{value:+.0f}" if value else "0")
        if measure != "rate":
            for_outcomes.append(apart)
        else:
            _balance([apart])
    _balance(for_outcomes)


def _balance(panels: Sequence[Any]) -> None:
    """One scale for all, with zero in the middle."""
    reach = max(abs(end) for panel in panels for end in panel.dataLim.intervaly)
    for panel in panels:
        panel.set_ylim(*((-1.15 * reach, 1.15 * reach) if reach > 0 and math.isfinite(reach) else (-1, 1)))


def _bar(panel: Any, place: float, found: Any, color: str) -> None:
    """Mean and interval alone, or each of few values."""
    if not len(found):
        return
    if len(found) < FEWEST:
        panel.plot([place] * len(found), found, **SINGLE)
    else:
        panel.plot([place, place], bootstrap_interval(found), color=color, linewidth=5, solid_capstyle="butt", zorder=4)
    panel.plot(place, found.mean(), "_", color="#222222", markersize=11, markeredgewidth=2, zorder=5)


def _dots(panel: Any, place: float, found: Any, color: str, is_flat: bool = False) -> None:
    """Seeds beside their mean, and beside its interval unless they are few; is_flat: values along x."""
    if not len(found):
        return
    aside = place + numpy.linspace(-0.16, 0.16, len(found)) if len(found) > 1 else numpy.array([place])
    xs, ys = (found, aside) if is_flat else (aside, found)
    panel.plot(xs, ys, "o", color=color, markersize=4.5, alpha=0.55, markeredgewidth=0)
    if len(found) >= FEWEST:
        low, high = bootstrap_interval(found)
        line = ([low, high], [place, place]) if is_flat else ([place, place], [low, high])
        panel.plot(*line, color="#222222", linewidth=2.2, solid_capstyle="butt", zorder=4)
    mean = (found.mean(), place) if is_flat else (place, found.mean())
    panel.plot(*mean, "D", color="#222222", markersize=5.5, zorder=5)


def _draw_shares(panel: Any, table: pandas.DataFrame) -> None:
    """Competitions, one below the other."""
    lines = [("competition", "evolved", "evolved, against ancestor", _EVOLVED_COLOR),
             ("competition", "against keen ancestor", "evolved, against keen ancestor", _EVOLVED_COLOR),
             ("competition", "keen ancestor", "keen ancestor, against ancestor", _ANCESTOR_COLOR),
             ("competition", "genomes ignored", "evolved where genomes do nothing", _CONTROL_COLOR)]  # fmt: skip
    lines = [line for line in lines if line[1] in cases(table, "competition")]
    found = [(label, values(table, experiment, case, "share"), color) for experiment, case, label, color in lines]
    for case in cases(table, "knock-out"):
        shares = knocked(table, case)
        found.append((f"without {case}, against whole ({len(shares)})", shares, _KNOCKED_COLOR))
    if len(shares := against_themselves(table)):
        found.append((f"whole, against itself ({len(shares)})", shares, _CONTROL_COLOR))
    for place, (_, shares, color) in enumerate(found):
        _dots(panel, place, shares, color, is_flat=True)
    panel.axvline(0.5, color="#444444", linewidth=1, linestyle=":")
    panel.set_yticks(range(len(found)), [label for label, *_ in found])
    panel.set_ylim(max(1, len(found)) - 0.5, -0.5)
    panel.set_xlim(-0.02, 1.02)
    panel.grid(axis="x")
    panel.grid(False, axis="y")
    panel.set_xlabel("share of cells at the end, of half at the beginning; mutation off", fontsize=9)
    panel.set_title("competitions", fontsize=10, loc="left")


def _draw_cases(
    panel: Any, table: pandas.DataFrame, experiment: str, measure: str, label: str, colors: dict[str, str]
) -> None:
    top = 0.0
    for place, (case, color) in enumerate(colors.items()):
        found = values(table, experiment, case, measure)
        _dots(panel, place, found, color)
        top = max(top, *found) if len(found) else top
    panel.set_xticks(range(len(colors)), list(colors))
    panel.set_xlim(-0.6, len(colors) - 0.4)
    panel.set_ylim(0, 1.08 * top if top > 0 and math.isfinite(top) else 1)
    panel.yaxis.set_major_formatter(lambda value, _: units.short(value))
    panel.set_title(label, fontsize=10, loc="left")
