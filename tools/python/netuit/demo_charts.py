"""The demo's chart and picture."""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Iterable, Sequence

import matplotlib

matplotlib.use("Agg")  # no display needed

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import ListedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from netuit.race import Race
from netuit.results import Summary
from netuit.style import MODE_COLORS, STYLE, save

Cell = tuple[int, tuple[int, int], int, tuple[int, int], bool]  #: mode, (row, column), colour, worker, is in conflict
Picture = tuple[str, str, list[Cell]]  #: graph, workers, and the cells of all modes
_Point = tuple[float, float]

# Pale and apart in lightness, so that borders and conflicts stand out.
NODE_COLORS = ("#FBEBC0", "#A8D0E6", "#7F86B8", "#D9B3C9", "#8FC1A9", "#EDEDED", "#B08D57", "#55618F")


def draw_chart(
    summaries: Sequence[Summary], path: str | os.PathLike[str], seconds: float, fixed_period_ms: int
) -> None:
    """Rates and conflicts by layout and mode, a column of panels for each graph. Where no run left a conflict, words take the place of
    the lower row."""
    graphs = list(dict.fromkeys(s.graph for s in summaries))
    layouts = list(dict.fromkeys(s.workers for s in summaries))
    modes = sorted({s.mode for s in summaries})
    by_key = {(s.graph, s.workers, s.mode): s for s in summaries}
    names = {s.mode: s.mode_name.replace("_", " ") for s in summaries}
    is_crowded = {s.workers for s in summaries if s.oversubscribed}
    has_conflicts = {graph: any(any(s.conflict_counts) for s in summaries if s.graph == graph) for graph in graphs}
    num_lines = 2 if any(has_conflicts.values()) else 1

    with plt.rc_context(STYLE):
        width = max(7.0, 1.6 + len(graphs) * (0.9 + 0.95 * len(layouts)))
        figure, axes = plt.subplots(num_lines, len(graphs), figsize=(width, 0.8 + 2.8 * num_lines), sharex="col", squeeze=False)
        bar = 0.8 / len(modes)
        for column, graph in enumerate(graphs):
            rates, lowest = axes[0, column], axes[-1, column]
            conflicts = lowest if has_conflicts[graph] else None
            for position, mode in enumerate(modes):
                shown = [(x, by_key[graph, layout, mode]) for x, layout in enumerate(layouts) if (graph, layout, mode) in by_key]
                xs = [x + (position - (len(modes) - 1) / 2) * bar for x, _ in shown]
                rates.bar(xs, [s.rate / 1e6 for _, s in shown], 0.9 * bar, color=MODE_COLORS[mode])
                if conflicts is not None:
                    conflicts.bar(xs, [s.conflicts for _, s in shown], 0.9 * bar, color=MODE_COLORS[mode])
                for x, (_, s) in zip(xs, shown):
                    _dots(rates, x, [rate / 1e6 for rate in s.rates], bar)
                    if conflicts is not None:
                        _dots(conflicts, x, s.conflict_counts, bar)
            pairs = max(s.edges for s in summaries if s.graph == graph)
            rates.set_title(f"{graph}  ({pairs:,} adjacent pairs)", fontsize=11)
            rates.set_ylim(0, 1.05 * max(max(s.rates) for s in summaries) / 1e6 or 1)
            if conflicts is not None:
                conflicts.set_ylim(bottom=0)
            elif num_lines == 2:
                lowest.text(0.5, 0.5, "none in any run", transform=lowest.transAxes, ha="center", va="center", color="#444444")
                lowest.set_yticks([])
            lowest.set_xticks(range(len(layouts)), [w + ("*" if w in is_crowded else "") for w in layouts])
            lowest.set_xlabel("workers (processes x threads)")
            for panel in (rates, lowest):
                panel.tick_params(axis="x", length=0)
        axes[0, 0].set_ylabel("node updates per second\n(millions, all workers)")
        if num_lines == 2:
            axes[1, 0].set_ylabel("conflicts left at the end\n(adjacent pairs of one colour)")
        figure.align_ylabels(axes[:, 0])
        handles = [Patch(color=MODE_COLORS[mode], label=f"{mode} {names[mode]}") for mode in modes]
        figure.suptitle("Graph colouring by asynchronicity mode", fontsize=13, y=1.0)
        figure.legend(handles=handles, ncol=len(modes), loc="upper center", bbox_to_anchor=(0.5, 0.975), frameon=False,
                      handlelength=1.1, columnspacing=1.6)
        num_runs = max(len(s.rates) for s in summaries)
        below = "The lower row shows the conflicts that are left." if num_lines == 2 else "Conflicts left at the end: none in any run."
        notes = [_takeaway(summaries, below) + "\n", f"Bars: means; dots: {num_runs} runs of {seconds:g} s."]
        if 2 in modes:
            notes.append(f"Mode 2's period is shortened to {fixed_period_ms} ms.")
        if is_crowded:
            notes.append("* more workers than CPUs: they take turns.")
        figure.text(0.5, -0.005, " ".join(notes).replace("\n ", "\n"), ha="center", va="top", fontsize=9, color="#444444")
        figure.tight_layout(rect=(0, 0, 1, 0.96))
        save(figure, path)


