"""Charts of the quality of service, each a <figure> with its numbers in a table."""

from __future__ import annotations

import pandas

from netuit import units
from netuit.evolution_records import LAYERS
from netuit.report import svg
from netuit.report.run_charts import Bars, grouped_bars, key_of, least_and_most, mode_class, mode_names, most_lost

MOST_PAIRS = 18
QUANTILES = ("age_p50_s", "age_p90_s", "age_p99_s", "age_max_s")


Quantiles = list[float]

_CAPTION = "Dot and line: age of what was read, since it was sent: median, 90 %, 99 % and the greatest; medians over "


def is_sweep(quality: pandas.DataFrame) -> bool:
    """Whether these are snapshots of several cases or layouts."""
    keys = [key for key in ("case", "processes", "threads") if key in quality.columns]
    return bool(keys) and len(quality[keys].drop_duplicates()) > 1


def _mode_name(table: pandas.DataFrame) -> str:
    return f"mode {mode_names(table).popitem()[1]}"


def has_layers(quality: pandas.DataFrame) -> bool:
    """Whether these are snapshots of several layers of messages, which differ too much to be put together."""
    return "layer" in quality.columns and quality["layer"].nunique() > 1


def _layer_name(layer: int) -> str:
    return LAYERS[layer] if layer < len(LAYERS) else f"layer {layer}"


def by_layer(quality: pandas.DataFrame, notes: list[str]) -> list[str]:
    """What was refused and skipped, and ages of what was read, by layer; a figure of each for each case and layout. A note takes the
    place of a figure in which all is 0."""
    workers = quality[quality["scope"] == "worker"]
    keys = [key for key in ("case", "processes", "threads") if key in workers.columns]
    parts: list[tuple[str, pandas.DataFrame]] = [("", workers)]
    if is_sweep(workers):
        parts = [(f": {', '.join(map(str, values[:-2]))}, {values[-2]}x{values[-1]}", part)
                 for values, part in ((tuple(values), part) for values, part in workers.groupby(keys, sort=False))]  # fmt: skip
    return [figure for suffix, part in parts for figure in (*_losses_by_layer(part, suffix, notes), *_latency_by_layer(part, suffix))]


def _losses_by_layer(workers: pandas.DataFrame, suffix: str, notes: list[str]) -> list[str]:
    figures = []
    for _, table in workers.groupby("mode"):
        name = _mode_name(table)
        sums = table.groupby("layer")[["attempted", "accepted", "received", "skipped"]].sum()
        sums = sums[(sums["attempted"] > 0) | (sums["received"] > 0)]
        bars: Bars = {}
        for layer, total in sums.iterrows():
            group = _layer_name(int(str(layer)))
            bars[group, "s0"] = float(1 - total["accepted"] / total["attempted"]) if total["attempted"] else 0.0, []
            bars[group, "s1"] = float(total["skipped"] / total["received"]) if total["received"] else 0.0, []
        if not bars:
            continue
        groups = list(dict.fromkeys(group for group, _ in bars))
        title = f"Refused and skipped by layer, {name}{suffix}"
        if not any(share for share, _ in bars.values()):
            notes.append(f"{title}: no message in any run.")
            continue
        drawing = grouped_bars(title, groups, ["s0", "s1"], bars, "layer", "part of the messages", units.percent)
        key = svg.legend([("s0", "refused, of those attempted"), ("s1", "skipped, of those received")])
        numbers = svg.table(
            ["layer", "refused", "skipped", "attempted", "received"],
            [
                [group, *(units.percent(bars[group, one][0]) for one in ("s0", "s1")), f"{total['attempted']:.0f}", f"{total['received']:.0f}"]
                for group, (_, total) in zip(groups, sums.iterrows())
            ],
        )
        caption = most_lost({group: bars[group, "s0"][0] for group in groups}, {group: bars[group, "s1"][0] for group in groups}, "")
        caption += "Refused: no room when they were put. Skipped: a newer message had come before they were read."
        figures.append(svg.figure(title, drawing, caption, key, numbers))
    return figures


