"""What follows from whole experiments, in numbers: ratios, regressions, and the data of the notebooks in binder/."""

from __future__ import annotations

import pathlib
import warnings
from collections.abc import Mapping
from typing import Any

import numpy
import pandas

from netuit import InputError, files, load
from netuit.intervals import bootstrap_interval, deviation_ratio_interval, ratio_interval

SILENT_MODE = 4  #: in which no message leaves its thread, so that there is no service

QUALITY_METRICS = {  #: columns of quality rows and what to call them
    "simstep_period_s": "simstep period, s",
    "simstep_latency_updates": "simstep latency, updates",
    "wall_latency_s": "wall-time latency, s",
    "failure_rate": "delivery failure rate",
    "clumpiness": "delivery clumpiness",
    "skip_rate": "skip rate",
}


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


def relative_rates(rows: pandas.DataFrame) -> pandas.DataFrame:
    """by_run(rows) with `relative`, the rate over the mean of a single worker's in that mode, and `num_workers`."""
    runs = by_run(rows)
    runs["num_workers"] = runs["processes"] * runs["threads"]
    alone = runs[runs["num_workers"] == 1].groupby("mode")["rate"].mean()
    return runs.assign(relative=runs["rate"] / runs["mode"].map(alone))


def conflicts_spread(runs: pandas.DataFrame) -> pandas.DataFrame:
    """Of runs of a layout, as by_run gives them: by mode 1 and 2, the standard deviation over replicates of the conflicts
    left, how many times that of mode 3 it is, with bootstrapped 95 % intervals, and the replicates of both. No row for a
    mode of fewer than two replicates."""
    lines = []
    base = runs.loc[runs["mode"] == 3, "conflicts"]
    for mode in (1, 2):
        ours = runs.loc[runs["mode"] == mode, "conflicts"]
        if min(len(ours), len(base)) > 1:
            lines.append([mode, ours.std(), *deviation_ratio_interval(ours, base), len(ours), len(base)])
    columns = ["mode", "deviation", "to mode 3", "low", "high", "replicates", "of mode 3"]
    return pandas.DataFrame(lines, columns=columns).set_index("mode")


def against_mode_0(rows: pandas.DataFrame, mode: int = 3) -> pandas.DataFrame:
    """By layout: a mode's rate over that of mode 0, and, of colouring, the conflicts left, each with bootstrapped 95 %
    intervals."""
    lines = []
    columns = ["workers", "rate ratio", "low", "high", "conflicts ratio", "conflicts low", "conflicts high"]
    for (processes, threads), runs in by_run(rows).groupby(["processes", "threads"]):
        ours, base = (runs[runs["mode"] == number] for number in (mode, 0))
        if len(ours) and len(base):
            rate = ratio_interval(ours["rate"], base["rate"])
            line = [f"{processes}x{threads}", *rate]
            if "conflicts" in runs:
                some = base["conflicts"].mean()
                line += ratio_interval(ours["conflicts"], base["conflicts"]) if some else (numpy.nan,) * 3
            lines.append(line)
    return pandas.DataFrame(lines, columns=columns[: len(lines[0])] if lines else columns)


def snapshots(quality: pandas.DataFrame) -> pandas.DataFrame:
    """Rows of single workers and snapshots. Where nothing was sent, there is no latency either."""
    rows = quality[(quality["scope"].astype(str) == "worker") & quality["snapshot"].notna()]
    latencies = [column for column in ("simstep_latency_updates", "wall_latency_s") if column in rows]
    return rows.assign(**{column: rows[column].where(rows["failure_rate"].notna()) for column in latencies})


def by_process_pair(quality: pandas.DataFrame) -> pandas.DataFrame:
    """Quality of service between processes: for each snapshot, layer and pair of a process and another, by transport, the
    counts of their pairs of workers added up, and the metrics that follow from the sums as in netuit.schema.
    `num_pairs` is how many pairs of workers there were."""
    rows = quality[(quality["scope"].astype(str) == "pair") & (quality["process"] != quality["peer_process"])]
    keys = ("case", "processes", "threads", "mode", "mode_name", "replicate", "snapshot", "layer", "transport", "process", "peer_process")
    counts = ("updates", "channels_out", "channels_in", "attempted", "accepted", "dropped", "preempted", "received", "stepped",
              "skipped", "folded", "pulls", "laden", "touches")  # fmt: skip
    rows = rows.assign(seconds=rows["end_s"] - rows["begin_s"])
    grouped = rows.groupby([key for key in keys if key in rows], observed=True, sort=True)
    table = grouped.agg(**{name: (name, "sum") for name in (*counts, "seconds") if name in rows}, num_pairs=("process", "size"))
    table["simstep_period_s"] = table["seconds"] / table["updates"].where(table["updates"] > 0)
    has_way_back = (table["channels_in"] > 0) & (table["attempted"] > 0)
    table["simstep_latency_updates"] = (table["updates"] / table["touches"].clip(lower=1)).where(has_way_back)
    table["wall_latency_s"] = table["simstep_latency_updates"] * table["simstep_period_s"]
    table["failure_rate"] = table["dropped"] / table["attempted"].where(table["attempted"] > 0)
    looks = table[["received", "pulls"]].min(axis=1)
    table["clumpiness"] = (1 - table["laden"] / looks.where(looks > 0)).clip(lower=0)
    sent = table["received"] + table["preempted"]
    table["skip_rate"] = (table["skipped"] + table["preempted"]) / sent.where(sent > 0)
    return table.drop(columns="seconds").reset_index()