def _dots(panel: Axes, x: float, values: Sequence[float], width: float) -> None:
    """A dot for each replicate, over the bar of their mean."""
    if len(values) > 1:
        aside = [x + ((number * 0.618) % 1 - 0.5) * 0.55 * width for number in range(len(values))]
        panel.scatter(aside, values, s=5, c="#222222", linewidths=0, zorder=3)


def _takeaway(summaries: Sequence[Summary], below: str) -> str:
    """What one sees, in a sentence, before `below`. A case counts only if its single runs do not overlap."""
    base = {(s.graph, s.workers): s for s in summaries if s.mode == 0}
    apart = [s for s in summaries if s.mode == 3 and not s.oversubscribed and s.workers != "1x1" and (s.graph, s.workers) in base]
    if not apart:
        return f"Rates show how fast each mode is. {below}"
    num_faster = sum(min(s.rates) > max(base[s.graph, s.workers].rates) for s in apart)
    return (
        f"Of {len(apart)} cases with several workers and a CPU for each, mode 3 is faster than mode 0 in {num_faster}, "
        f"by every run. {below}"
    )


def draw_race(race: Race, path: str | os.PathLike[str]) -> None:
    """Rates and times to a solution of modes 0 and 3, where workers are slow in turn."""
    modes = sorted(race.rates)
    with plt.rc_context(STYLE):
        figure, (rates, times) = plt.subplots(1, 2, figsize=(7.0, 3.4))
        for x, mode in enumerate(modes):
            millions = [rate / 1e6 for rate in race.rates[mode]]
            rates.bar(x, sum(millions) / len(millions), 0.6, color=MODE_COLORS[mode])
            _dots(rates, x, millions, 0.6)
            solved = [1000 * time for time in race.times[mode] if time is not None]
            if solved:
                times.bar(x, sum(solved) / len(solved), 0.6, color=MODE_COLORS[mode])
                _dots(times, x, solved, 0.6)
            if len(solved) < len(race.times[mode]):
                times.annotate(f"{len(solved)} of {len(race.times[mode])} runs", (x, 0), (0, 4), textcoords="offset points", ha="center", fontsize=9)
        names = {0: "0 every update", 3: "3 no barrier"}
        for panel in (rates, times):
            panel.set_xticks(range(len(modes)), [names.get(mode, str(mode)) for mode in modes])
            panel.tick_params(axis="x", length=0)
            panel.set_ylim(bottom=0)
            panel.set_xlim(-0.6, len(modes) - 0.4)
        rates.set_ylabel("node updates per second\n(millions, all workers)")
        times.set_ylabel("ms until 5 % of the pairs\nare in conflict")
        figure.suptitle(f"Workers slow in turn: {race.name}", fontsize=12)
        words = "The workers take turns at being three times slower, each for 10 ms, as noise on a cluster makes them. Dots: single runs."
        words += "\n" + textwrap.fill(f"Here {race.verdict()}.", 120)
        figure.text(0.5, -0.005, words, ha="center", va="top", fontsize=9, color="#444444")
        figure.tight_layout()
        save(figure, path)


