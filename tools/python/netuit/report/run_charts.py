"""The report's charts of rates, conflicts, generations, and messages refused and skipped, each a <figure> with its numbers in a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas

from netuit import units
from netuit.race import SOLVED, race_of
from netuit.report import svg
from netuit.report.inputs import Inputs, is_evolution
from netuit.report.takes import case_name

MOST_PANELS = 6

Bars = dict[tuple[str, str], tuple[float, list[float]]]  #: (group, series) -> height, single values


def mode_class(mode: object) -> str:
    return f"m{int(float(str(mode)))}"


def mode_names(table: pandas.DataFrame) -> dict[int, str]:
    """Mode -> `3 no barrier`, in order."""
    names = dict(zip(table["mode"].astype(int), table["mode_name"].astype(str)))
    return {mode: f"{mode} {names[mode].replace('_', ' ')}" for mode in sorted(names)}


def key_of(names: dict[int, str]) -> str:
    return svg.legend([(mode_class(mode), name) for mode, name in names.items()])


def grouped_bars(
    label: str,
    groups: Sequence[str],
    series: Sequence[str],
    bars: Bars,
    x_label: str,
    y_label: str,
    text: Callable[[float], str] = units.short,
) -> str:
    """A bar for each series (a class of the style sheet) in each group, with its single values as dots."""
    canvas = svg.Canvas(label)
    scale = svg.upwards([value for height, dots in bars.values() for value in (height, *dots)], text)
    canvas.y_axis(scale, y_label)
    step = (svg.WIDTH - svg.LEFT - svg.RIGHT) / len(groups)
    width = min(34.0, 0.84 * step / len(series))
    for column, group in enumerate(groups):
        middle = svg.LEFT + (column + 0.5) * step
        canvas.text(middle, svg.HEIGHT - svg.BOTTOM + 17, group)
        for index, one in enumerate(series):
            if (group, one) not in bars:
                continue
            height, dots = bars[group, one]
            x = middle + (index - (len(series) - 1) / 2) * width
            y = scale(height)
            canvas.add(
                "rect", text(height), x=x - 0.44 * width, y=y, width=0.88 * width, height=scale.begin - y, class_=one
            )
            for number, value in enumerate(dots if 1 < len(dots) <= 64 else []):
                aside = ((number * 0.618) % 1 - 0.5) * 0.55 * width
                canvas.add("circle", text(value), cx=x + aside, cy=scale(value), r=1.8, class_="dot")
    canvas.baseline(x_label)
    return canvas.render()


def _short_graph(graph: str) -> str:
    return graph.rsplit("/", 1)[-1]


def _layouts(rows: pandas.DataFrame) -> dict[str, dict[str, pandas.DataFrame]]:
    """Graph and case -> layout -> rows, in the order of the file. A star marks more workers than CPUs."""
    found: dict[str, dict[str, pandas.DataFrame]] = {}
    keys = ["graph", *(["case"] if "case" in rows.columns else []), "processes", "threads"]
    for values, table in rows.groupby(keys, sort=False):
        assert isinstance(values, tuple)
        name = ", ".join([_short_graph(str(values[0])), *map(str, values[1:-2])])
        star = "*" if table["oversubscribed"].astype(bool).any() else ""
        found.setdefault(name, {})[f"{values[-2]}x{values[-1]}{star}"] = table
    return found


def least_and_most(values: Mapping[str, float], text: Callable[[float], str] = units.short, of: str = "") -> str:
    """What one sees of values by the name of their mode, as the beginning of a caption, after what they are `of`; empty for a single
    mode."""
    if len(values) < 2:
        return ""
    low, high = min(values, key=lambda name: values[name]), max(values, key=lambda name: values[name])
    words = f"least in mode {low}: {text(values[low])}; most in mode {high}: {text(values[high])}. "
    if values[low] == values[high]:
        words = f"all modes are alike: {text(values[low])}. "
    return f"{of}: {words}" if of else f"{words[0].upper()}{words[1:]}"


def _num_workers(layout: str) -> int:
    processes, threads = layout.rstrip("*").split("x")
    return int(processes) * int(threads)


def _by_layout(
    rows: pandas.DataFrame, title: str, y_label: str, caption: str, column: str, keys: list[str], notes: list[str]
) -> list[str]:
    """Means of a column by layout and mode, a dot for each group of `keys`; a figure for each graph and case, or a note of those whose
    values are all 0."""
    figures = []
    names = mode_names(rows)
    for case, layouts in _layouts(rows).items():
        if not any(table[column].any() for table in layouts.values()):
            notes.append(f"{title}, {case}: none in any run.")
            continue
        bars: Bars = {}
        for layout, table in layouts.items():
            for mode, part in table.groupby("mode"):
                single = part.groupby(keys)[column].mean()
                bars[layout, mode_class(mode)] = float(single.mean()), single.tolist()
        note = " * more workers than CPUs: they take turns." if any(layout.endswith("*") for layout in layouts) else ""
        shown = {mode: name for mode, name in names.items() if any(one == mode_class(mode) for _, one in bars)}
        label = {mode_class(mode): name for mode, name in shown.items()}
        drawing = grouped_bars(title, list(layouts), list(label), bars, "workers (processes x threads)", y_label)
        numbers = svg.table(
            ["workers", "mode", "mean", "least", "greatest", "values"],
            [
                [layout, label[one], f"{mean:.6g}", f"{min(dots):.6g}", f"{max(dots):.6g}", len(dots)]
                for (layout, one), (mean, dots) in bars.items()
            ],
        )
        seen = max(layouts, key=lambda layout: (not layout.endswith("*"), _num_workers(layout)))
        means = {label[one]: mean for (layout, one), (mean, _) in bars.items() if layout == seen}
        apart = least_and_most(means, of=f"{seen.rstrip('*')} workers" if len(layouts) > 1 else "")
        figures.append(svg.figure(f"{title}: {case}", drawing, apart + caption + note, key_of(shown), numbers))
    return figures


def rates(rows: pandas.DataFrame, notes: list[str]) -> list[str]:
    """Of digital evolution, updates of each worker, whose part of the world does not depend on their number. Else updates of nodes
    of all workers together, since a worker's part shrinks with their number; of each worker only where rows do not tell its nodes."""
    if is_evolution(rows) or "num_nodes" not in rows:
        return _by_layout(
            rows,
            "Rate",
            "updates per second and worker",
            "Means; a dot for each worker.",
            "updates_per_second",
            ["process", "thread"],
            notes,
        )
    per_node = rows.assign(node_rate=rows["updates_per_second"] * rows["num_nodes"])
    keys = ["graph", *(["case"] if "case" in rows.columns else []), "processes", "threads", "mode", "mode_name", "replicate"]
    totals = per_node.groupby(keys, sort=False, as_index=False).agg(node_rate=("node_rate", "sum"), oversubscribed=("oversubscribed", "max"))
    return _by_layout(
        totals,
        "Rate",
        "node updates per second",
        "How much all workers do together. Means; a dot for each replicate.",
        "node_rate",
        ["replicate"],
        notes,
    )