def _latency_by_layer(workers: pandas.DataFrame, suffix: str) -> list[str]:
    stamped = workers[workers["age_p50_s"].notna()]
    lines = []
    for (layer, mode), part in stamped.groupby(["layer", "mode"]):
        middle = [float(part[column].median()) for column in QUANTILES[:3]]
        lines.append((_layer_name(int(layer)), mode_class(mode), [*middle, float(part["age_max_s"].max())]))
    if not lines:
        return []
    names = mode_names(stamped)
    numbers = _quantile_table("layer", [(f"{name}, mode {class_[1:]}", row) for name, class_, row in lines])
    title = f"Latency by layer{suffix}"
    drawing, caption = _ranges(f"by layer{suffix}", lines, _ages(stamped)), _middle_age(stamped) + _CAPTION + "workers and snapshots."
    return [svg.figure(title, drawing, caption, key_of(names), numbers)]


def latency_by_layout(quality: pandas.DataFrame) -> list[str]:
    """Ages of what was read, by layout and mode of a sweep; a figure for each case."""
    stamped = quality[(quality["scope"] == "worker") & quality["age_p50_s"].notna()]
    figures = []
    for case, table in stamped.groupby("case", sort=False):
        lines = []
        for values, part in table.groupby(["processes", "threads", "mode"]):
            assert isinstance(values, tuple)
            middle = [float(part[column].median()) for column in QUANTILES[:3]]
            lines.append((f"{values[0]}x{values[1]}", mode_class(values[2]), [*middle, float(part["age_max_s"].max())]))
        x = _ages(table)
        names = mode_names(table)
        numbers = _quantile_table("workers", [(f"{name}, mode {class_[1:]}", row) for name, class_, row in lines])
        drawing = _ranges(str(case), lines, x)
        figures.append(
            svg.figure(f"Latency: {case}", drawing, _middle_age(table) + _CAPTION + "workers and snapshots.", key_of(names), numbers)
        )
    return figures


def _middle_age(stamped: pandas.DataFrame) -> str:
    """What one sees of ages by mode, as the beginning of a caption."""
    names = mode_names(stamped)
    medians = {names[int(mode)]: float(age) for mode, age in stamped.groupby("mode")["age_p50_s"].median().items()}
    return least_and_most(medians, units.seconds, "Median age over all")


def _ages(stamped: pandas.DataFrame) -> svg.Scale:
    x = svg.across(stamped[list(QUANTILES)].to_numpy().ravel(), units.seconds, is_log=True)
    x.begin = 84
    return x


def latency_by_pair(quality: pandas.DataFrame, notes: list[str]) -> list[str]:
    """Ages of what was read, by pair of workers and mode: a figure for all if they are few, else one for each mode."""
    scope = "pair" if (quality["scope"] == "pair").any() else "worker"
    stamped = quality[(quality["scope"] == scope) & quality["age_p50_s"].notna()]
    if stamped.empty:
        notes.append("No latency by pair: no message carried a stamp.")
        return []
    x = _ages(stamped)
    groups = [(_mode_name(table), mode_class(mode), _by_pair(table, scope)) for mode, table in stamped.groupby("mode")]
    if sum(len(pairs) for _, _, pairs in groups) <= MOST_PAIRS:
        lines = [(name, class_, row) for _, class_, pairs in groups for name, row in pairs]
        drawing = _ranges("of all modes", lines, x)
        numbers = _quantile_table(scope, [(f"{pair}, {name}", row) for name, _, pairs in groups for pair, row in pairs])
        key = key_of(mode_names(stamped))
        return [svg.figure(f"Latency by {scope}", drawing, _middle_age(stamped) + _CAPTION + "snapshots.", key, numbers)]
    figures = []
    for name, class_, pairs in groups:
        shown = pairs if len(pairs) <= MOST_PAIRS else pairs[:3] + pairs[3 - MOST_PAIRS :]
        more = f" The 3 quickest and the {MOST_PAIRS - 3} slowest of {len(pairs)}." if len(pairs) > len(shown) else ""
        drawing = _ranges(name, [(pair, class_, row) for pair, row in shown], x)
        seen = f"Medians lie between {units.seconds(pairs[0][1][0])} and {units.seconds(pairs[-1][1][0])}. "
        caption = seen + _CAPTION + "snapshots." + more
        figures.append(svg.figure(f"Latency, {name}", drawing, caption, "", _quantile_table(scope, pairs)))
    return figures


