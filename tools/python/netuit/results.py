"""Rows of programs: reading, writing, and what follows from them."""

from __future__ import annotations

import csv
import dataclasses
import math
import os
import pathlib
from collections.abc import Container, Mapping, Sequence
from typing import Any

from netuit import InputError, files

DEMO = "demo.json"  #: how tools/demo was called, beside its rows

Row = dict[str, Any]

_INTEGERS = (
    "nodes edges processes threads mode replicate seed process thread num_nodes updates barriers attempted accepted "
    "dropped muted stepped skipped preempted folded unread in_flight balanced oversubscribed"
).split()
_OF_COLOURING = ("conflicts", "conflict_edges_total", "nodes_in_conflict")
_OF_EVOLUTION = ("cells", "cells_of_rival", "births")  # that tell its rows from those of colouring
_REALS = ("period_s", "elapsed_s", "updates_per_second")
_OPTIONAL = ("effective_updates", "staleness_p50", "staleness_p99", "staleness_max", "slack")  # reals; may be empty or missing
_TEXTS = ("graph", "mode_name", "placement", "addressing", "stopped_by", "mpi_library", "compiler", "version")


def read_rows(path: str | os.PathLike[str]) -> list[Row]:
    """The rows of a CSV file, or of a compressed one (.csv.gz), as dicts with numbers in them. Raises InputError as
    `file:line: reason`."""
    path = files.present(pathlib.Path(path))
    try:
        with files.open_text(path) as file:
            reader = csv.DictReader(file, strict=True)
            try:
                return [_convert(row, path, reader.line_num) for row in _checked(reader, path)]
            except (csv.Error, UnicodeDecodeError) as error:
                raise InputError(f"{path}:{reader.line_num}: {error}") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def _checked(reader: csv.DictReader[str], path: str | os.PathLike[str]) -> csv.DictReader[str]:
    present = set(reader.fieldnames or ())
    missing = {*_INTEGERS, *_REALS, *_TEXTS, *_own_columns(present)} - present
    if missing:
        raise InputError(f"{path}:1: no column {', '.join(sorted(missing))}")
    return reader


def _own_columns(present: Container[str]) -> Sequence[str]:
    return _OF_EVOLUTION if "cells_of_rival" in present else _OF_COLOURING


def _convert(row: Row, path: str | os.PathLike[str], line: int) -> Row:
    if None in row or None in row.values():
        raise InputError(f"{path}:{line}: expected {len([key for key in row if key])} fields")
    kinds: tuple[tuple[Sequence[str], Any], ...] = ((_INTEGERS, int), (_own_columns(row), int), (_REALS, float))
    for columns, kind in kinds:
        for column in columns:
            try:
                row[column] = kind(row[column])
            except ValueError:
                raise InputError(f"{path}:{line}: {column} {row[column]!r} is not a number") from None
    for column in _OPTIONAL:
        row[column] = _optional(row, column, path, line)
    return row


def _optional(row: Row, column: str, path: str | os.PathLike[str], line: int) -> float | None:
    try:
        return float(row[column]) if row.get(column) else None
    except ValueError:
        raise InputError(f"{path}:{line}: {column} {row[column]!r} is not a number") from None


