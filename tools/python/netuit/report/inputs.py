"""Finds and reads what a report is made of: files are told apart by what is in them, not by their names."""

from __future__ import annotations

import dataclasses
import math
import pathlib
from collections.abc import Iterable
from typing import Any

import pandas

from netuit import InputError, files, load, results

_OF_ROWS = (
    "graph", "edges", "processes", "threads", "mode", "mode_name", "replicate", "process", "thread",
    "updates_per_second", "attempted", "accepted", "skipped", "preempted", "balanced", "oversubscribed",
)  # fmt: skip
#: A kind of file -> the columns without which there is nothing to draw.
NEEDED = {
    "rows": (*_OF_ROWS, "conflicts", "conflict_edges_total"),
    "quality": (
        "mode", "mode_name", "replicate", "snapshot", "scope", "transport", "process", "thread", "peer_process",
        "peer_thread", "attempted", "accepted", "received", "skipped", "touches", "simstep_period_s", "wall_latency_s",
        "age_mean_s", "age_p50_s", "age_p90_s", "age_p99_s", "age_max_s",
    ),
    "frames": ("mode", "replicate", "elapsed_s", "colors", "conflicts"),
    "colors": ("mode", "replicate", "node", "label", "color", "process", "thread"),
    "hosts": ("hostname",),
}  # fmt: skip
_OF_EVOLUTION = (*_OF_ROWS, "updates", "mean_generation")  # instead, of rows of digital_evolution


@dataclasses.dataclass
class Launch:
    """The files of one launch of a program, or of a sweep as a whole. What is absent is None."""

    folder: pathlib.Path
    rows: pandas.DataFrame | None = None
    quality: pandas.DataFrame | None = None
    frames: pandas.DataFrame | None = None
    colors: pandas.DataFrame | None = None
    hosts: pandas.DataFrame | None = None
    manifest: dict[str, Any] = dataclasses.field(default_factory=dict)
    demo: dict[str, Any] = dataclasses.field(default_factory=dict)  #: what tools/demo notes of itself, whose launches these are


@dataclasses.dataclass
class Inputs:
    """What the charts are drawn from, the launches whose convergence can be played, and the films of evolving worlds."""

    whole: Launch
    launches: list[Launch]
    films: list[pathlib.Path] = dataclasses.field(default_factory=list)


def read_inputs(paths: Iterable[pathlib.Path]) -> Inputs:
    """Reads files, and folders with their runs/*/ below. Raises InputError with one line."""
    parts: list[Launch] = []
    runs: list[Launch] = []
    named: list[pathlib.Path] = []
    films: list[pathlib.Path] = []
    for path in paths:
        if path.is_dir():
            films += sorted(path.glob("mode*-replicate*/frames.csv"))
            parts.append(_read_launch(path, _results_in(path), is_named=False))
            below = sorted(folder for folder in (path / "runs").glob("*") if folder.is_dir() and not folder.suffix)
            if parts[-1].rows is not None and "sweep" in parts[-1].manifest:  # which has gathered all else of its launches
                below = below[:1] + [folder for folder in below[1:] if _has_colors(folder)]
            runs += [_read_launch(folder, _results_in(folder), is_named=False) for folder in below]
        elif path.exists():
            named.append(path)
        else:
            raise InputError(f"{path}: No such file or directory")
    if named:
        parts.append(_read_launch(named[0].parent, named, is_named=True))
    whole = parts[0]
    for part in parts[1:]:
        _merge(whole, part)
    _gather(whole, runs)
    playable = [one for one in [whole, *runs] if one.frames is not None or one.colors is not None]
    if whole.rows is None and whole.quality is None and not playable and not films:
        raise InputError(f"{whole.folder}: no results of a program in it")
    return Inputs(whole, playable, films)


def is_evolution(rows: pandas.DataFrame | None) -> bool:
    """Whether rows are of digital_evolution, which has generations in place of conflicts."""
    return rows is not None and "mean_generation" in rows.columns


def _results_in(folder: pathlib.Path) -> list[pathlib.Path]:
    names = {path.name.removesuffix(".gz") for path in folder.iterdir() if path.is_file() and path.name.endswith((".csv", ".csv.gz", ".json"))}
    return sorted(files.present(folder / name) for name in names)