def conflicts_left(rows: pandas.DataFrame, notes: list[str]) -> list[str]:
    """A note takes the place of a figure in which each run would have none."""
    if not (rows["conflict_edges_total"] > 0).any():
        return []
    return _by_layout(
        rows,
        "Conflicts left",
        "adjacent pairs of one colour",
        "At the end; means, a dot for each replicate.",
        "conflicts",
        ["replicate"],
        notes,
    )


def generations(rows: pandas.DataFrame, notes: list[str]) -> list[str]:
    """Of digital evolution, births since a founder, for each 1000 updates."""
    return _by_layout(
        rows.assign(generations=1000 * rows["mean_generation"] / rows["updates"]),
        "Generations",
        "generations per 1000 updates",
        "At the end, means over cells; means, a dot for each replicate.",
        "generations",
        ["replicate"],
        notes,
    )


def conflicts_over_time(inputs: Inputs, notes: list[str]) -> list[str]:
    """A figure for each launch that left frames, or a note if they have no conflict."""
    figures = []
    for launch in [launch for launch in inputs.launches if launch.frames is not None][:MOST_PANELS]:
        frames = launch.frames
        assert frames is not None
        if not frames["conflicts"].any():
            notes.append("Conflicts over time: none in any frame of a run.")
            continue
        rows = launch.rows if launch.rows is not None else inputs.whole.rows
        known = {} if rows is None else mode_names(rows)
        names = {int(mode): known.get(int(mode), f"mode {mode}") for mode in sorted(frames["mode"].unique())}
        late = frames[frames["elapsed_s"] > 0]
        falls = late[late["conflicts"] <= frames["conflicts"].max() / 4]["elapsed_s"]
        is_early = not falls.empty and float(falls.min()) < 0.04 * float(frames["elapsed_s"].max())
        x = svg.across(late["elapsed_s"] if is_early else frames["elapsed_s"], units.seconds, is_log=is_early)
        y = svg.upwards((late if is_early else frames)["conflicts"], is_log=True)
        canvas = svg.Canvas("Conflicts over time")
        canvas.y_axis(y, "adjacent pairs of one colour")
        canvas.x_axis(x, "since the run's beginning")
        cells = []
        for (mode, replicate), run in (late if is_early else frames).groupby(["mode", "replicate"]):
            points = list(zip(run["elapsed_s"], run["conflicts"]))
            canvas.path(
                [(x(time), y(count)) for time, count in points],
                f"line {mode_class(mode)}",
                f"{names[int(mode)]}, replicate {replicate:g}",
            )
            cells += [[names[int(mode)], f"{replicate:g}", units.seconds(time), f"{count:g}"] for time, count in points]
        last = frames[frames["elapsed_s"] == frames.groupby(["mode", "replicate"])["elapsed_s"].transform("max")]
        means = {names[int(mode)]: float(count) for mode, count in last.groupby("mode")["conflicts"].mean().items()}
        caption = least_and_most(means, of="Left at the end")
        caption += "A line for each replicate. Both axes are logarithmic." if is_early else "A line for each replicate; a logarithmic axis."
        title = "Conflicts over time" + (
            "" if rows is None else f": {_short_graph(rows['graph'].iloc[0])}, {case_name(rows)}"
        )
        if rows is not None and (race := race_of(title, rows, frames)) is not None:
            verdict = race.verdict()
            caption += f" {verdict[0].upper()}{verdict[1:]}; a solution has at most {units.percent(SOLVED)} of the pairs in conflict."
        figures.append(
            svg.figure(
                title,
                canvas.render(),
                caption,
                key_of(names),
                svg.table(["mode", "replicate", "time", "conflicts"], cells),
            )
        )
    return figures