def write_rows(path: str | os.PathLike[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Replaces `path` by the rows in one step. Raises OutputError."""
    columns = list(rows[0]) if rows else []
    with files.replacing(pathlib.Path(path)) as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


@dataclasses.dataclass
class Summary:
    """One layout and mode on one graph, over its workers and replicates."""

    graph: str
    processes: int
    threads: int
    mode: int
    mode_name: str
    oversubscribed: bool
    rate: float  #: updates of nodes per second, of all workers together; mean over replicates
    rates: list[float]  #: the same of each replicate
    ratio: float | None  #: rate over mode 0's on the same graph and layout; None without a mode 0
    conflicts: float  #: adjacent pairs of one colour, mean over replicates
    conflict_counts: list[int]  #: the same of each replicate
    edges: int  #: adjacent pairs
    failure: float | None  #: 1 - accepted / attempted over channels that leave their thread; None without attempts
    skip: float | None  #: (skipped + preempted) / accepted: overtaken by a newer message before they were read; likewise
    effective: float | None  #: effective updates of a run over the mean of its workers' updates, mean over replicates; None if unknown
    oldest: float | None  #: age of the oldest value that was read, in updates; None if no worker read any of another
    is_accounted: bool  #: both equations hold with nothing in flight

    @property
    def workers(self) -> str:
        return f"{self.processes}x{self.threads}"


def is_accounted(rows: Sequence[Row]) -> bool:
    """Whether the rows of one run account for each message.

    attempted = accepted + dropped in every row; over all, accepted = stepped + skipped + preempted + folded +
    unread and nothing is in flight. The program must have found the same.
    """
    total = {column: sum(row[column] for row in rows) for column in _INTEGERS}
    arrived = sum(total[column] for column in ("stepped", "skipped", "preempted", "folded", "unread"))
    return (
        all(row["attempted"] == row["accepted"] + row["dropped"] for row in rows)
        and total["accepted"] == arrived
        and all(row["balanced"] == 1 for row in rows)
        and total["in_flight"] == 0
    )


def summarize(rows: Sequence[Row]) -> list[Summary]:
    """Summaries in the order in which their first rows appear."""
    groups: dict[Any, dict[Any, list[Row]]] = {}
    for row in rows:
        key = (row["graph"], row["processes"], row["threads"], row["mode"])
        groups.setdefault(key, {}).setdefault(row["replicate"], []).append(row)
    summaries = [_summarize(key, list(runs.values())) for key, runs in groups.items()]
    base = {(s.graph, s.workers): s.rate for s in summaries if s.mode == 0}
    for summary in summaries:
        rate = base.get((summary.graph, summary.workers), 0)
        summary.ratio = summary.rate / rate if rate > 0 else None
    return summaries


def _summarize(key: Any, runs: Sequence[Sequence[Row]]) -> Summary:
    graph, processes, threads, mode = key
    rows = [row for run in runs for row in run]
    attempted = sum(row["attempted"] for row in rows)
    accepted = sum(row["accepted"] for row in rows)
    overtaken = sum(row["skipped"] + row["preempted"] for row in rows)
    rates = [sum(row["updates_per_second"] * row["num_nodes"] for row in run) for run in runs]
    conflicts = [run[0]["conflicts"] for run in runs]
    return Summary(
        graph=graph,
        processes=processes,
        threads=threads,
        mode=mode,
        mode_name=rows[0]["mode_name"],
        oversubscribed=any(row["oversubscribed"] for row in rows),
        rate=sum(rates) / len(rates),
        rates=rates,
        ratio=None,
        conflicts=sum(conflicts) / len(conflicts),
        conflict_counts=conflicts,
        edges=rows[0]["conflict_edges_total"],
        failure=1 - accepted / attempted if attempted else None,
        skip=overtaken / accepted if accepted else None,
        effective=effective_share(runs),
        oldest=max((row["staleness_max"] for row in rows if row.get("staleness_max") is not None), default=None),
        is_accounted=all(is_accounted(run) for run in runs),
    )


def effective_share(runs: Sequence[Sequence[Row]]) -> float | None:
    """Effective updates of a run over the mean of its workers' updates, mean over runs; None if a worker does not tell."""
    shares: list[float] = []
    for run in runs:
        rows = [row for row in run if row["num_nodes"] > 0]
        counts = [float(row["effective_updates"]) for row in rows if not _is_missing(row.get("effective_updates"))]
        updates = sum(int(row["updates"]) for row in rows)
        if len(counts) < len(rows) or updates == 0:
            return None
        shares.append(min(counts) * len(rows) / updates)
    return sum(shares) / len(shares)


def _is_missing(value: float | None) -> bool:
    return value is None or math.isnan(value)  # pandas has it as NaN


def _percent(value: float | None) -> str:
    if value is None:
        return "-"
    return "0 %" if value == 0 else f"{100 * value:.1f} %" if value >= 0.0005 else "<0.1 %"


def format_table(summaries: Sequence[Summary]) -> list[str]:
    """The demo's table as lines."""
    heading = ("graph", "workers", "mode", "node updates/s", "x mode 0", "conflicts", "refused", "skipped", "effective", "oldest", "accounting")
    cells = []
    for s in summaries:
        cells.append(
            (
                s.graph,
                s.workers + (" *" if s.oversubscribed else "  "),
                f"{s.mode} {s.mode_name}",
                f"{s.rate / 1e6:,.2f} M",
                "-" if s.ratio is None else f"{s.ratio:.2f}",
                f"{s.conflicts:.4g}",
                _percent(s.failure),
                _percent(s.skip),
                _percent(s.effective),
                "-" if s.oldest is None else f"{s.oldest:,.0f}",
                "exact" if s.is_accounted else "WRONG",
            )
        )
    widths = [max(len(row[column]) for row in [heading, *cells]) for column in range(len(heading))]
    is_text = (True, True, True, False, False, False, False, False, False, False, True)

    def line(row: Sequence[str]) -> str:
        words = [word.ljust(width) if text else word.rjust(width) for word, width, text in zip(row, widths, is_text)]
        return "  ".join(words).rstrip()

    lines = [line(heading)]
    lines.append("-" * max(len(line(row)) for row in [heading, *cells]))
    before = None
    for summary, row in zip(summaries, cells):
        layout = (summary.graph, summary.workers)
        if before is not None and layout != before:
            lines.append("")
        before = layout
        lines.append(line(row))
    return lines