def latency_agreement(quality: pandas.DataFrame) -> pandas.DataFrame:
    """By case, layout and mode, in updates: medians over workers and snapshots of the simstep latency, which is by touches,
    and of the mean age by stamps over the simstep period, and how many times the first the second is. Only where messages
    carried stamps, which wants one clock; where none did, a line that says so, and a table without rows."""
    if "age_mean_s" not in quality or quality["age_mean_s"].isna().all():
        print("No stamps: no message tells its age, so latencies have nothing to be set beside")
        quality = quality.assign(age_mean_s=numpy.nan)
    rows = snapshots(quality).dropna(subset=["simstep_latency_updates", "age_mean_s"])
    keys = [key for key in ("case", "processes", "threads", "transport", "mode") if key in rows]
    rows = rows.assign(by_stamps=rows["age_mean_s"] / rows["simstep_period_s"])
    table = rows.groupby(keys, observed=True)[["simstep_latency_updates", "by_stamps"]].median()
    table.columns = ["by touches, updates", "by stamps, updates"]
    return table.assign(ratio=table.iloc[:, 1] / table.iloc[:, 0])


#: What real and simulated processes are compared by: columns of rows, and of rows of quality of service.
CALIBRATED = ("rate", "conflicts", "simstep_latency_updates", "wall_latency_s", "age_p50_s", "transit_p50_s", "clumpiness", "skip_rate")


def medians(rows: pandas.DataFrame, quality: pandas.DataFrame, layout: str = "2x1") -> pandas.DataFrame:
    """A row a mode of one layout, a column each of CALIBRATED: medians over runs of those of by_run, over workers and
    snapshots of quality of service. What was never measured is missing."""
    runs = by_run(rows)
    service = snapshots(quality)
    workers = service["processes"].astype(str) + "x" + service["threads"].astype(str)
    tables = (runs[runs["workers"] == layout], service[workers == layout])
    parts = [table.groupby("mode")[[name for name in CALIBRATED if name in table]].median() for table in tables]
    return pandas.concat(parts, axis=1).reindex(columns=list(CALIBRATED)).sort_index()


def set_beside(real: pandas.DataFrame, simulated: pandas.DataFrame) -> pandas.DataFrame:
    """What medians() gives of both, beside each other: a row a quantity and mode that both have, with `ratio`, how many
    times the real one the simulated is."""
    table = pandas.DataFrame({"real": real.unstack(), "simulated": simulated.unstack()}).dropna()
    table.index.names = ["quantity", "mode"]
    table = table.reindex([name for name in CALIBRATED if name in table.index.levels[0]], level="quantity")
    return table.assign(ratio=(table["simulated"] / table["real"]).where(table["real"] != 0))


def by_replicate(quality: pandas.DataFrame, metric: str) -> pandas.DataFrame:
    """One row a launch, mode and replicate: `mean` and `median` of a metric over its workers and snapshots, beside
    `log2_processes`, `log2_threads` and `log2_workers`."""
    rows = snapshots(quality).dropna(subset=[metric])
    keys = [key for key in ("case", "processes", "threads", "mode", "replicate") if key in rows]
    frame = rows.groupby(keys, as_index=False, observed=True)[metric].agg(["mean", "median"])
    frame["log2_processes"] = numpy.log2(frame["processes"])
    frame["log2_threads"] = numpy.log2(frame["threads"])
    frame["log2_workers"] = frame["log2_processes"] + frame["log2_threads"]
    return frame


def paired_differences(
    faulty: pandas.DataFrame, healthy: pandas.DataFrame, metrics: Mapping[str, str] | None = None
) -> pandas.DataFrame:
    """What a faulty host changes, each replicate beside the healthy one of the same number, layout and mode. A row for
    each metric's mean and median over workers and snapshots: that of the healthy, and the difference to it, both means
    over replicates, with the bootstrapped 95 % interval `low` … `high` of the difference. Raises InputError."""
    metrics = QUALITY_METRICS if metrics is None else metrics
    keys = ["processes", "threads", "mode", "replicate"]
    lines: list[list[Any]] = []
    for metric, label in metrics.items():
        if metric not in faulty or metric not in healthy:
            continue
        one, other = (by_replicate(table, metric) for table in (faulty, healthy))
        pairs = one.merge(other, on=keys, suffixes=("_faulty", "_healthy"))
        for statistic in ("mean", "median") if len(pairs) else ():
            base = pairs[f"{statistic}_healthy"]
            differences = pairs[f"{statistic}_faulty"] - base
            interval = bootstrap_interval(differences)
            lines.append([label, statistic, base.mean(), differences.mean(), *interval, len(pairs)])
    if not lines:
        raise InputError("no replicate with a faulty host has a healthy partner")
    columns = ["metric", "statistic", "healthy", "difference", "low", "high", "replicates"]
    return pandas.DataFrame(lines, columns=columns).set_index(["metric", "statistic"])


