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


def seconds_of(command: Sequence[str], variables: dict[str, str]) -> float:
    """What a program prints. Raises InputError if it fails."""
    done = subprocess.run(command, env=variables, capture_output=True, text=True, check=False)
    try:
        return float(done.stdout)
    except ValueError:
        told = done.stderr.strip().splitlines()
        raise InputError(f"{' '.join(command)}: {told[-1] if told else f'ended with code {done.returncode}'}") from None


def measure(
    checkout: Path, program: str, launcher: str, wanted: Sequence[Entry], rounds: int, variables: dict[str, str]
) -> list[dict[str, Any]]:
    """A row of tools/bench for each entry: both programs run in turn, once each in a round. Raises InputError."""
    python = variables.get("UIT_PYTHON", sys.executable)
    variables = variables | {"PYTHONPATH": str(checkout / "tools" / "python")}
    rows = []
    for entry in wanted:
        start = [launcher, "-n", str(entry.processes)] if entry.processes > 1 else []
        numbers = [str(entry.side), str(entry.updates)]
        ours = [*start, python, str(checkout / "microbenchmarks" / "python" / "heat_rate.py"), *numbers]
        theirs = [*start, program, *numbers]
        pairs = [(seconds_of(ours, variables), seconds_of(theirs, variables)) for _ in range(rounds)]
        ratios = sorted(numpy / native for numpy, native in pairs)
        detail = " and ".join(f"{entry.side**2 / min(times):.3g}" for times in zip(*pairs)) + f" nodes per second, {rounds} rounds"
        rows.append(bench_compile.budget_row(entry.figure, ratios, AT_MOST, detail))
    return rows
