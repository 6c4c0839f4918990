"""What digital_evolution records: censuses over time, pictures of its world, and quality of service by layer."""

from __future__ import annotations

import dataclasses
import math
import pathlib
from collections.abc import Iterator
from typing import Any

import numpy
import pandas

from netuit import InputError, files
from netuit.loading import load

LAYERS = ("Spawn", "Transfer", "Talk", "Environment", "Kinship")  #: of messages, in order of their numbers
ONE_RESOURCE = 2**20  #: units of a stockpile in frames.csv that are 1.0
CLASSES = (
    "arithmetic control regulation sensing kinship sharing messaging reproduction apoptosis".split()
)  #: of instructions

_MEANS = ("mean_kin_size", "mean_genome_length", "mean_generation")  # over cells
_OF_WORKERS = ("process", "thread", "elapsed_s", "updates", *_MEANS, "max_generation")
_RUN = ("mode", "mode_name", "replicate", "seed")


def run_folder(record: pathlib.Path, mode: int = 0, replicate: int = 0) -> pathlib.Path:
    """Where --record puts what one run leaves: dominant.genome, lineage.csv, phylogeny.csv, kin_groups.csv, instructions.csv,
    frames.csv."""
    return record / f"mode{mode}-replicate{replicate}"


def read_history(record: pathlib.Path) -> pandas.DataFrame:
    """evolution.csv with a row a run and time: counts are sums over workers, means are over cells, updates and elapsed_s
    means over workers. Kin groups and genomes that span workers count on each. Raises InputError."""
    table = _read(record / "evolution.csv", ("elapsed_s", "updates", "cells", "births_kin", *_MEANS))
    runs = [_over_workers(run) for _, run in table.groupby(["mode", "replicate"], sort=True)]
    if not runs:
        raise InputError(f"{record / 'evolution.csv'}: no rows")
    return pandas.concat(runs, ignore_index=True)


def _read(path: pathlib.Path, columns: tuple[str, ...]) -> pandas.DataFrame:
    try:
        with files.open_text(files.present(path)) as file:
            table = pandas.read_csv(file, dtype={"cells": str} if path.name.startswith("frames.csv") else None)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {str(error).splitlines()[0]}") from None
    missing = sorted(set(columns) - set(table.columns))
    if missing:
        raise InputError(f"{path}:1: no column {', '.join(missing)}")
    return table


def _over_workers(rows: pandas.DataFrame) -> pandas.DataFrame:
    """One run's rows, put together at the times of its first worker; of each worker its nearest row."""
    workers = [part.sort_values("elapsed_s") for _, part in rows.groupby(["process", "thread"], sort=True)]
    times = workers[0][["elapsed_s"]].drop_duplicates()
    parts = []
    for worker in workers:
        seen = worker.assign(at=worker["elapsed_s"])
        parts.append(pandas.merge_asof(times, seen.drop(columns="elapsed_s"), left_on="elapsed_s", right_on="at", direction="nearest"))
    whole = pandas.DataFrame({name: parts[0][name] for name in _RUN})
    cells = sum(part["cells"] for part in parts)
    for name in ("elapsed_s", "updates"):
        whole[name] = sum(part["at" if name == "elapsed_s" else name] for part in parts) / len(parts)
    for name in _MEANS:
        whole[name] = sum(part[name].fillna(0) * part["cells"] for part in parts) / cells
    whole["max_generation"] = numpy.max([part["max_generation"] for part in parts], axis=0)
    for name in rows.columns:
        if name not in (*_RUN, *_OF_WORKERS):
            whole[name] = sum(part[name] for part in parts)
    whole = whole.drop_duplicates("updates").reset_index(drop=True)
    spans = whole["elapsed_s"].diff()
    # The last row is of the end, which comes soon after a sample: too short a span for rates.
    return whole.iloc[:-1] if len(whole) > 3 and spans.iloc[-1] < spans.median() / 2 else whole


def rates(history: pandas.DataFrame) -> pandas.DataFrame:
    """What one run's counts grow by, for each cell and update between two rows: a row less than the history, at
    the `updates` in the middle; `births`, `harvested`, `shared` and so on are those that `per_cell` names."""
    grown = history.select_dtypes("number").diff().iloc[1:]
    cells = (history["cells"] + history["cells"].shift()).iloc[1:] / 2
    spans = grown["updates"] * cells
    table = pandas.DataFrame({"updates": history["updates"].iloc[1:] - grown["updates"] / 2})
    for name, column in _grown_columns(grown).items():
        table[name] = column / spans
    return table.reset_index(drop=True)


def _grown_columns(grown: pandas.DataFrame) -> dict[str, Any]:
    columns = {
        "births": grown["births_kin"] + grown["births_new"],
        "births_kin": grown["births_kin"],
        "harvested": grown["resource_harvested"],
        "shared": grown["transferred_kin"] + grown["transferred_strangers"],
        "shared_kin": grown["transferred_kin"],
        "shares": grown["transfers_kin"] + grown["transfers_strangers"],
        "packets": grown["packets_sent"],
        "heeded": grown["packets_heeded"],
        "received": grown["packets_received"],
        "apoptoses": grown["deaths_apoptosis"],
    }
    return columns | {f"use_{name}": grown[f"use_{name}"] for name in CLASSES}