def _has_colors(folder: pathlib.Path) -> bool:
    """Whether a launch left colours, by the headings of its tables."""
    for path in folder.glob("*.csv"):
        with open(path, encoding="utf-8", errors="replace") as file:
            if {"color", "colors"} & set(file.readline().strip().split(",")):
                return True
    return False


def _read_launch(folder: pathlib.Path, paths: list[pathlib.Path], is_named: bool) -> Launch:
    launch = Launch(folder)
    for path in paths:
        one = Launch(folder)
        if path.suffix == ".json":
            value = files.read_json(path)
            if path.name != results.DEMO or "program" in value:  # a program's manifest, of rows in demo.csv
                one.manifest = value
            elif isinstance(value.get("command_line"), list):
                one.demo = value
            else:
                raise InputError(f"{path}:1: no list command_line")
        else:
            kind, table = _read_table(path, is_named)
            if kind:
                setattr(one, kind, table)
        _merge(launch, one)
    return launch


def _read_table(path: pathlib.Path, is_named: bool) -> tuple[str, pandas.DataFrame]:
    """A table and its kind, which is empty for a file that is none of ours and was only found in a folder."""
    try:
        table = load(path)
    except InputError as error:
        if not is_named and "these are no columns" in str(error):
            return "", pandas.DataFrame()
        raise
    kind, needed = str(table.attrs["table"]), NEEDED.get(str(table.attrs["table"]), ())
    if kind == "evolution_rows":
        kind, needed = "rows", _OF_EVOLUTION
    if kind not in NEEDED:
        if is_named:
            raise InputError(f"{path}: {kind}, which this page has no charts for; tools/evidence draws them")
        return "", pandas.DataFrame()
    missing = [column for column in needed if column not in table.columns]
    if missing:
        raise InputError(f"{path}:1: no column {', '.join(missing)}")
    if table.empty:
        if kind == "rows":
            raise InputError(f"{path}: no rows")
        return "", table  # a worker alone has no quality of service
    _check_numbers(path, table, needed, kind)
    words = table.select_dtypes("category").columns
    return kind, table.astype(dict.fromkeys(words, "str"))  # groups of categories would have empty ones


def _check_numbers(path: pathlib.Path, table: pandas.DataFrame, needed: tuple[str, ...], kind: str) -> None:
    """Infinite numbers cannot be drawn; a metric may be undefined, and nothing else."""
    for column in table.select_dtypes("float").columns:
        is_wrong = table[column].isin([math.inf, -math.inf])
        if kind != "quality" and column in needed:
            is_wrong |= table[column].isna()
        if is_wrong.any():
            line = int(is_wrong.to_numpy().argmax()) + 2
            raise InputError(f"{path}:{line}: {column} is not a finite number")


def _merge(first: Launch, second: Launch) -> None:
    """Adds what `second` has to `first`."""
    for kind in NEEDED:
        ours, theirs = getattr(first, kind), getattr(second, kind)
        if ours is None:
            setattr(first, kind, theirs)
        elif theirs is not None and kind in ("rows", "quality"):
            if kind == "rows" and is_evolution(ours) != is_evolution(theirs):
                raise InputError(f"{second.folder}: rows of another program than those before; name the results of one")
            setattr(first, kind, pandas.concat([ours, theirs], ignore_index=True))
        elif theirs is not None and kind != "hosts":
            raise InputError(f"{second.folder}: a second file of {kind}; name the files of one launch")
    first.demo = first.demo or second.demo
    if second.manifest and not ("program" in first.manifest or "sweep" in first.manifest):
        first.manifest = second.manifest


def _gather(whole: Launch, runs: list[Launch]) -> None:
    """Takes from the launches of a sweep what it has not gathered yet."""
    for kind in ("rows", "quality"):
        tables = [getattr(run, kind) for run in runs if getattr(run, kind) is not None]
        if getattr(whole, kind) is None and tables:
            setattr(whole, kind, pandas.concat(tables, ignore_index=True))
    for run in runs:
        whole.hosts = run.hosts if whole.hosts is None else whole.hosts
        whole.manifest = whole.manifest or run.manifest