def _borders(cells: Iterable[Cell]) -> list[list[_Point]]:
    """Line segments between neighbouring cells of different workers, with x to the right and y down."""
    worker = {place: owner for _, place, _, owner, _ in cells}
    segments: list[list[_Point]] = []
    for (row, column), owner in worker.items():
        right, below = worker.get((row, column + 1)), worker.get((row + 1, column))
        if right is not None and right != owner:
            segments.append([(column + 0.5, row - 0.5), (column + 0.5, row + 0.5)])
        if below is not None and below != owner:
            segments.append([(column - 0.5, row + 0.5), (column + 0.5, row + 0.5)])
    return segments


def draw_grid(
    graph: str, workers: str, cells: Sequence[Cell], path: str | os.PathLike[str], names: Sequence[str]
) -> None:
    """Final colours of a grid-like graph, a panel for each mode.

    `cells` has a tuple (mode, (row, column), colour, worker, is in conflict) for each node and mode. Borders
    between workers are lines, nodes in conflict are marked. `names` is by mode.
    """
    modes = sorted({mode for mode, *_ in cells})
    top = min(place[0] for _, place, *_ in cells)
    left = min(place[1] for _, place, *_ in cells)
    cells = [(mode, (row - top, column - left), color, worker, in_conflict)
             for mode, (row, column), color, worker, in_conflict in cells]
    rows = 1 + max(place[0] for _, place, *_ in cells)
    columns = 1 + max(place[1] for _, place, *_ in cells)
    num_colors = 1 + max(color for _, _, color, *_ in cells)
    palette = [NODE_COLORS[color % len(NODE_COLORS)] for color in range(num_colors)]

    per_line = min(len(modes), 3)
    num_lines = math.ceil(len(modes) / per_line)
    with plt.rc_context(STYLE):
        size = 3.9
        figure, axes = plt.subplots(num_lines, per_line, squeeze=False,
                                    figsize=(size * per_line, (size * rows / columns + 0.35) * num_lines + 0.5))
        panels = list(axes.flat)
        for panel, mode in zip(panels, modes):
            here = [cell for cell in cells if cell[0] == mode]
            image: list[list[float]] = [[math.nan] * columns for _ in range(rows)]
            for _, (row, column), color, *_ in here:
                image[row][column] = color
            panel.imshow(image, cmap=ListedColormap(palette), vmin=-0.5, vmax=num_colors - 0.5, interpolation="nearest")
            panel.add_collection(LineCollection(_borders(here), colors="black", linewidths=1.6))
            marked = [place for _, place, _, _, in_conflict in here if in_conflict]
            panel.scatter([c for _, c in marked], [r for r, _ in marked], s=_dot_size(size, columns), c="#D00000",
                          marker="o", linewidths=0)
            name = names[mode].replace("_", " ")
            panel.set_title(f"mode {mode}, {name}: {len(marked)} nodes in conflict", fontsize=10)
            panel.grid(False)
            panel.set_xticks([])
            panel.set_yticks([])
            for spine in panel.spines.values():
                spine.set_visible(True)
        for panel in panels[len(modes):]:
            panel.axis("off")
        handles = [Patch(facecolor=color, edgecolor="#888888", label=f"colour {index}") for index, color in enumerate(palette)]
        handles.append(Line2D([], [], color="black", linewidth=1.6, label="border between workers"))
        handles.append(Line2D([], [], color="#D00000", marker="o", linestyle="", markersize=5, label="node in conflict"))
        below = -0.01
        if len(panels) > len(modes):
            panels[-1].legend(handles=handles, loc="center", frameon=False, fontsize=11)
        else:
            figure.legend(handles=handles, loc="upper center", ncol=len(handles), frameon=False, bbox_to_anchor=(0.5, 0))
            below -= 0.35 / figure.get_figheight()
        num_nodes = sum(cell[0] == modes[0] for cell in cells)
        if len(modes) > 1:
            words = "Red dots are what is left to solve. More of them along the black borders than elsewhere mean that messages matter there."
            figure.text(0.5, below, words, ha="center", va="top", fontsize=10, color="#444444")
        figure.suptitle(f"{graph} ({num_nodes} nodes) coloured on {workers} workers (processes x threads)", fontsize=13)
        figure.tight_layout()
        save(figure, path)


def _dot_size(inches: float, columns: int) -> float:
    """Marker area, in points squared, of a dot that fills 60 % of a cell's width."""
    return (0.6 * 72 * inches * 0.92 / columns) ** 2