def regress(
    quality: pandas.DataFrame, on: str = "log2_workers", metrics: Mapping[str, str] | None = None
) -> pandas.DataFrame:
    """Each metric on the logarithm of the number of workers, as in the follow-up study: ordinary least squares on the
    means of replicates, quantile regression on their medians.

    One row a metric and statistic: `slope` for each doubling with its 95 % interval `low` … `high`, `p`, `intercept`
    and `n`. Where a metric is the same throughout, the slope is 0 and p is missing.
    """
    metrics = QUALITY_METRICS if metrics is None else metrics
    lines = []
    for metric, label in metrics.items():
        table = by_replicate(quality, metric)
        if len(table) < 4 or table[on].nunique() < 2:
            continue
        for statistic in ("mean", "median"):
            lines.append([label, statistic, *_fit(table[on], table[statistic], statistic), len(table)])
    if not lines:
        raise InputError(f"too few replicates for a regression on {on}")
    return pandas.DataFrame(lines, columns=["metric", "statistic", "slope", "low", "high", "p", "intercept", "n"])


def _fit(x: Any, y: Any, statistic: str) -> tuple[float, float, float, float, float]:
    """(slope, low, high, p, intercept)."""
    import statsmodels.api  # which takes long to load

    if y.nunique() == 1:
        return 0.0, 0.0, 0.0, numpy.nan, float(y.iloc[0])
    scale = float(y.abs().median()) or float(y.abs().max())  # the solver wants numbers of about one
    explained, explaining = y / scale, statsmodels.api.add_constant(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of iterations: the intervals tell how good a fit is
        if statistic == "mean":
            fit = statsmodels.api.OLS(explained, explaining).fit()
        else:
            fit = statsmodels.api.QuantReg(explained, explaining).fit(q=0.5)
        low, high = fit.conf_int().iloc[1] * scale
    slope = fit.params.iloc[1] * scale
    return float(slope), float(low), float(high), float(fit.pvalues.iloc[1]), float(fit.params.iloc[0] * scale)


def data(sweep: str, file: str = "rows.csv", folder: str = "data") -> pandas.DataFrame | None:
    """Results of a sweep beside a notebook; None, and a line that says so, where they were not measured."""
    path = files.present(pathlib.Path(folder) / sweep / file)
    if not path.exists():
        tool = "tools/evidence" if sweep == "evidence" else f"tools/experiment {sweep}"
        print(f"Not drawn: no {path}. It comes from: {tool}; tools/figures --take its results")
        return None
    return load(path)


def _completed(table: pandas.DataFrame) -> pandas.DataFrame:
    """Results of simulated hosts with the columns that those of processes have."""
    if "hosts" not in table or "network" not in table:
        return table
    is_faulty = table["faulty_host"].notna() if "faulty_host" in table else pandas.Series(False, index=table.index)
    case = table["network"].astype(str) + is_faulty.map({True: ", faulty host", False: ""})
    facts = {"graph": "torus", "threads": 1, "thread": 0, "oversubscribed": False, "scope": "worker", "snapshot": 0}
    absent = {column: value for column, value in facts.items() if column not in table}
    return table.assign(case=case, processes=table["hosts"], **absent)


def simulated(folder: str = "data/simulated", kind: str = "rows") -> dict[str, pandas.DataFrame]:
    """Results of simulated clusters, rows or quality, by the name of what holds them in the folder: a file, or a folder
    of any depth, whose rows are put together. A file of several cases or networks is taken apart by them."""
    found: dict[str, list[pandas.DataFrame]] = {}
    paths = [path for pattern in ("*.csv", "*.csv.gz") for path in pathlib.Path(folder).rglob(pattern)]
    for path in sorted({files.present(path.with_name(path.name.removesuffix(".gz"))) for path in paths}):
        table = load(path)
        if table.attrs["table"] != kind:
            continue
        table = _completed(table)
        place = path.relative_to(folder)
        parts = table.groupby("case", observed=True, sort=False) if "case" in table else [(place.parts[0], table)]
        for name, part in parts:
            found.setdefault(str(name).removesuffix(".gz").removesuffix(".csv"), []).append(part)
    if not found:
        print(f"Not drawn: no {kind} in {folder}. They come from: tools/experiment simulated; tools/figures --take")
    return {name: pandas.concat(parts, ignore_index=True) for name, parts in found.items()}


def means_and_medians(quality: pandas.DataFrame, metrics: Mapping[str, str] | None = None) -> pandas.DataFrame:
    """Each metric's mean and median over workers and snapshots: a row a mode and number of processes, if known."""
    metrics = QUALITY_METRICS if metrics is None else metrics
    rows = snapshots(quality)
    keys = [key for key in ("processes", "mode") if key in rows]
    present = {column: label for column, label in metrics.items() if column in rows}
    return rows.groupby(keys)[list(present)].agg(["mean", "median"]).rename(columns=present)
