"""How long users' programs take to compile, as multiples of a yardstick: the rows `compile: …` of tools/bench.

Standard library only.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import platform
import re
import resource
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from netuit import InputError

BUDGETS = Path("microbenchmarks", "compile_budgets.json")
YARDSTICK = Path("microbenchmarks", "compile_yardstick.cpp")
CODE = re.compile(r"^```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclasses.dataclass(frozen=True)
class Entry:
    """Something that users compile."""

    name: str
    source: str
    options: tuple[str, ...]
    at_most: float  #: times the yardstick

    @property
    def figure(self) -> str:
        """The name of its row."""
        return f"compile: {self.name}, to a program of the standard library"


def entries(checkout: Path) -> list[Entry]:
    """What has a budget. Raises InputError."""
    path = checkout / BUDGETS
    try:
        return [_entry(checkout, item) for item in json.loads(path.read_text(encoding="utf-8"))["entries"]]
    except (AttributeError, KeyError, TypeError, ValueError, OSError, IndexError) as error:
        raise InputError(f"{path}: {error}") from None


def _entry(checkout: Path, item: dict[str, Any]) -> Entry:
    compiled = bool(item.get("compiled"))
    ending = ", with the compiled part" if compiled else ""
    defines = ("-DUIT_COMPILED=1",) if compiled else ()
    if "header" in item:
        header = str(item["header"])
        return Entry(f"<{header}>{ending}", f"#include <{header}>\n", ("-fsyntax-only", *defines), float(item["at_most"]))
    page = str(item["program"])
    text = (checkout / page).read_text(encoding="utf-8")
    number = item.get("number")
    name = page if number is None else f"program {number} of {page}"
    programs = [text] if number is None else [code for code in CODE.findall(text) if "int main(" in code]
    if number is not None and int(number) < 1:
        raise ValueError(f"{page} has no program {number}")
    source = programs[0 if number is None else int(number) - 1]
    return Entry(f"{name}{ending}", source, ("-O3", "-c", "-o", os.devnull, *defines), float(item["at_most"]))


def cpu_time(command: Sequence[str], variables: dict[str, str]) -> float:
    """The CPU time of a command in seconds. Raises InputError if it fails."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise InputError(f"{' '.join(command)}: {done.stderr.strip().splitlines()[0] if done.stderr.strip() else 'fails'}")
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def measure(checkout: Path, compiler: str, wanted: Sequence[Entry], rounds: int, variables: dict[str, str]) -> list[dict[str, Any]]:
    """A row of tools/bench for each entry. In each round, all and the yardstick are compiled once. Raises InputError."""
    common = [compiler, "-std=c++20", "-I", str(checkout / "include"), "-I", str(checkout)]
    times: dict[str, list[float]] = {entry.figure: [] for entry in wanted}
    ratios: dict[str, list[float]] = {entry.figure: [] for entry in wanted}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            yardsticks: dict[str, float] = {}
            for number, entry in enumerate(wanted):
                kind = entry.options[0]
                if kind not in yardsticks:
                    options = [option for option in entry.options if not option.startswith("-D")]
                    yardsticks[kind] = cpu_time([*common, *options, str(checkout / YARDSTICK)], variables)
                source = Path(folder, f"{number}.cpp")
                source.write_text(entry.source, encoding="utf-8")
                time = cpu_time([*common, *entry.options, str(source)], variables)
                times[entry.figure].append(time)
                ratios[entry.figure].append(time / yardsticks[kind])
    return [
        budget_row(entry.figure, sorted(ratios[entry.figure]), entry.at_most,
                   f"{statistics.median(times[entry.figure]):.2f} s of CPU time, {len(times[entry.figure])} rounds")
        for entry in wanted
    ]  # fmt: skip


def budget_row(figure: str, ratios: list[float], at_most: float, detail: str) -> dict[str, Any]:
    """A row whose ratios, in ascending order, are to be at most a budget."""
    ratio = statistics.median(ratios)
    return {
        "figure": figure, "value": f"{ratio:.2f}", "spread": f"{ratios[0]:.2f} … {ratios[-1]:.2f}",
        "target": f"<= {at_most:.2f}", "verdict": "ok" if ratio <= at_most else "short", "class": "-",
        "detail": detail, "least": ratios[0], "at_most": at_most,
    }  # fmt: skip


def record(rows: list[dict[str, Any]], compiler: str, wanted: str, is_quick: bool, commit: str, program: str = "compile") -> dict[str, Any]:
    """What tools/bench keeps of rows with a budget, in the form of the benchmark programs' results."""
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False).stdout.splitlines()
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "program": program, "date": now, "host": platform.node(), "cpu": platform.processor() or platform.machine(),
        "num_cpus": os.cpu_count(), "compiler": version[0] if version else compiler, "flags": "-O3", "mpi": "none", "commit": commit,
        "quick": is_quick, "filter": wanted, "rows": rows, "medians": [], "samples": [], "points": [],
    }  # fmt: skip
