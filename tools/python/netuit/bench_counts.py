"""Instructions and cache misses of competitors, counted by callgrind: the second table of tools/bench.

Other work on the machine does not change these counts. They are of one thread that does the work of both sides in turns, so they have
no waits and no cache lines that move between cores. Standard library only.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from netuit import ToolError

FUNCTION = "bench_counted"


@dataclasses.dataclass(frozen=True)
class Count:
    """What an operation of a competitor takes."""

    contest: str
    competitor: str
    operations: int  #: that were counted
    instructions: float  #: per operation
    misses: float  #: of the first-level data cache, per operation


def version() -> str:
    """The version of Valgrind, or "" if it is missing."""
    if shutil.which("valgrind") is None:
        return ""
    return subprocess.run(["valgrind", "--version"], capture_output=True, text=True, check=False).stdout.strip()


def measure(program: str | Path, wanted: str, variables: Mapping[str, str]) -> list[Count]:
    """Counts what a program without ranks can count, for the figures whose names contain `wanted`. Raises ToolError."""
    command = [str(program), "--count", "--filter", wanted]
    if not _output(command, variables):
        return []
    with tempfile.TemporaryDirectory() as folder:
        counted = ["valgrind", "--tool=callgrind", "--cache-sim=yes", f"--toggle-collect={FUNCTION}", f"--dump-after={FUNCTION}",
                   f"--callgrind-out-file={folder}/counts"]
        lines = _output([*counted, *command], variables)
        totals = [_totals(Path(folder, f"counts.{number}").read_text(encoding="utf-8")) for number in range(1, len(lines) + 1)]
    return list(_per_operation(lines, totals))


def rows(counts: list[Count]) -> str:
    """The counts as a table with tabs between its columns."""
    names = [field.name for field in dataclasses.fields(Count)]
    return "".join("\t".join(map(str, row)) + "\n" for row in [names, *map(dataclasses.astuple, counts)])


def table(counts: list[Count]) -> list[str]:
    """The counts as lines, those of a contest below its name."""
    rows = [("on one thread, per operation", "instructions", "cache misses")]
    contest = ""
    for count in counts:
        if count.contest != contest:
            rows.append((f"{count.contest}:", "", ""))
            contest = count.contest
        rows.append((f"  {count.competitor}", _digits(count.instructions), _digits(count.misses)))
    width = max(len(row[0]) for row in rows)
    return [f"{name.ljust(width)}  {instructions:>12}  {misses:>12}".rstrip() for name, instructions, misses in rows]


def _output(command: list[str], variables: Mapping[str, str]) -> list[list[str]]:
    done = subprocess.run(command, env=dict(variables), capture_output=True, text=True, check=False)
    if done.returncode:
        words = done.stderr.strip().splitlines()
        raise ToolError(f"{' '.join(command)} ended with code {done.returncode}: {words[-1] if words else ''}")
    return [line.split("\t") for line in done.stdout.splitlines()]


def _totals(text: str) -> dict[str, int]:
    """The totals of one dump of callgrind, by event."""
    events = re.search(r"^events: (.*)$", text, re.MULTILINE)
    totals = re.search(r"^totals: (.*)$", text, re.MULTILINE)
    if events is None or totals is None:
        raise ToolError("a dump of callgrind has no totals")
    values = [int(word) for word in totals[1].split()]
    names = events[1].split()
    return dict(zip(names, values + [0] * (len(names) - len(values))))


def _per_operation(lines: list[list[str]], totals: list[dict[str, int]]) -> Iterator[Count]:
    for (contest, competitor, words), total in zip(lines, totals):
        operations = int(words)
        misses = total["D1mr"] + total["D1mw"]
        yield Count(contest, competitor, operations, total["Ir"] / operations, misses / operations)


def _digits(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