def most_lost(refused: Mapping[str, float], skipped: Mapping[str, float], kind: str) -> str:
    """What one sees of refused and skipped messages, by what each kind is called, as the beginning of a caption."""
    words = []
    often = "most often " if len(skipped) > 1 else ""
    for what, shares in (("skipped", skipped), ("refused", refused)):
        most = max(shares, key=lambda name: shares[name])
        words.append(f"{what} {often}in {kind}{most}: {units.percent(shares[most])}" if shares[most] else f"none is {what}")
    text = "; ".join(words)
    return f"{text[0].upper()}{text[1:]}. "


def losses(rows: pandas.DataFrame | None, quality: pandas.DataFrame | None, notes: list[str]) -> list[str]:
    """What was refused and what was skipped, by mode: of each transport if the quality of service was taken. A note takes the place of
    a figure in which all is 0."""
    parts: list[tuple[str, pandas.DataFrame]] = []
    if quality is not None:
        workers = quality[quality["scope"] == "worker"]
        parts = [(f": {str(transport).replace('_', ' ')}", table) for transport, table in workers.groupby("transport")]
    if not parts and rows is not None:
        table = rows.assign(received=rows["accepted"], skipped=rows["skipped"] + rows["preempted"])
        parts = [("", table)]
    figures = []
    for suffix, table in parts:
        sums = table.groupby("mode")[["attempted", "accepted", "received", "skipped"]].sum()
        sums = sums[(sums["attempted"] > 0) | (sums["received"] > 0)]
        if sums.empty:
            continue
        bars: Bars = {}
        cells = []
        names = mode_names(table)
        for mode, total in sums.iterrows():
            failure = 1 - total["accepted"] / total["attempted"] if total["attempted"] else 0.0
            skip = total["skipped"] / total["received"] if total["received"] else 0.0
            group = names[int(float(str(mode)))]
            bars[group.split(" ")[0], "s0"] = float(failure), []
            bars[group.split(" ")[0], "s1"] = float(skip), []
            cells.append(
                [
                    group,
                    units.percent(failure),
                    units.percent(skip),
                    f"{total['attempted']:.0f}",
                    f"{total['received']:.0f}",
                ]
            )
        if not any(share for share, _ in bars.values()):
            notes.append(f"Refused and skipped{suffix}: no message in any run.")
            continue
        groups = list(dict.fromkeys(group for group, _ in bars))
        seen = most_lost({group: bars[group.split(" ")[0], "s0"][0] for group, *_ in cells},
                         {group: bars[group.split(" ")[0], "s1"][0] for group, *_ in cells}, "mode ")  # fmt: skip
        drawing = grouped_bars(
            "Refused and skipped" + suffix, groups, ["s0", "s1"], bars, "mode", "part of the messages", units.percent
        )
        caption = seen + (
            "Refused: no room when they were put; the sender knows. Skipped: a newer message had come before they were read, which is "
            "what a reader of the newest state wants. No message is lost unseen."
        )
        key = svg.legend([("s0", "refused, of those attempted"), ("s1", "skipped, of those received")])
        numbers = svg.table(["mode", "refused", "skipped", "attempted", "received"], cells)
        figures.append(svg.figure("Refused and skipped" + suffix, drawing, caption, key, numbers))
    return figures