def _by_pair(table: pandas.DataFrame, scope: str) -> list[tuple[str, Quantiles]]:
    """The quantiles of each pair or worker over all snapshots, quickest first."""
    keys = ["process", "thread", *(["peer_process", "peer_thread"] if scope == "pair" else [])]
    medians = table.groupby(keys)[list(QUANTILES)].median()
    medians["age_max_s"] = table.groupby(keys)["age_max_s"].max()
    pairs = []
    for index, row in medians.sort_values("age_p50_s").iterrows():
        assert isinstance(index, tuple)
        reader, peer = (".".join(str(part).removesuffix(".0") for part in ends) for ends in (index[:2], index[2:]))
        pairs.append((f"{peer} → {reader}", [float(row[column]) for column in QUANTILES]))
    return pairs


def _quantile_table(scope: str, pairs: list[tuple[str, Quantiles]]) -> str:
    return svg.table(
        [scope, "median", "90 %", "99 %", "greatest"], [[name, *map(units.seconds, row)] for name, row in pairs]
    )


def _ranges(label: str, lines: list[tuple[str, str, Quantiles]], x: svg.Scale) -> str:
    """A line for each (name, class, quantiles)."""
    step = 22 if len(lines) <= 9 else 15
    canvas = svg.Canvas(f"Latency, {label}", svg.TOP + step * len(lines) + svg.BOTTOM, 84)
    canvas.x_axis(x, "age when read (logarithmic)", has_grid=True)
    for number, (name, class_, quantiles) in enumerate(lines):
        y = svg.TOP + (number + 0.5) * step
        p50, p90, p99, most = map(x, quantiles)
        words = f"{name}: " + ", ".join(map(units.seconds, quantiles))
        canvas.text(x.begin - 6, y + 4, name, "end")
        for end, thickness in ((most, "whisker"), (p99, "thick"), (p90, "thicker")):
            canvas.add("line", words, x1=p50, x2=end, y1=y, y2=y, class_=f"{thickness} {class_}")
        canvas.add("circle", words, cx=p50, cy=y, r=4.5, class_=f"ringed {class_}")
    return canvas.render()