def outcomes(history: pandas.DataFrame, part: str = "last", share: float = 0.1) -> dict[str, float]:
    """How one run's world does in its first or last part, a tenth of its updates by default: rates for each 1000 updates
    and cell, parts of births and of what is shared that stay in the kin group, and means over the part's rows. Rows come by
    the clock, so the part reaches to the next row beyond."""
    updates = history["updates"]
    first, last = updates.iloc[0], updates.iloc[-1]
    if last == first:
        raise InputError("a run with a single row: expected a longer one, or a shorter --sample-interval")
    span = share * (last - first)
    if part == "first":
        rows = history[updates <= updates[updates >= first + span].iloc[0]]
    else:
        rows = history[updates >= updates[updates <= last - span].iloc[-1]]
    ends = rates(rows.iloc[[0, -1]].reset_index(drop=True)).iloc[0]
    return {
        "births": 1000 * float(ends["births"]),
        "harvested": 1000 * float(ends["harvested"]),
        "shared": 1000 * float(ends["shared"]),
        "packets": 1000 * float(ends["packets"]),
        "births_within_kin": _part(ends["births_kin"], ends["births"]),
        "shared_to_kin": _part(ends["shared_kin"], ends["shared"]),
        "packets_heeded": _part(ends["heeded"], ends["received"]),
        "generation": float(rows["mean_generation"].mean()),
        "genome_length": float(rows["mean_genome_length"].mean()),
        "kin_size": float(rows["mean_kin_size"].mean()),
        "cells": float((rows["cells"] / rows["places"]).mean()),
    }


def _part(some: Any, all_: Any) -> float:
    return float(some) / float(all_) if all_ > 0 else math.nan


def kin_sizes(folder: pathlib.Path) -> dict[str, float]:
    """Of a run's kin groups at its end: their number, the cells of the `largest`, the mean `size` of the group that a cell
    is in, and the mean of what cells estimate that to be. NaN where nothing lives. Raises InputError."""
    groups = _read(folder / "kin_groups.csv", ("cells", "mean_estimate"))
    cells = groups["cells"]
    return {
        "groups": float(len(groups)),
        "largest": float(cells.max()),
        "size": _part((cells * cells).sum(), cells.sum()),
        "estimate": _part((cells * groups["mean_estimate"]).sum(), cells.sum()),
    }


def instruction_shares(folder: pathlib.Path) -> pandas.Series:
    """The share of each instruction in all that a world has executed since it began, by its name, the commonest first; NaN
    where nothing was. Raises InputError."""
    executed = _read(folder / "instructions.csv", ("instruction", "executed")).set_index("instruction")["executed"]
    return (executed / executed.sum()).sort_values(ascending=False, kind="stable")


def read_quality(path: pathlib.Path) -> pandas.DataFrame:
    """Quality of service of a run with a row a layer, by its name: of all its messages between workers the
    `failure_rate`; medians over workers and snapshots of `simstep_latency_updates`, `wall_latency_s` and `clumpiness`;
    and `is_bound`, whether latencies are but lower bounds, since in half of the snapshots or more no round trip ended.
    What a layer that sent nothing does not have is missing. Raises InputError."""
    rows = load(path)
    rows = rows[rows["scope"].astype(str) == "worker"]
    lines = {}
    for layer, part in rows.groupby("layer", sort=True):
        sent = part[part["attempted"] > 0]
        medians = sent[["simstep_latency_updates", "wall_latency_s", "clumpiness"]].median()
        lines[LAYERS[layer] if layer < len(LAYERS) else f"layer {layer}"] = {
            "failure_rate": _part(sent["dropped"].sum(), sent["attempted"].sum()),
            **medians,
            "is_bound": bool((sent["touches"] == 0).mean() >= 0.5),
        }
    return pandas.DataFrame.from_dict(lines, orient="index")


@dataclasses.dataclass(frozen=True)
class Frame:
    """A picture of the world, arrays of rows x columns: labels of kin groups and genomes, 0 where a place is empty, and
    stockpiles in units of one resource."""

    elapsed_s: float
    kin: Any
    genome: Any
    stockpile: Any


def read_frames(path: pathlib.Path) -> Iterator[Frame]:
    """The pictures in frames.csv, in order of time. Raises InputError."""
    table = _read(path, ("elapsed_s", "width", "property", "cells"))
    for elapsed, rows in table.groupby("elapsed_s", sort=True):
        images = {row.property: _image(str(row.cells), int(row.width), path) for row in rows.itertuples()}
        if set(images) != {"kin", "genome", "stockpile"}:
            raise InputError(f"{path}: at {elapsed} s: expected kin, genome and stockpile")
        stockpile = images["stockpile"].astype(float) / ONE_RESOURCE
        yield Frame(float(elapsed), images["kin"], images["genome"], stockpile)


def _image(digits: str, width: int, path: pathlib.Path) -> Any:
    try:
        values = numpy.frombuffer(bytes.fromhex(digits), dtype=">u4").astype(numpy.uint32)
        return values.reshape(-1, width)
    except ValueError as error:
        raise InputError(f"{path}: cells: {error}") from None
