"""How long an update of a model in NumPy takes, as a multiple of the same in C++: the rows `numpy: …` of tools/bench.

Standard library only.
"""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from netuit import InputError, bench_compile

SIDE = 1000  #: of the torus, in nodes
AT_MOST = 2.0  #: times the C++ program


@dataclasses.dataclass(frozen=True)
class Entry:
    """A layout, on which both programs run."""

    processes: int
    side: int = SIDE
    updates: int = 20

    @property
    def figure(self) -> str:
        """The name of its row."""
        on = "1 process" if self.processes == 1 else f"{self.processes} processes"
        return f"numpy: time of heat on {self.side**2:,} nodes, {on}, to the same in C++"


ENTRIES = (Entry(1), Entry(2))


def run(command: Sequence[str], variables: dict[str, str]) -> str:
    """What a program prints. Raises InputError if it fails."""
    try:
        done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False, timeout=900)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(str(error)) from None
    if done.returncode:
        told = done.stderr.strip().splitlines()
        raise InputError(f"{' '.join(command)}: {told[-1] if told else f'ended with code {done.returncode}'}")
    return done.stdout


def variables_of(checkout: Path, variables: dict[str, str]) -> dict[str, str]:
    """Those with which Python finds the package."""
    return variables | {"PYTHONPATH": str(checkout / "tools" / "python")}


def prepare(checkout: Path, variables: dict[str, str]) -> None:
    """Builds the extension module, if it is missing or old. Raises InputError if that fails."""
    python = variables.get("UIT_PYTHON", sys.executable)
    run([python, "-c", "from netuit import native; native.load()"], variables_of(checkout, variables))


def measured(command: Sequence[str], variables: dict[str, str]) -> tuple[float, str]:
    """The seconds of an update and the sum of all squares of heat, as a program prints them. Raises InputError."""
    told = run(command, variables)
    try:
        seconds, heat = told.split()
        return float(seconds), heat
    except ValueError:
        raise InputError(f"{' '.join(command)}: printed '{told.strip()}', not a time and a sum") from None


def measure(
    checkout: Path, program: str, launcher: str, wanted: Sequence[Entry], rounds: int, variables: dict[str, str]
) -> list[dict[str, Any]]:
    """A row of tools/bench for each entry: both programs run in turn, once each in a round. Raises InputError."""
    python = variables.get("UIT_PYTHON", sys.executable)
    variables = variables_of(checkout, variables)
    rows = []
    for entry in wanted:
        start = [launcher, "-n", str(entry.processes)] if entry.processes > 1 else []
        numbers = [str(entry.side), str(entry.updates)]
        ours = [*start, python, str(checkout / "microbenchmarks" / "python" / "heat_rate.py"), *numbers]
        theirs = [*start, program, *numbers]
        pairs = []
        for _ in range(rounds):
            (numpy, heat), (native, same_heat) = measured(ours, variables), measured(theirs, variables)
            if heat != same_heat:
                raise InputError(f"{entry.figure}: the sums of squares differ: {heat} and {same_heat}")
            pairs.append((numpy, native))
        ratios = sorted(numpy / native for numpy, native in pairs)
        detail = " and ".join(f"{entry.side**2 / min(times):.3g}" for times in zip(*pairs)) + f" nodes per second, {rounds} rounds"
        rows.append(bench_compile.budget_row(entry.figure, ratios, AT_MOST, detail))
    return rows