def by_snapshot(quality: pandas.DataFrame) -> list[str]:
    """Period and latency along the run: the median worker of each mode, within the range of all."""
    workers = quality[(quality["scope"] == "worker") & quality["snapshot"].notna()]
    workers = workers.assign(snapshot=workers["snapshot"].astype(int))
    figures = []
    for column, title, label in (
        ("simstep_period_s", "Period", "time for an update"),
        ("wall_latency_s", "Latency by touches", "latency one way"),
    ):
        table = workers.dropna(subset=[column])
        if column == "wall_latency_s":
            table = table[table["received"] > 0]
        if table.empty:
            continue
        spread = table.groupby(["mode", "snapshot"])[column].agg(["min", "median", "max"]).reset_index()
        is_wide = spread["max"].max() > 20 * max(spread["min"].min(), 1e-12)
        y = svg.upwards([*spread["min"], *spread["max"]], units.seconds, is_log=bool(is_wide))
        x = svg.Scale(-0.3, float(spread["snapshot"].max()) + 0.3, svg.LEFT, svg.WIDTH - svg.RIGHT, text=_whole)
        canvas = svg.Canvas(title)
        canvas.y_axis(y, label)
        canvas.x_axis(x, "snapshot")
        names = mode_names(table)
        for index, (mode, line) in enumerate(spread.groupby("mode")):
            aside = (index - (len(names) - 1) / 2) * min(0.08, 0.6 / len(names))
            at = [x(snapshot + aside) for snapshot in line["snapshot"]]
            canvas.path(list(zip(at, map(y, line["median"]))), f"line {mode_class(mode)}")
            for place, low, middle, high in zip(at, line["min"], line["median"], line["max"]):
                words = f"{names[int(float(str(mode)))]}: {' to '.join(map(units.seconds, (low, middle, high)))}"
                canvas.add(
                    "line", words, x1=place, x2=place, y1=y(low), y2=y(high), class_=f"whisker {mode_class(mode)}"
                )
                canvas.add("circle", words, cx=place, cy=y(middle), r=3.5, class_=f"ringed {mode_class(mode)}")
        numbers = svg.table(
            ["mode", "snapshot", "least", "median", "greatest"],
            [
                [names[int(row["mode"])], f"{row['snapshot']:g}", *map(units.seconds, row[["min", "median", "max"]])]
                for _, row in spread.iterrows()
            ],
        )
        middle = table.groupby("mode")[column].median()
        medians = {names[int(mode)]: float(value) for mode, value in middle.items()}
        caption = least_and_most(medians, units.seconds, "Median over all snapshots")
        caption += "Line: the median over workers and replicates, with the range of all of them." + (" A logarithmic axis." if is_wide else "")
        figures.append(svg.figure(f"{title} by snapshot", canvas.render(), caption, key_of(names), numbers))
    return figures


def _whole(value: float) -> str:
    return f"{value:g}" if value >= 0 and value == int(value) else ""


def agreement(quality: pandas.DataFrame) -> list[str]:
    """Latency by touches against that by stamps: two measurements of one thing. Means, where both are known."""
    scope = "pair" if (quality["scope"] == "pair").any() else "worker"
    table = quality[(quality["scope"] == scope) & (quality["touches"] > 0)]  # where none is, latency is the snapshot's length
    table = table[(table["wall_latency_s"] > 0) & (table["age_mean_s"] > 0)]
    if len(table) < 2:
        return []
    both = [*table["wall_latency_s"], *table["age_mean_s"]]
    x, y = svg.across(both, units.seconds, is_log=True), svg.upwards(both, units.seconds, is_log=True)
    canvas = svg.Canvas("Latency by touches against latency by stamps")
    canvas.y_axis(y, "mean age by stamps")
    canvas.x_axis(x, "mean latency by touches", has_grid=True)
    canvas.path([(x(x.low), y(y.low)), (x(x.high), y(y.high))], "identity")
    names = mode_names(table)
    for _, row in table.head(2000).iterrows():
        cx, cy = x(row["wall_latency_s"]), y(row["age_mean_s"])
        canvas.add("circle", cx=cx, cy=cy, r=3, class_=f"ringed {mode_class(row['mode'])}")
    means = table.groupby("mode")[["wall_latency_s", "age_mean_s"]].mean()
    numbers = svg.table(
        ["mode", "mean by touches", "mean by stamps", "stamps / touches"],
        [
            [names[int(float(str(mode)))], units.seconds(touched), units.seconds(aged), f"{aged / touched:.3f}"]
            for mode, touched, aged in zip(means.index, means["wall_latency_s"], means["age_mean_s"])
        ],
    )
    ratios = (means["age_mean_s"] / means["wall_latency_s"]).to_dict()
    by_mode = {names[int(mode)]: float(ratio) for mode, ratio in ratios.items()}
    caption = least_and_most(by_mode, "{:.2f}".format, "Latency by stamps over that by touches") + (
        f"A dot for each {scope} and snapshot; on the line, the two ways to measure agree. Touches fill the time, and count "
        "what a worker waits for its CPU; ages are those of what is read, and nothing is read meanwhile: then, a dot lies "
        "below the line."
    )
    return [svg.figure("Two ways to measure latency", canvas.render(), caption, key_of(names), numbers)]
